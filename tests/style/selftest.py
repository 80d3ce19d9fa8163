#!/usr/bin/env python3
"""Every rule must find its violation and must leave the innocent alone, so that no rule dies silently."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rules  # noqa: E402
from cpp_text import CppText, functions  # noqa: E402


def body(lines):
    return "{\n" + "    work();\n" * lines + "}\n"


NAMES = "docs/reference/names.md"

# rule: ([trees that violate it], [trees that do not])
CASES = {
    "index-of-names": (
        [
            {
                NAMES: "## Error codes\n",
                "include/ebb/error.h": "enum class ErrorCode {\n    StoreFull,\n};\n",
            },
            {NAMES: "## Log events\n", "src/engine/a.cpp": 'log.info("worker_ready", {});\n'},
            {NAMES: "## Log events\n", "src/server/a.cpp": 'sink.write(LogLevel::Error, "failed", x);\n'},
            {NAMES: "## Log events\n", "src/cli/a.cpp": 'say("worker_ready", {});\n'},
            {NAMES: "## Log events\n", "src/cli/a.cpp": 'json = {{"event", "ready"}};\n'},
            {NAMES: "## History events\n| `started` | x |\n"},
            {NAMES: "## Environment variables\n", "src/cli/a.cpp": 'environment("EBB_DB");\n'},
        ],
        [
            {
                NAMES: "## Error codes\n| `store_full` | `x` |\n## Log events\n| `lease_lost` | x |\n"
                "## History events\n| `step_failed` | x |\n"
                "## Environment variables\n| `EBB_A`, `EBB_B` | x |\n",
                "include/ebb/error.h": "enum class ErrorCode {\n    StoreFull,  ///< {disk};\n};\n",
                "src/core/kernel/history.h": "enum class HistoryType {\n    StepFailed,\n};\n",
                "src/engine/a.cpp": 'report("lease_lost", error);\n',
                "src/cli/a.cpp": '"EBB_A", "EBB_B"\n',
            },
        ],
    ),
    "include-arrow": (
        [
            {"src/core/a.h": '#include "store/store.h"\n'},
            {"src/core/model/a.cpp": '  #  include "engine/engine.h"\n'},
            {"src/support/a.h": '#include "core/kernel/state.h"\n'},
            {"src/store/store.h": '#include "engine/worker.h"\n'},
            {"src/store/store.h": '#include "store/memory/memory_store.h"\n'},
            {"src/store/sqlite/a.cpp": '#include "store/memory/memory_store.h"\n'},
            {"src/store/sqlite/a.cpp": '#include "../memory/b.h"\n', "src/store/memory/b.h": ""},
            {"src/engine/a.cpp": '#include "store/sqlite/connection.h"\n'},
            {"src/engine/a.cpp": '#include "cli/main.h"\n'},
            {"src/unheard_of/a.cpp": '#include "core/a.h"\n'},
        ],
        [
            {"src/core/kernel/a.h": '#include "core/model/b.h"\n#include "support/json.h"\n'},
            {"src/store/sqlite/a.cpp": '#include "store/store.h"\n#include "connection.h"\n'},
            {"src/store/memory/a.cpp": '#include "store/memory/b.h"\n#include "core/a.h"\n'},
            {"src/cli/main/main.cpp": '#include "cli/run.h"\n#include "engine/engine.h"\n'},
            {"src/core/a.cpp": "#include <ebb/store.h>\n"},
        ],
    ),
    "third-party-include": (
        [
            {"src/engine/a.cpp": "#include <sqlite3.h>\n"},
            {"src/core/a.cpp": "#include <boost/asio.hpp>\n"},
            {"src/cli/a.cpp": "#include <curl/curl.h>\n"},
        ],
        [{"src/store/sqlite/a.cpp": "#include <sqlite3.h>\n"}],
    ),
    "public-include": (
        [
            {"include/ebb/a.h": "#include <nlohmann/json.hpp>\n"},
            {"include/ebb/a.h": "#include <fmt/format.h>\n"},
            {"include/ebb/a.h": '#include "core/kernel/state.h"\n'},
            {"include/ebb/a.h": "#include <ebb/missing.h>\n"},
            {"include/ebb/a.h": "#include <unistd.h>\n"},
        ],
        [
            {
                "include/ebb/a.h": "#include <stop_token>\n#include <nlohmann/json_fwd.hpp>\n"
                "#include <ebb/b.h>\n",
                "include/ebb/b.h": "",
            }
        ],
    ),
    "pragma-once": ([{"src/a.h": "int f();\n"}], [{"src/a.h": "// Why.\n#pragma once\n"}]),
    "core-is-pure": (
        [
            {"src/core/a.h": "#include <mutex>\n"},
            {"src/core/kernel/a.cpp": "#include <random>\n"},
            {"src/core/kernel/a.cpp": "#include <fstream>\n"},
            {"src/core/kernel/a.cpp": "void f(const Clock& clock);\n"},
        ],
        [
            {"src/engine/a.h": "#include <mutex>\n", "src/core/a.h": "#include <chrono>\n"},
            {"src/core/a.cpp": '#include "support/clock.h"\nauto text = format_time(now);\n'},
        ],
    ),
    "line-length": (
        [{"src/a.cpp": "x" * 101 + "\n"}, {"dev": "x" * 111 + "\n"}],
        [{"src/a.cpp": "x" * 100 + "\n"}, {"src/a.cpp": "// " + "\u2192" * 97 + "\n"}],
    ),
    "file-length": ([{"src/a.cpp": "\n" * 801}], [{"src/a.cpp": "\n" * 400}]),
    "function-length": (
        [
            {"src/a.cpp": "void f() " + body(70)},
            {"src/a.cpp": "namespace ebb {\nclass A {\n  int f() const noexcept " + body(70) + "};\n}\n"},
            {"src/a.cpp": "TEST(Suite, does_it) " + body(70)},
            {"src/a.cpp": "A::A(int a) : a_{a}, b_{a, 1} " + body(70)},
            {"src/a.cpp": "A::A(int a) : a_(a), b_(make({1, 2})) " + body(70)},
            {"src/a.cpp": "bool operator<(const A& a, const A& b) " + body(70)},
            {"src/a.cpp": "template <class T>\nauto f(T&& t) -> std::map<int, T> " + body(70)},
            {"src/a.cpp": "struct A {\n  struct B b;\n};\nstruct B f(const struct C& c) " + body(70)},
            {"src/a.cpp": "const auto kWork = [](int n) " + body(70).rstrip() + ";\n"},
            {"src/a.cpp": 'void f() {\n  g("}");  // }\n  h(\'}\');\n' + "  w();\n" * 70 + "}\n"},
            {"src/a.cpp": "void f() {\n  if (a) " + body(3) + "  w({1});\n" * 70 + "}\n"},
        ],
        [
            {"src/a.cpp": "void f() " + body(69)},
            {"src/a.cpp": ("void f() " + body(40)) * 3},
            {"src/a.cpp": "namespace {\n" + ("int f() " + body(3)) * 30 + "}\n"},
            {"src/a.cpp": "struct A " + body(90).rstrip() + ";\n"},
            {"src/a.cpp": "const std::map<int, int> kTable = {\n" + "    {1, 2},\n" * 90 + "};\n"},
            {"src/a.cpp": "const auto kTable = make({\n" + "    {1, 2},\n" * 90 + "});\n"},
            {"src/a.cpp": "enum class A : int {\n" + "    B,\n" * 90 + "};\n"},
            {"src/a.cpp": 'constexpr auto kText = R"(\nint f() ' + body(90) + ')";\n'},
        ],
    ),
    "banned-call": (
        [
            {"src/engine/a.cpp": "auto now = std::chrono::system_clock::now();\n"},
            {"src/core/a.cpp": "auto now = steady_clock::now();\n"},
            {"src/engine/a.cpp": "std::random_device device;\n"},
            {"src/support/a.cpp": "int i = rand();\n"},
            {"src/engine/a.cpp": "std::this_thread::sleep_for(1s);\n"},
            {"src/cli/a.cpp": "sleep(1);\n"},
            {"src/engine/a.cpp": 'auto home = std::getenv("HOME");\n'},
            {"src/engine/a.cpp": "std::thread worker;\n"},
            {"src/cli/a.cpp": "worker.detach();\n"},
            {"src/cli/a.cpp": "std::regex pattern;\n"},
            {"src/engine/a.cpp": "#include <iostream>\n"},
            {"src/engine/a.cpp": "std::cerr << 1;\n"},
            {"src/engine/a.cpp": "volatile bool stop;\n"},
            {"src/engine/a.cpp": "const_cast<A&>(a).f();\n"},
        ],
        [
            {"src/support/clock.cpp": "return std::chrono::system_clock::now();\n"},
            {"src/cli/a.cpp": 'auto home = std::getenv("HOME");\n#include <iostream>\n'},
            {"src/engine/a.cpp": "std::jthread worker; auto n = std::thread::hardware_concurrency();\n"},
            {"src/engine/a.cpp": '// system_clock::now\nauto text = "std::regex rand()";\n'},
            {"src/engine/a.cpp": "int operand(int); auto b = brand(); auto c = dice.rand();\n"},
        ],
    ),
    "test-sleep": (
        [{"tests/unit/a.cpp": "std::this_thread::sleep_for(1ms);\n"}],
        [{"tests/unit/a.cpp": '// sleep_for\nrun("sleep(1)");\n'}],
    ),
    "test-skip": (
        [{"tests/a.cpp": "GTEST_SKIP();\n"}, {"tests/a.cpp": "TEST(Saga, DISABLED_rolls_back) {}\n"}],
        [{"tests/a.cpp": "TEST(Saga, rolls_back) {}\n"}],
    ),
    "test-intro": (
        [{"tests/a.cpp": "#include <a>\nTEST(A, b) {}\n"}],
        [{"tests/a.cpp": "// Goal and method.\nTEST(A, b) {}\n"}, {"tests/fake.cpp": "int f();\n"}],
    ),
    "type-name": (
        [{"src/a.h": "class StepManager {\n"}, {"src/a.h": "struct JsonUtils;\n"}],
        [{"src/a.h": "class Worker {\n"}],
    ),
    "open-task": (
        [{"src/a.cpp": "// TODO: later\n"}, {"dev": "# FIX" "ME\n"}],
        [{"src/a.cpp": "// TODO(#12): drop with PostgreSQL 13\n"}],
    ),
    "sql-in-cpp": (
        [
            {"src/store/sqlite/a.cpp": 'run("SELECT a FROM b");\n'},
            {"src/store/sqlite/a.cpp": 'run("insert into b values (1)");\n'},
            {"src/store/postgres/a.cpp": 'run(R"(\nupdate tasks set a = 1)");\n'},
            {"src/store/postgres/a.cpp": 'run("CREATE UNIQUE INDEX i ON t (a)");\n'},
        ],
        [
            {"src/store/sqlite/a.cpp": 'run("BEGIN IMMEDIATE"); throw Error("select a workflow");\n'},
            {"src/store/sqlite/a.cpp": "// SELECT a FROM b\n"},
            {"src/store/sqlite/sql/a.sql": "SELECT a FROM b;\n"},
        ],
    ),
    "sql-escape": (
        [
            {"src/store/postgres/a.sql": "SELECT ltrim(a, E' \\t\\v');\n"},
            {"src/store/postgres/surface/a.sql": "SELECT a ~ '\\d';\n"},
        ],
        [
            {"src/store/postgres/surface/a.sql": "SELECT E' \\t\\x0b\\\\', a ~ '--'; -- it's \\v\n"},
            {"src/store/postgres/a.sql": "SELECT a ~ '\\d';\n"},
        ],
    ),
    "white-space": (
        [{"src/a.cpp": "int a; \n"}, {"docs/a.md": "a\tb\n"}, {"a.sql": "select 1"}],
        [{"src/a.cpp": "int a;\n"}, {"tests/fuzz/corpus/a.json": "{\t} "}],
    ),
    "machine-path": (
        [
            {"docs/a.md": "see /wo" "rk/shared/a\n"},
            {"cmake/a.cmake": "set(a /ho" "me/me/b)\n"},
            {"ui/package-lock.json": '"https://registry.' 'npmjs.org/a"\n'},
            {"src/a.cpp": 'open("/tmp/ebb.db");\n'},
            {"src/support/os_file.cpp": 'open("/tmp/ebb.db");\n'},
        ],
        [
            {"docs/a.md": "docs/wo" "rk/a.md\n", "src/a.cpp": 'open(folder + "/a.tmp");\n'},
            {"src/support/os_file.cpp": 'return folder ? folder : "/tmp";\n'},
        ],
    ),
    "golden-unused": (
        [{"tests/golden/flow/a.yaml": "a", "tests/golden/run.cpp": 'read("golden/other");\n'}],
        [
            {"tests/golden/flow/a.yaml": "a", "tests/golden/run.cpp": 'read("golden/flow");\n'},
            {"tests/golden/schema.sql": "a", "tests/store/a.cpp": 'read("golden/schema.sql");\n'},
        ],
    ),
    "doc-link": (
        [
            {"docs/a.md": "[b](b.md)\n"},
            {"docs/a.md": "[b](b.md#no)\n", "docs/b.md": "# Yes\n"},
            {"README.md": "![picture](docs/a.svg)\n"},
        ],
        [
            {
                "docs/a.md": "[b](../b.md#the-way) [c](https://a.b/c) [d](#a-b)\n# A: b\n",
                "b.md": "# The way\n",
            },
            {"docs/a.md": "```\n[b](b.md)\n```\n`[c](c.md)`\n"},
            {"README.md": "[docs](docs) [d](docs/a.md)\n", "docs/a.md": ""},
        ],
    ),
    "plain-english": (
        [
            {"docs/a.md": "It waits for\never.\n"},
            {"docs/a.md": "Ends.\n\nWho claims it locks the row.\n"},
            {"docs/a.md": "Where nothing is left, it ends.\n"},
            {"README.md": "| row | what somebody has |\n"},
            {"src/a.cpp": "// The row is told\n// of it.\nint a;\n"},
            {"src/a.h": "/// Nobody\n/// waits.\n"},
            {"src/a.cpp": 'auto text = "\\"5\\" is no duration";\n'},
            {"src/a.cpp": 'auto text = R"(it is done anew)";\n'},
            {"tests/a.cpp": "// Goal.\nTEST(Store, tells_whoever_waits) {}\n"},
            {"src/a.sql": "-- Somebody else took\n-- it.\nSELECT 1;\n"},
            {"dev": "# builds everything anew\n"},
            {"ui/src/a.ts": "throw new Error('This is no JSON.');\n"},
            {"ui/src/a.svelte": "<p>The file is no\n  // workflow.</p>\n"},
            {"editors/a.lua": "-- The command answered no JSON.\n"},
            {"src/a.cpp": 'auto text = "The instance is failed already.";\n'},
            {"src/a.cpp": 'auto text = "The token exists already.";\n'},
            # A file that has become clean, and one that is gone, leave the list.
            {"tests/style/prose_exempt.txt": "src/a.cpp\n", "src/a.cpp": "int a;\n"},
            {"tests/style/prose_exempt.txt": "src/a.cpp\n"},
        ],
        [
            {"docs/a.md": "There is no duration. It is no longer there.\n"},
            {"docs/a.md": "`told` and\n```\nnobody\n```\n<!-- run: whoever -->\n[a](he.md)\n"},
            {"docs/a.md": "- Who deletes it?\n- Where is it?\n\nThe page that says who waits.\n"},
            {"docs/a.md": "## Who can connect\n\nA user.\n"},
            {"src/a.cpp": "int told = 1;  // see `nobody`\n// Who sends it.\n"},
            {"tests/a.cpp": "// Goal.\nTEST(Store, notifies_the_worker) {}\n"},
            {"ui/src/a.ts": "const told = nobody;\n"},
            {"src/a.cpp": 'auto text = "It has already failed: it already exists.";\n'},
            {"tests/style/prose_exempt.txt": "src/a.cpp\n", "src/a.cpp": "// for ever\n"},
        ],
    ),
    "doc-code": (
        [
            {
                "README.md": "<!-- code: a.cpp trip -->\n```cpp\nint a;\n```\n",
                "a.cpp": "//! [trip]\nint b;\n//! [trip]\n",
            },
            {"README.md": "<!-- code: missing.cpp trip -->\n```cpp\nint a;\n```\n"},
        ],
        [
            {
                "README.md": "<!-- code: a.cpp trip -->\n```cpp\nint a;\n```\n",
                "a.cpp": "void f() {\n    //! [trip]\n    int a;\n    //! [trip]\n}\n",
            },
            {"README.md": "```cpp\nint a;\n```\n"},
        ],
    ),
    "doc-cpp": (
        [{"docs/how-to/a.md": "```cpp\nint a;\n```\n"}, {"README.md": "a\n```cpp\nint a;\n```\n"}],
        [
            {"docs/a.md": "<!-- code: a.cpp trip -->\n```cpp\nint a;\n```\n"},
            {"docs/a.md": "```cpp main.cpp\nint a;\n```\n", "CONTRIBUTING.md": "```cpp\nint a;\n```\n"},
        ],
    ),
}


class Rules(unittest.TestCase):
    def test_every_rule_has_cases(self):
        self.assertEqual(sorted(rules.RULES), sorted(CASES))

    def test_violations_are_found(self):
        for name, (violations, _) in CASES.items():
            self.assertTrue(violations, name)
            for files in violations:
                with self.subTest(rule=name, files=files):
                    errors = [f for f in rules.RULES[name](rules.Tree(files)) if not f.is_note]
                    self.assertTrue(errors)
                    self.assertEqual({finding.rule for finding in errors}, {name})

    def test_the_innocent_are_left_alone(self):
        for name, (_, innocent) in CASES.items():
            self.assertTrue(innocent, name)
            for files in innocent:
                with self.subTest(rule=name, files=files):
                    self.assertEqual([str(f) for f in rules.RULES[name](rules.Tree(files))], [])

    def test_a_long_file_is_noted_before_it_is_an_error(self):
        findings = list(rules.RULES["file-length"](rules.Tree({"src/a.cpp": "\n" * 401})))
        self.assertEqual([finding.is_note for finding in findings], [True])

    def test_a_link_may_lead_to_a_picture(self):
        page = {"README.md": "![a](docs/a.png)\n"}
        doc_link = rules.RULES["doc-link"]
        self.assertEqual(list(doc_link(rules.Tree(page, ["docs/a.png"]))), [])
        self.assertEqual(len(list(doc_link(rules.Tree(page, ["docs/b.png"])))), 1)


class Lexer(unittest.TestCase):
    def test_lines_are_kept(self):
        text = 'a\n/* b\n c */ "d" // e\nR"x(f\n)"g)x" h\n'
        cpp = CppText(text)
        self.assertEqual(len(cpp.code), len(text))
        self.assertEqual([line for line, _ in cpp.strings], [3, 4])
        self.assertEqual(cpp.strings[1][1], 'f\n)"g')
        self.assertEqual([line for line, _ in cpp.comments], [2, 3])
        self.assertNotIn("b", cpp.code)

    def test_digit_separators_are_not_characters(self):
        self.assertIn("f();", CppText("int a = 10'000; f(); int b = 1'0;").code)

    def test_functions_are_located(self):
        found = functions(CppText("namespace a {\nint f() {\n  g([] { h(); });\n}\n}\nint b() {}\n"))
        self.assertEqual([(first, last) for first, last, _ in found], [(2, 4), (6, 6)])


if __name__ == "__main__":
    unittest.main()
