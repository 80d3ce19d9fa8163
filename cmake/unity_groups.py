"""Which sources can be compiled as one: unity_groups.py ROOT CACHE SOURCE... prints a number for each source.

Sources with the same number declare no file-local name twice (in an unnamed namespace, `static`, a macro or
a `using`), and none that a header of theirs declares where it would be found, too. The preset `demo` is
compiled so: a compiler needs most of its time for headers and templates, which many sources share.
"""

import functools
import hashlib
import json
import pathlib
import re
import sys

# More together make the compiler need much memory, and leave the second core without work.
SOURCES_MAX = 24
# A group with fewer sources is not worth a run of the compiler, if a larger one can take them.
SOURCES_MIN = 6
SOURCES_MAX_MERGED = 30
# It opens the namespace or the enumeration for all sources behind it.
OPENING = re.compile(r"^using (?:namespace (?!std)|enum ).*$", re.MULTILINE)
MACRO = re.compile(r"#define (\w+)")
ALIAS = re.compile(r"(?:using|namespace) (?:\w+::)*(\w+)(?: =|;)")
NO_DECLARATION = re.compile(r"(namespace|using|template|friend|return|public|private|extern)\b")
# Of tests: what they declare is named after their suites, which a program has once.
MACRO_CALL = re.compile(r"[A-Z][A-Z0-9_]+\(")
INCLUDE = re.compile(r'^#include ["<]([\w./]+)[">]', re.MULTILINE)


def declarations(text):
    """(namespace, name, line, is it local) of what begins in the first column; the line only of aliases."""
    namespaces = []
    opened_at = 0
    for number, line in enumerate(text.splitlines()):
        line = re.sub(r"^\[\[\w+\]\] ", "", line)
        while (shorter := re.sub(r"<[^<>]*>", "", line)) != line and not INCLUDE.match(line):
            line = shorter
        here = "::".join(name for name in namespaces if name)
        if opened := re.match(r"(?:inline )?namespace ?([\w:]*) ?\{$", line):
            namespaces.append(opened[1])
            opened_at = number
        # The end of a namespace with one line, such as a forward declaration, has no comment.
        elif line.startswith("}  // namespace") or (line == "}" and number == opened_at + 2):
            del namespaces[-1:]
        elif found := MACRO.match(line):
            yield "", found[1], line, True
        elif found := ALIAS.match(line):
            yield here, found[1], line, True
        elif re.match(r"\w", line) and not NO_DECLARATION.match(line) and not MACRO_CALL.match(line):
            words = re.findall(r"\w+", re.split(r"[({;=\[]|(?<!:):(?!:)|//", line)[0])
            words = [word for word in words if word != "final"]
            if words:
                is_local = "" in namespaces or line.startswith("static ")
                yield here, words[-1], "", is_local


class Sources:
    """What the sources below a root declare and include. What has been read once is kept in a file."""

    def __init__(self, root, cache):
        self.folders = [pathlib.Path(root, "src"), pathlib.Path(root, "include"), pathlib.Path(root, "tests")]
        self.cache = pathlib.Path(cache)
        self.known = {}
        try:
            self.known = json.loads(self.cache.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            pass  # the first run, or one that was interrupted
        self.is_new = False

    def save(self):
        if self.is_new:
            self.cache.write_text(json.dumps(self.known), encoding="utf-8")

    def state(self, paths):
        """A text that is another one if one of these sources has changed, or a header of theirs."""
        reached = set(paths).union(*map(self.headers, paths))
        times = sorted((str(path), self.read(path)[0]) for path in reached)
        return hashlib.sha256(repr(times).encode()).hexdigest()

    @functools.cache
    def read(self, path):
        """[time of change, declarations, openings, included files of ours]"""
        changed = path.stat().st_mtime_ns
        found = self.known.get(str(path))
        if not found or found[0] != changed:
            text = path.read_text(encoding="utf-8")
            folders = (*self.folders, path.parent)
            included = (folder / name for name in INCLUDE.findall(text) for folder in folders)
            headers = [str(header.resolve()) for header in included if header.is_file()]
            found = [changed, list(declarations(text)), OPENING.findall(text), headers]
            self.known[str(path)] = found
            self.is_new = True
        return found

    @functools.cache
    def header_names(self, path):
        """(name, namespace) of what a header declares: first the aliases, then everything else."""
        found = self.read(path)[1]
        aliases = {(name, namespace) for namespace, name, line, _ in found if line}
        return aliases, {(name, namespace) for namespace, name, line, _ in found if not line}

    def headers(self, path):
        """All headers that a source includes, also through others."""
        reached, waiting = set(), [path]
        while waiting:
            for header in map(pathlib.Path, self.read(waiting.pop())[3]):
                if header not in reached:
                    reached.add(header)
                    waiting.append(header)
        return reached


class Group:
    """Sources that are compiled as one. All of them open the same namespaces and enumerations."""

    def __init__(self, openings):
        self.openings = openings
        self.members = []  # (names, known, aliases) of each source
        self.locals = {}  # name -> (namespace, line)
        self.known = {}  # name -> the namespaces in which headers declare it

    def joined(self, names, known, aliases, most=SOURCES_MAX):
        """The group with one more source, or nothing if a name would be declared twice or mean two things."""
        if len(self.members) >= most:
            return None
        for name in names.keys() & self.locals.keys():
            if not names[name][1] or names[name] != self.locals[name]:
                return None
        group = Group(self.openings)
        group.members = [*self.members, (names, known, aliases)]
        group.locals = self.locals | names
        both = known | self.known
        group.known = {name: known.get(name, set()) | self.known.get(name, set()) for name in both}
        # Names that a source declares for itself were no trouble in that source alone.
        for name, (namespace, _) in group.locals.items():
            if any(f"{namespace}::".startswith(f"{other}::") for other in group.known.get(name, ())):
                return None
        if any(group.hides_an_alias(*member) for member in group.members):
            return None
        return group

    def hides_an_alias(self, names, _, aliases):
        """True if a source knows an alias from a header, and another source declares that name nearer."""
        for name, namespace in aliases:
            local, line = self.locals.get(name, ("", ""))
            if line and name not in names and f"{local}::".startswith(f"{namespace}::"):
                return True
        return False

    def merged(self, other):
        """The group with all sources of another one, or nothing."""
        group = self if self.openings == other.openings else None
        for names, known, aliases in other.members:
            group = group and group.joined(names, known, aliases, SOURCES_MAX_MERGED)
        return group


def merge_small(groups, numbers):
    """Moves the sources of small groups into other groups that can take them."""
    for small, group in enumerate(groups):
        if group is None or len(group.members) >= SOURCES_MIN:
            continue
        for number, other in enumerate(groups):
            if number != small and other and (larger := other.merged(group)):
                groups[number], groups[small] = larger, None
                numbers[:] = [number if each == small else each for each in numbers]
                break


def main(root, cache, paths):
    sources = Sources(root, cache)
    paths = list(map(pathlib.Path, paths))
    key, state = " ".join(map(str, paths)), sources.state(paths)
    if sources.known.get(key, [""])[0] != state:
        sources.known[key] = [state, groups_of(sources, paths)]
        sources.is_new = True
    sources.save()
    print(*sources.known[key][1], sep="\n")


def groups_of(sources, paths):
    groups, numbers = [], []
    for path in paths:
        _, found, openings, _ = sources.read(path)
        names = {name: (namespace, line) for namespace, name, line, is_local in found if is_local}
        known, aliases = {}, set()
        for header in sources.headers(path):
            own_aliases, own_names = sources.header_names(header)
            aliases |= own_aliases
            for name, namespace in own_names:
                known.setdefault(name, set()).add(namespace)
        for number, group in enumerate(groups):
            if group.openings == openings and (larger := group.joined(names, known, aliases)):
                groups[number] = larger
                break
        else:
            number = len(groups)
            alone = Group(openings)
            alone.members, alone.locals, alone.known = [(names, known, aliases)], names, known
            groups.append(alone)
        numbers.append(number)
    merge_small(groups, numbers)
    return numbers


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
