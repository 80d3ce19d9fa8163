"""The generator of cmake/embed_sql.cmake: fragments and named parameters become the statement that is
meant, and each mistake in a .sql file stops the build with its place and what is allowed."""

import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(__file__), "..", "..", "cmake", "embed_sql_run.cmake")
CMAKE = sys.argv.pop(1) if len(sys.argv) > 1 else "cmake"


def generate(files):
    """The generated header, or the error."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, text in files.items():
            paths.append(os.path.join(folder, name))
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.write(text)
        out = os.path.join(folder, "out.h")
        values = {"OUT": out, "NS": "a::b", "MIGRATIONS": "FALSE", "FILES": ";".join(paths)}
        command = [CMAKE] + [f"-D{name}={value}" for name, value in values.items()] + ["-P", SCRIPT]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            # CMake breaks the lines of long messages.
            return None, " ".join(done.stderr.split())
        with open(out, encoding="utf-8") as file:
            return file.read(), ""


def statement(header, name):
    begin = header.index(f"std::string_view {name} = R\"sql(")
    return header[header.index("(", begin) + 1 : header.index(')sql"', begin)]


class Generator(unittest.TestCase):
    def test_a_fragment_takes_the_place_of_its_include_and_its_indentation(self):
        header, error = generate(
            {
                "a.sql": "-- name: x\nWITH -- include: f,\ng AS (\n    -- include: f\n)\nSELECT a[1];\n",
                "fragments.sql": "-- fragment: f\nf AS (\n    SELECT ';'\n)\n",
            }
        )
        self.assertEqual(error, "")
        expected = "WITH f AS (\n    SELECT ';'\n),\n"
        expected += "g AS (\n    f AS (\n        SELECT ';'\n    )\n)\nSELECT a[1];"
        self.assertEqual(statement(header, "x"), expected)

    def test_fragments_may_include_fragments(self):
        text = "-- fragment: f\nSELECT\n    -- include: g\n-- fragment: g\n1,\n2\n"
        header, error = generate({"a.sql": text + "-- name: x\n-- include: f\n"})
        self.assertEqual(error, "")
        self.assertEqual(statement(header, "x"), "SELECT\n    1,\n    2")

    def test_named_parameters_get_their_numbers_in_both_dialects(self):
        header, error = generate(
            {
                "a.sql": "-- name: x\n-- parameters: at attempt\n-- parameters: a\n-- Of $a.\n"
                "SELECT $attempt, $at,$at, $a::text;\n"
                "-- name: y\n-- parameters: id\nSELECT ?id;\n"
            }
        )
        self.assertEqual(error, "")
        self.assertEqual(statement(header, "x"), "-- Of $3.\nSELECT $2, $1,$1, $3::text;")
        self.assertEqual(statement(header, "y"), "SELECT ?1;")

    def test_a_fragment_has_the_parameters_of_each_statement(self):
        header, error = generate(
            {
                "a.sql": "-- fragment: f\nWHERE id = $id\n"
                "-- name: x\n-- parameters: id\nDELETE FROM t\n-- include: f\n"
                "-- name: y\n-- parameters: v id\nUPDATE t SET v = $v\n-- include: f\n"
            }
        )
        self.assertEqual(error, "")
        self.assertEqual(statement(header, "x"), "DELETE FROM t\nWHERE id = $1")
        self.assertEqual(statement(header, "y"), "UPDATE t SET v = $1\nWHERE id = $2")

    def refuses(self, text, *parts):
        header, error = generate({"a.sql": text})
        self.assertIsNone(header)
        for part in parts:
            self.assertIn(part, error)

    def test_an_unknown_fragment_is_an_error_that_names_the_known_ones(self):
        text = "-- fragment: f\n1\n-- name: x\nSELECT\n-- include: g\n-- name: y\n-- include: f\n"
        known = "fragments of this folder are: f"
        self.refuses(text, "a.sql, statement x", "'-- include: g' names no fragment", known)

    def test_an_unknown_parameter_is_an_error(self):
        text = "-- name: x\n-- parameters: a b\nSELECT $a, $b, $c;\n"
        self.refuses(text, "statement x", "the parameter 'c' is not in '-- parameters:'", "a b")

    def test_a_parameter_that_nothing_uses_is_an_error(self):
        text = "-- name: x\n-- parameters: a b\nSELECT $a;\n"
        self.refuses(text, "statement x", "the parameter b is not used")

    def test_names_and_numbers_of_parameters_do_not_mix(self):
        text = "-- name: x\n-- parameters: a\nSELECT $a, $2;\n"
        self.refuses(text, "statement x", "no parameters with numbers")

    def test_a_fragment_that_includes_itself_is_an_error(self):
        text = "-- fragment: f\n-- include: f\n-- name: x\n-- include: f\n"
        self.refuses(text, "includes itself")

    def test_a_fragment_that_nothing_includes_is_an_error(self):
        text = "-- fragment: f\n1\n-- name: x\nSELECT 1;\n"
        self.refuses(text, "The fragment f is included by no statement")

    def test_two_fragments_of_one_name_are_an_error(self):
        text = "-- fragment: f\n1\n-- fragment: f\n2\n-- name: x\n-- include: f\n"
        self.refuses(text, "another fragment f")

    def test_an_include_with_a_wrong_ending_is_an_error(self):
        text = "-- fragment: f\n1\n-- name: x\n-- include: f and more\n"
        self.refuses(text, "must name a fragment")


if __name__ == "__main__":
    unittest.main()
