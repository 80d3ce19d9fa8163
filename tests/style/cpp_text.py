"""Just enough of C++'s lexical structure for the style rules: text without comments and literals, the
literals themselves, and where functions begin and end. Line numbers are kept throughout."""

import bisect
import re

# One alternative per thing in which braces, quotes and keywords do not mean what they say.
_TOKEN = re.compile(
    r'(?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^ ()\\\t\n]{0,16})\((?P<body>.*?)\)(?P=mark)")'
    r'|(?P<line>//(?:\\\n|[^\n])*)'
    r'|(?P<block>/\*.*?\*/)'
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<char>(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')",
    re.DOTALL,
)


class CppText:
    """`code`: the text with comments blanked and literals emptied, line for line the same.
    `strings`: (line, content) of each string literal; adjacent literals are not joined.
    `comments`: (line, text) of each comment."""

    def __init__(self, text):
        self.strings = []
        self.comments = []
        self._starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self.code = _TOKEN.sub(self._blank, text)

    def line_of(self, offset):
        return bisect.bisect_right(self._starts, offset)

    def _blank(self, match):
        kind = match.lastgroup if match.lastgroup != "body" else "raw"
        line = self.line_of(match.start())
        text = match.group(0)
        # Length and newlines stay, so that offsets and lines of `code` are those of the text.
        blank = re.sub(r"[^\n]", " ", text)
        if match.group("raw") is not None:
            self.strings.append((line, match.group("body")))
            return '""' + blank[2:]
        if kind == "string":
            self.strings.append((line, text[1:-1]))
            return '"' + blank[1:-1] + '"'
        if kind == "char":
            return "'" + blank[1:-1] + "'"
        self.comments.append((line, text))
        return blank


_BRACES = re.compile(r"[{};]")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_TYPE = re.compile(r"\b(?:class|struct|union|enum)\b")
_NAMESPACE = re.compile(r"\b(?:namespace\b|extern\s*\"\s*\"\s*$)")


def functions(cpp):
    """(first line, last line, head) of the body of every function and of every lambda at namespace
    scope, from its opening to its closing brace. What is inside a function belongs to it."""
    code = _DIRECTIVE.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), cpp.code)
    found = []
    scopes = []  # "outer" (namespace or type), "function" or "braces"
    opened = []
    head_start = 0
    inside = 0  # how many enclosing scopes are not "outer"
    for match in _BRACES.finditer(code):
        at = match.start()
        if match.group() == ";":
            if not inside and _parens_balanced(code[head_start:at]):
                head_start = at + 1
        elif match.group() == "{":
            head = code[head_start:at]
            kind = "braces" if inside else _kind(head)
            scopes.append(kind)
            opened.append((at, head))
            if kind == "outer":
                head_start = at + 1
            else:
                inside += 1
        elif scopes:
            kind = scopes.pop()
            begin, head = opened.pop()
            if kind != "outer":
                inside -= 1
            # `: a_{a}, b_{b} {`: what looked like a body was an initialiser; the head goes on.
            follows = code[at + 1 :].lstrip()[:1] if not inside else ""
            if kind != "outer" and not inside and follows in (",", "{", ")"):
                continue
            if kind == "function":
                found.append((cpp.line_of(begin), cpp.line_of(at), " ".join(head.split())))
            if not inside:
                head_start = at + 1
    return found


def _kind(head):
    if _NAMESPACE.search(head):
        return "outer"
    flat = _without_groups(head)
    if flat is None:
        return "braces"
    is_call_like = ")" in head
    if "=" in re.sub(r"\boperator\s*[^\s\w]+", "", flat):
        return "function" if re.search(r"\[[^\[\]]*\]\s*\(?", flat.split("=", 1)[1]) else "braces"
    if _TYPE.search(flat) and not is_call_like:
        return "outer"
    if _TYPE.search(flat) and re.search(r"\b(?:class|struct|union|enum)\b[^()]*$", head):
        return "outer"  # alignas(8), attributes and templates may bring parentheses
    return "function" if is_call_like else "braces"


def _parens_balanced(text):
    return text.count("(") == text.count(")")


def _without_groups(text):
    """`text` without what stands in parentheses and template brackets; None when unbalanced."""
    if not _parens_balanced(text):
        return None
    previous = None
    while previous != text:
        previous = text
        text = re.sub(r"\([^()]*\)", "", text)
    text = re.sub(r"\boperator\s*(?:<=>|<<|>>|<=|>=|<|>|->)", "operator", text).replace("->", " ")
    previous = None
    while previous != text:
        previous = text
        text = re.sub(r"<[^<>]*>", "", text)
    return text
