"""The table of operations in docs/reference/api.md, made from schema/openapi.

`api_operations.py --write` rewrites it; without it, the table is compared: the page has every operation of
the API.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "cmake"))
import openapi  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "api.md"
BEGIN, END = "<!-- operations: begin -->\n", "<!-- operations: end -->\n"


def needs(operation):
    """What a caller needs, in the words of docs/reference/roles.md."""
    permission = operation["x-ebb-permission"]
    if permission == "none":
        return "nothing"
    name = "a login" if permission == "any" else f"`{permission}`"
    # The reach of a login does not matter: every caller that is logged in may ask.
    is_everywhere = operation["x-ebb-reach"] == "server" and permission != "any"
    return name + (", everywhere" if is_everywhere else "")


def rows(document):
    sections = {tag["name"]: [] for tag in document["tags"]}
    for path, method, operation in openapi.operations(document):
        # It is not below /api/v1.
        if "servers" in document["paths"][path]:
            continue
        cells = [f"`{method.upper()} {path}`", operation["summary"], needs(operation)]
        sections[operation["tags"][0]].append("| " + " | ".join(cells) + " |")
    for tag in document["tags"]:
        if sections[tag["name"]]:
            yield f"| **{tag['description']}** | | |"
            yield from sections[tag["name"]]


def table():
    document = openapi.merge(ROOT / "schema" / "openapi")
    lines = ["| operation | what it does | needs |", "|---|---|---|", *rows(document)]
    return "\n".join(lines) + "\n"


def main(arguments):
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    wanted = before + BEGIN + table() + END + after
    if arguments == ["--write"]:
        PAGE.write_text(wanted)
    elif text != wanted:
        sys.exit("docs/reference/api.md does not show the operations of schema/openapi: "
                 "run tests/docs/api_operations.py --write")


main(sys.argv[1:])
