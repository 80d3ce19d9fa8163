"""The rules of the house that a machine can judge, all of them. Each has a violating and a passing example in
selftest.py, which fails for a rule without them."""

import rules_code  # noqa: F401  (importing registers the rules)
import rules_includes  # noqa: F401
import rules_names  # noqa: F401
import rules_prose  # noqa: F401
import rules_text  # noqa: F401
from framework import RULES, Tree

__all__ = ["RULES", "Tree"]
