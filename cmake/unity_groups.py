"""Which sources can be compiled as one: unity_groups.py ROOT SOURCE... prints a number for each of them.

Sources with the same number declare no file-local name twice (in an unnamed namespace, `static`, a macro or
a `using`), and none that a header of theirs declares where it would be found, too. The preset `demo` is
compiled so: a compiler needs most of its time for headers and templates, which many sources share.
"""

import functools
import pathlib
import re
import sys

# More together make the compiler need much memory, and leave the second core without work.
SOURCES_MAX = 24
MACRO = re.compile(r"#define (\w+)")
ALIAS = re.compile(r"(?:using|namespace) (?:\w+::)*(\w+)(?: =|;)")
NO_DECLARATION = re.compile(r"(namespace|using|template|friend|return|public|private|extern)\b")
INCLUDE = re.compile(r'^#include ["<]([\w./]+)[">]', re.MULTILINE)


def declarations(text):
    """(namespace, name, line, is it local) of what begins in column 0; line only of aliases and macros."""
    namespaces = []
    opened_at = 0
    for number, line in enumerate(text.splitlines()):
        line = re.sub(r"^\[\[\w+\]\] ", "", line)
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
        elif re.match(r"\w", line) and not NO_DECLARATION.match(line):
            words = re.findall(r"\w+", re.split(r"[({;=\[]|(?<!:):(?!:)|//", line)[0])
            words = [word for word in words if word != "final"]
            if words:
                is_local = "" in namespaces or line.startswith("static ")
                yield here, words[-1], "", is_local


class Sources:
    """What the sources below a root declare and include."""

    def __init__(self, root):
        self.folders = [pathlib.Path(root, "src"), pathlib.Path(root, "include")]

    @functools.cache
    def text(self, path):
        return path.read_text(encoding="utf-8")

    @functools.cache
    def header_names(self, path):
        """(name, namespace) of what a header declares."""
        return {(name, namespace) for namespace, name, line, _ in declarations(self.text(path)) if not line}

    @functools.cache
    def includes(self, path):
        folders = (*self.folders, path.parent)
        found = (folder / name for name in INCLUDE.findall(self.text(path)) for folder in folders)
        return [header.resolve() for header in found if header.is_file()]

    def headers(self, path):
        """All headers that a source includes, also through others."""
        reached, waiting = set(), [path]
        while waiting:
            for header in self.includes(waiting.pop()):
                if header not in reached:
                    reached.add(header)
                    waiting.append(header)
        return reached


class Group:
    """Sources that are compiled as one."""

    def __init__(self):
        self.count = 0
        self.locals = {}  # name -> (namespace, line)
        self.known = {}  # name -> the namespaces in which headers declare it

    def joined(self, names, known):
        """The group with one more source, or nothing if a name would be declared twice."""
        if self.count == SOURCES_MAX:
            return None
        for name in names.keys() & self.locals.keys():
            if not names[name][1] or names[name] != self.locals[name]:
                return None
        group = Group()
        group.count = self.count + 1
        group.locals = self.locals | names
        group.known = {
            name: known.get(name, set()) | self.known.get(name, set()) for name in known | self.known
        }
        # Names that a source declares for itself were no trouble in that source alone.
        for name, (namespace, _) in group.locals.items():
            if any(f"{namespace}::".startswith(f"{other}::") for other in group.known.get(name, ())):
                return None
        return group


def main(root, paths):
    sources = Sources(root)
    groups = []
    for path in map(pathlib.Path, paths):
        text = sources.text(path)
        declared = declarations(text)
        names = {name: (namespace, line) for namespace, name, line, is_local in declared if is_local}
        known = {}
        for header in sources.headers(path):
            for name, namespace in sources.header_names(header):
                known.setdefault(name, set()).add(namespace)
        # It would open the namespace or the enumeration for all sources behind it.
        if re.search(r"^using (namespace (?!std)|enum )", text, re.MULTILINE):
            groups.append(None)
            print(len(groups) - 1)
            continue
        for number, group in enumerate(groups):
            if group and (larger := group.joined(names, known)):
                groups[number] = larger
                break
        else:
            number = len(groups)
            groups.append(Group().joined(names, known))
        print(number)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
