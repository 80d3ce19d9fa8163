"""Which sources can be compiled as one: unity_groups.py ROOT SOURCE... prints a number for each of them.

Sources with the same number declare no file-local name twice (in an unnamed namespace, `static`, a macro or a
`using`), and none that a header of ROOT declares where it would be found, too. The preset `demo` is compiled
so: a compiler needs most of its time for headers and templates, which many sources share.
"""

import pathlib
import re
import sys

# More together make the compiler need much memory, and leave the second core without work.
SOURCES_MAX = 20
ALIAS = re.compile(r"#define (\w+)|(?:using|namespace) (?:\w+::)*(\w+)(?: =|;)")
NO_DECLARATION = re.compile(r"(namespace|using|template|friend|return|public|private|extern)\b")


def declarations(text):
    """(namespace, name, line, is it local) of what begins in the first column."""
    namespaces = []
    opened_at = 0
    for number, line in enumerate(text.splitlines()):
        line = re.sub(r"^\[\[\w+\]\] ", "", line)
        if opened := re.match(r"(?:inline )?namespace ?([\w:]*) ?\{$", line):
            namespaces.append(opened[1])
            opened_at = number
        # The end of a namespace with one line, such as a forward declaration, has no comment.
        elif line.startswith("}  // namespace") or (line == "}" and number == opened_at + 2):
            del namespaces[-1:]
        elif found := ALIAS.match(line):
            yield "", found[1] or found[2], line, True
        elif re.match(r"\w", line) and not NO_DECLARATION.match(line):
            words = re.findall(r"\w+", re.split(r"[({;=\[]|(?<!:):(?!:)|//", line)[0])
            words = [word for word in words if word != "final"]
            if words:
                is_local = "" in namespaces or line.startswith("static ")
                yield "::".join(name for name in namespaces if name), words[-1], "", is_local


def header_names(root):
    """Name -> the namespaces in which headers declare it."""
    names = {}
    for folder in ("src", "include"):
        for path in pathlib.Path(root, folder).rglob("*.h"):
            for namespace, name, line, _ in declarations(path.read_text(encoding="utf-8")):
                if not line:
                    names.setdefault(name, set()).add(namespace)
    return names


def is_alone(text, known):
    # It would open the namespace for all sources behind it.
    if re.search(r"^using namespace (?!std)", text, re.MULTILINE):
        return True
    for namespace, name, line, is_local in declarations(text):
        others = known.get(name, ()) if is_local else ()
        # An alias hides what another namespace has, too: it could be looked up through this one.
        if others and line.startswith("using"):
            return True
        if any(f"{namespace}::".startswith(f"{other}::") for other in others):
            return True
    return False


def main(root, paths):
    known = header_names(root)
    groups = []
    for path in paths:
        text = pathlib.Path(path).read_text(encoding="utf-8")
        names = {name: line for _, name, line, is_local in declarations(text) if is_local}
        if is_alone(text, known):
            print(len(groups))
            groups.append((SOURCES_MAX, names))
            continue
        for number, (count, taken) in enumerate(groups):
            both = names.keys() & taken
            clashing = [name for name in both if not names[name] or taken[name] != names[name]]
            if count < SOURCES_MAX and not clashing:
                groups[number] = (count + 1, taken | names)
                break
        else:
            number = len(groups)
            groups.append((1, names))
        print(number)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
