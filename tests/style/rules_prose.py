"""Plain English: phrases that docs, comments, messages and test names do not use (docs/style-guide.md)."""

import bisect
import os
import re

from framework import CPP, Finding, extension, rule

# (pattern, what to write instead). Matched in any case, over text whose white space is single spaces.
PHRASES = [
    # Words that name nothing: a reader must know whether a worker, a thread or a person is meant.
    (r"nobody|somebody|anybody|everybody", "name it: no worker, another process, any user, everyone"),
    (r"whoever|whomever", "name it: the worker that ..., the process that ..."),
    (r"(?:he|him|his|himself|she|her)", "it for a worker, thread or process; they for a person"),
    # Verbs.
    (r"told|tells of", "notify, report, show, say"),
    (r"shall", "must, will or may"),
    (r"(?:is|are) to be", "must be, or will be"),
    (r"(?:allow|permit|enable)s? to", "lets you ..., or can"),
    (r"bears|mends?|mended|heeds?", "tolerates; repairs or fixes; notes"),
    (r"puts? (?:it |them |what is wrong )?right", "fix, correct"),
    (r"belongs? into", "belongs in"),
    (r"goes on behind", "continues after"),
    (r"stands? (?:below|above)", "is below, is above"),
    # "is no duration": negate the verb.
    (
        r"(?<!there )(?:is|are) no (?!longer|more|less|better|worse|different|later|earlier|fewer)[a-z]+",
        "is not a ..., are not ...",
    ),
    (r"(?:answer|give|return|send)(?:s|ed)? no (?:JSON|YAML|UTF-8)", "... that is not JSON"),
    (r"(?:is|are|was|were|has|have|had) \w+ already|exists? already", "is already ..., has already ..."),
    # "where" for "if".
    # Old or rare words.
    (r"for ever", "forever, indefinitely"),
    (r"in vain", "without success"),
    (r"anew", "again"),
    (r"at all events", "in any case"),
    (r"wholly", "completely"),
    (r"oftener", "more often"),
    (r"thereof|therein|thereby|therefrom|whereof|whereupon|henceforth|hitherto", "use plain words"),
    (r"on no account", "must not, never"),
    (r"just so", "say how"),
    (r"in sum", "in total, together"),
    (r"(?:and|or) the like|(?:and|or) its kin", "such as ..., and so on"),
    (r"not there yet", "not available yet"),
    # Translated idioms.
    (r"another content|an other content", "different content"),
    (r"how (?:it|this|that|they) looks? like", "what it looks like"),
    (r"since (?:an?|one|two|three|\d+) (?:second|minute|hour|day|week|month|year)s?", "for a minute"),
    (r"the possibility to", "can"),
    (r"informations|advices|softwares", "the word has no plural"),
    (r"(?:what|all that) (?:becomes|became|comes|came) of", "what happens to, the outcome of"),
    (r"comes? to (?:its|an) end|c(?:omes?|ame) to nothing", "ends; fails, has no effect"),
    (r"lets? (?:it|them|an? \w+) go on", "lets it continue, continues it"),
    (r"goes? on (?:with|behind|where|elsewhere|here)", "continues with, continues after"),
    (r"pass(?:es|ed)? over", "skip, ignore"),
    (r"is not there(?: any more| yet)?", "does not exist, is gone, is missing"),
    (r"half way", "halfway"),
    (r"seldom|dearer|thus|whence|afresh", "rarely; more expensive; so; from where; again"),
    (r"\w*(?:colour|behaviour|neighbour|favour|honour)\w*", "the spelling of the United States: color"),
    (r"(?:recogni|organi|initiali|normali|seriali|capitali)s(?:es?|ed|ing|ers?)", "-ize, -ized"),
    (r"misspelt|spelt|learnt|burnt", "misspelled, spelled, learned"),
]
# In pages only: in code, "who" and "where" more often stand for themselves.
PAGE_PHRASES = [
    (r"(?<=\. )(?-i:Who) [^.?|§]*\.", "name it: the worker that ..., a user who ..."),
    (r"where there (?:is|are)", "if there is, or with"),
    (r"(?<=\. )(?-i:Where) (?:a|an|it|nothing|something|this)", "if"),
]


def _compiled(phrases):
    return [(re.compile(rf"(?<!\w)(?:{phrase})(?!\w)", re.I), better) for phrase, better in phrases]


_PATTERNS = _compiled(PHRASES)
_PAGE_PATTERNS = _PATTERNS + _compiled(PAGE_PHRASES)
# All of them at once: most texts have none.
_ANY = re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _ in _PAGE_PATTERNS), re.I)

EXEMPT_LIST = "tests/style/prose_exempt.txt"
# This table and its examples must name what they forbid.
_ABOUT_PHRASES = ("tests/style/", "docs/style-guide.md")
# Nor is text that must stay as it is: a migration has a checksum.
_NOT_WRITTEN = ("/corpus/", "/embedded/", "/migrations/", "/previous/")
_SCRIPTS = (".py", ".sh", ".cmake", ".sql")
# The web UI and the extensions of editors. Their code cannot be told from their texts, so only phrases of
# several words count.
_FRONT_ENDS = (".ts", ".js", ".mjs", ".svelte", ".lua", ".el", ".kt", ".html")


# Ends with a full stop, as a sentence before would.
_BEGIN = "§."


class _Prose:
    """The words of a text, with the line of each. Each beginning of a sentence is marked."""

    def __init__(self, patterns=None):
        self._patterns = patterns or _PATTERNS
        self._words = [_BEGIN]
        self._lines = [0]

    def add(self, text, line):
        for number, part in enumerate(text.split("\n"), start=line):
            for word in part.split():
                self._words.append(word)
                self._lines.append(number)

    def end_sentence(self, line):
        self.add(_BEGIN, line)

    def hits(self):
        flat = " ".join(self._words)
        if not _ANY.search(flat):
            return
        starts = [0]
        for word in self._words:
            starts.append(starts[-1] + len(word) + 1)
        for pattern, better in self._patterns:
            for match in pattern.finditer(flat):
                line = self._lines[bisect.bisect_right(starts, match.start()) - 1]
                yield line, match.group(0), better


def _blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def _markdown(text):
    """Blocks, inline code, HTML comments and the targets of links are no prose."""
    text = re.sub(r"^( *)(```|~~~).*?^ *\2[^\n]*$", _blank, text, flags=re.M | re.S)
    for code in (r"<!--.*?-->", r"`[^`]*`", r"\]\([^)\s]*\)", r"https?://\S+"):
        text = re.sub(code, _blank, text, flags=re.S)
    prose = _Prose(_PAGE_PATTERNS)
    for number, line in enumerate(text.split("\n"), start=1):
        # A heading, a list item and an empty line begin a sentence.
        if not line.strip() or re.match(r"\s*(#|[-*|] |\d+\. |\|)", line):
            prose.end_sentence(number)
        prose.add(line.replace("|", " | ").lstrip("#*- "), number)
    return prose


_TEST = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)")


def _cpp(tree, path):
    """Comments, string literals and the names of tests."""
    cpp = tree.cpp(path)
    prose = _Prose()
    last = 0
    for line, text in cpp.comments:
        if line != last + 1:
            prose.end_sentence(line)
        plain = re.sub(r"^\s*(?://+[/!<]*|/\*+|\*/|\*)", " ", text, flags=re.M)
        prose.add(re.sub(r"`[^`\n]*`", " ", plain), line)
        last = line + text.count("\n")
    for line, text in cpp.strings:
        prose.end_sentence(line)
        prose.add(text.replace("\\n", " "), line)
    for number, line in tree.code_lines(path):
        for names in _TEST.findall(line):
            prose.end_sentence(number)
            prose.add(" ".join(names).replace("_", " "), number)
    return prose


def _script(text):
    prose = _Prose()
    for number, line in enumerate(text.split("\n"), start=1):
        prose.add(re.sub(r"^\s*(#+|--|//+|/?\*+|;+)\s?", " ", line), number)
    return prose


def _hits(tree, path):
    if extension(path) == ".md":
        return list(_markdown(tree.files[path]).hits())
    if extension(path) in CPP:
        return list(_cpp(tree, path).hits())
    if extension(path) in _FRONT_ENDS:
        return [hit for hit in _script(tree.files[path]).hits() if " " in hit[1]]
    return list(_script(tree.files[path]).hits())


def _judged(tree):
    for path in tree.paths(ext=CPP + (".md",) + _SCRIPTS + _FRONT_ENDS):
        if not path.startswith(_ABOUT_PHRASES) and not any(part in path for part in _NOT_WRITTEN):
            yield path
    yield from tree.paths("dev", ext=("",))


@rule
def plain_english(tree):
    """Prose has none of PHRASES. Files that still have some are listed in EXEMPT_LIST; the list only gets
    shorter: a file in it that has become clean must be taken out."""
    exempt = [line for _, line in tree.lines(EXEMPT_LIST) if line] if EXEMPT_LIST in tree.files else []
    judged = set(_judged(tree))
    for number, path in enumerate(exempt, start=1):
        if path not in judged:
            yield Finding(EXEMPT_LIST, number, "plain-english", f"there is no file {path}: delete this line")
        elif not _hits(tree, path):
            yield Finding(EXEMPT_LIST, number, "plain-english", f"{path} is clean now: delete this line")
    for path in sorted(judged - set(exempt)):
        for line, phrase, better in _hits(tree, path):
            yield Finding(path, line, "plain-english", f'"{phrase[:60]}": better {better}')
