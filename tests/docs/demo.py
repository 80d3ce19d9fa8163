#!/usr/bin/env python3
"""The preset of `./dev demo` configures and has the targets that examples/demo.sh names; and sources
that clash are not compiled as one. Method: configures the preset in a folder of its own, and asks
unity_groups.py about sources that are made for it.

    demo.py SOURCE WORK
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

SOURCE, WORK = (pathlib.Path(path).resolve() for path in sys.argv[1:3])


def run(*command):
    ended = subprocess.run(
        command, cwd=SOURCE, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if ended.returncode != 0:
        line = " ".join(map(str, command))
        raise AssertionError(f"{line} ended with {ended.returncode}:\n{ended.stdout[-8000:]}")
    return ended.stdout


class Preset(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        cls.build = WORK / "build"
        run("cmake", "--preset", "demo", "-B", cls.build)
        cls.targets = run("cmake", "--build", cls.build, "--target", "help")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(WORK)

    def test_it_has_the_targets_of_the_demo(self):
        script = (SOURCE / "examples/demo.sh").read_text()
        named = re.search(r"^# targets: *(.*)$", script, re.MULTILINE)
        for target in named[1].split():
            self.assertRegex(self.targets, rf"(?m)^{target}: ")

    def test_it_builds_only_what_the_demo_needs(self):
        for unwanted in ("unit_", "ebb_server", "ebb_postgres", "ebb_testing", "ebb_telemetry"):
            self.assertNotIn(unwanted, self.targets)

    def test_it_compiles_many_sources_as_one(self):
        commands = run("ninja", "-C", self.build, "-t", "compdb")
        files = {entry["file"] for entry in json.loads(commands)}
        alone = [name for name in files if "/src/core/" in name or "/src/cli/" in name]
        sources = [*(SOURCE / "src/core").rglob("*.cpp"), *(SOURCE / "src/cli").glob("*.cpp")]
        self.assertLess(len(alone), len(sources) / 2)


class Groups(unittest.TestCase):
    def groups(self, headers, *sources, inner=""):
        root = WORK / "groups"
        shutil.rmtree(root, ignore_errors=True)
        (root / "src").mkdir(parents=True)
        (root / "src/known.h").write_text(headers)
        (root / "src/inner.h").write_text(inner)
        paths = [root / "src" / f"{number}.cpp" for number in range(len(sources))]
        for path, text in zip(paths, sources):
            path.write_text(text)
        script = SOURCE / "cmake/unity_groups.py"
        command = (sys.executable, "-B", script, root, root / "cache.json", *paths)
        numbers = run(*command).split()
        self.assertEqual(run(*command).split(), numbers, "what was kept is another answer")
        return [int(number) for number in numbers]

    @staticmethod
    def local(declaration, around="ebb"):
        unnamed = f"namespace {{\n\n{declaration}\n\n}}  // namespace\n"
        return f"namespace {around} {{\n\n{unnamed}\n}}  // namespace {around}\n"

    def test_sources_that_do_not_clash_are_together(self):
        self.assertEqual(self.groups("", self.local("int a() {"), self.local("int b() {")), [0, 0])

    def test_local_names_keep_sources_apart(self):
        for declaration in (
            "int a(int x) {", "[[noreturn]] void a() {", "constexpr int a = 1;", "struct a {",
            "class a final : public b {",
        ):
            with self.subTest(declaration):
                self.assertEqual(self.groups("", self.local("int a() {"), self.local(declaration)), [0, 1])
        self.assertEqual(self.groups("", "static int a() {\n", "#define a 1\n"), [0, 1])

    def test_a_using_may_be_repeated_but_not_differ(self):
        same = "namespace ebb {\nusing std::chrono::hours;\n}  // namespace ebb\n"
        other = "namespace ebb {\nusing other::hours;\n}  // namespace ebb\n"
        self.assertEqual(self.groups("", same, same, other), [0, 0, 1])

    def test_a_name_that_a_header_of_the_group_declares_keeps_sources_apart(self):
        header = "namespace ebb {\n\nstruct Notice {\n};\n\n}  // namespace ebb\n"
        includes = '#include "known.h"\n' + self.local("int b() {")
        notice, plain = self.local("struct Notice {"), self.local("int c() {")
        self.assertEqual(self.groups(header, notice, includes, plain), [0, 1, 0])
        self.assertEqual(self.groups(header, includes, notice, plain), [0, 1, 0])
        inner = self.local("struct Notice {", "ebb::model")
        self.assertEqual(self.groups(header, includes, inner), [0, 1])
        self.assertEqual(self.groups(header, includes, self.local("struct Notice {", "other")), [0, 0])

    def test_a_header_counts_that_another_header_includes(self):
        root = '#include "inner.h"\n'
        inner = "namespace ebb {\nstruct Notice {\n};\n}  // namespace ebb\n"
        includes = '#include "known.h"\n' + self.local("int b() {")
        self.assertEqual(
            self.groups(root, includes, self.local("struct Notice {"), inner=inner), [0, 1]
        )

    def test_a_name_of_an_inner_namespace_may_have_an_alias(self):
        header = "namespace ebb::model {\n\nstruct Notice {\n};\n\n}  // namespace ebb::model\n"
        includes = '#include "known.h"\n' + self.local("int b() {")
        for around, expected in (("ebb", [0, 0]), ("ebb::model", [0, 1])):
            alias = f"namespace {around} {{\nusing model::Notice;\n}}  // namespace {around}\n"
            self.assertEqual(self.groups(header, includes, alias), expected)

    def test_an_alias_of_a_header_keeps_its_meaning(self):
        header = "namespace ebb {\nusing Json = other::Json;\n}  // namespace ebb\n"
        includes = '#include "known.h"\n' + self.local("int b() {", "ebb::server")
        nearer = "namespace ebb::server {\nusing view::Json;\n}  // namespace ebb::server\n"
        self.assertEqual(self.groups(header, includes, nearer), [0, 1])
        self.assertEqual(self.groups(header, nearer, includes), [0, 1])
        elsewhere = "namespace ebb::view {\nusing view::Json;\n}  // namespace ebb::view\n"
        both = '#include "known.h"\n' + nearer
        self.assertEqual(self.groups(header, both, both), [0, 0])
        self.assertEqual(self.groups("", self.local("int b() {"), elsewhere), [0, 0])

    def test_what_was_kept_of_a_changed_source_is_not_used(self):
        self.assertEqual(self.groups("", self.local("int a() {"), self.local("int b() {")), [0, 0])
        cache = (WORK / "groups/cache.json").read_text()
        self.assertEqual(self.groups("", self.local("int a() {"), self.local("int a() {")), [0, 1])
        (WORK / "groups/cache.json").write_text(cache)
        root = WORK / "groups"
        paths = [root / "src/0.cpp", root / "src/1.cpp"]
        script = SOURCE / "cmake/unity_groups.py"
        numbers = run(sys.executable, "-B", script, root, root / "cache.json", *paths).split()
        self.assertEqual(numbers, ["0", "1"])

    def test_a_source_that_opens_a_namespace_is_only_with_those_that_open_it_too(self):
        plain = self.local("int b() {")
        literals = "using namespace std::chrono_literals;\n"
        self.assertEqual(self.groups("", "using namespace ebb;\n", plain, literals), [0, 1, 1])
        self.assertEqual(self.groups("", "using enum Kind;\n", plain, literals), [0, 1, 1])
        opening = "using namespace ebb;\n"
        too = opening + self.local("int c() {")
        self.assertEqual(self.groups("", opening, plain, too), [0, 1, 0])
        self.assertEqual(self.groups("", opening, "using namespace other;\n"), [0, 1])

    def test_the_name_is_not_looked_for_among_the_arguments_of_a_template(self):
        header = "namespace ebb {\nstruct Payload {\n};\n}  // namespace ebb\n"
        includes = '#include "known.h"\n' + self.local("int b() {")
        function = "std::function<Payload(const Payload&, int)> shown(int a) {"
        self.assertEqual(self.groups(header, includes, self.local(function)), [0, 0])
        self.assertEqual(self.groups("", self.local(function), self.local("int shown() {")), [0, 1])

    def test_a_small_group_joins_a_full_one_that_can_take_it(self):
        full = [self.local(f"int n{number}() {{") for number in range(24)]
        self.assertEqual(self.groups("", *full, self.local("int last() {")), [0] * 25)
        clash = self.local("int n0() {")
        self.assertEqual(self.groups("", *full, clash), [0] * 24 + [1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
