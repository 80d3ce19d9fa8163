// YAML means what the core schema of YAML 1.2 says, every problem has its line and column, and what
// could make a small file large is refused.

#include <fmt/format.h>

#include <ebb/yaml.h>

#include "yaml/scalar.h"
#include "yaml/yaml_document.h"

namespace ebb::test {
namespace {

Json value_of(std::string_view yaml) {
    return yaml::parse_yaml_document(yaml, "f.yaml").to_json();
}

Diagnostic problem_of(std::string_view yaml) {
    try {
        yaml::parse_yaml_document(yaml, "f.yaml");
    } catch (const DefinitionError& error) {
        return error.diagnostics().at(0);
    }
    return {};
}

std::string code_of(std::string_view yaml) {
    return problem_of(yaml).code;
}

TEST(YamlScalar, is_what_the_core_schema_says) {
    const auto resolve = [](std::string_view text) { return yaml::resolve_plain(text).value(); };
    for (const char* text : {"", "~", "null", "Null", "NULL"}) EXPECT_EQ(resolve(text), Json());
    for (const char* text : {"true", "True", "TRUE"}) EXPECT_EQ(resolve(text), Json(true));
    for (const char* text : {"false", "False", "FALSE"}) EXPECT_EQ(resolve(text), Json(false));
    EXPECT_EQ(resolve("0"), Json(0));
    EXPECT_EQ(resolve("007"), Json(7));
    EXPECT_EQ(resolve("-12"), Json(-12));
    EXPECT_EQ(resolve("+12"), Json(12));
    EXPECT_EQ(resolve("0o17"), Json(15));
    EXPECT_EQ(resolve("0xfF"), Json(255));
    EXPECT_EQ(resolve("18446744073709551615").dump(), "18446744073709551615");
    EXPECT_EQ(resolve("-9223372036854775808").dump(), "-9223372036854775808");
    EXPECT_EQ(resolve("18446744073709551616").dump(), "1.8446744073709552e+19");
    EXPECT_EQ(resolve("1.5"), Json(1.5));
    EXPECT_EQ(resolve(".5"), Json(0.5));
    EXPECT_EQ(resolve("5."), Json(5.0));
    EXPECT_EQ(resolve("-1e3"), Json(-1000.0));
    EXPECT_EQ(resolve("+1.5E-1"), Json(0.15));
}

TEST(YamlScalar, is_a_text_where_older_schemas_saw_something_else) {
    for (const char* text : {"yes",  "no",   "on",   "off",        "y",     "N",  "1_000", "0b1",
                             "1:30", "tRue", "nULL", "2026-01-31", "-",     ".",  "+",     "1e",
                             "0x",   "0o8",  "<<",   "=",          "1h30m", "e5", "-.e"}) {
        EXPECT_TRUE(yaml::resolve_plain(text).value().is_string()) << text;
    }
}

TEST(YamlScalar, numbers_that_json_does_not_have_are_refused) {
    for (const char* text :
         {".inf", "-.Inf", "+.INF", ".nan", ".NaN", "1e999", "0x1ffffffffffffffff"}) {
        EXPECT_FALSE(yaml::resolve_plain(text)) << text;
    }
    EXPECT_EQ(code_of("a: .inf"), "not_json");
}

TEST(Yaml, quotes_blocks_and_tags_make_texts) {
    EXPECT_EQ(value_of("'1'"), Json("1"));
    EXPECT_EQ(value_of("\"tr\\u0075e\""), Json("true"));
    EXPECT_EQ(value_of("!!str 12"), Json("12"));
    EXPECT_EQ(value_of("! 12"), Json("12"));
    EXPECT_EQ(value_of("!!int 12"), Json(12));
    EXPECT_EQ(value_of("|\n  1\n  2\n"), Json("1\n2\n"));
    EXPECT_EQ(value_of(">-\n  a\n  b\n"), Json("a b"));
    EXPECT_EQ(
        value_of("a:\n- 1\n- {b: c, d: [e, ~]}\n").dump(), R"({"a":[1,{"b":"c","d":["e",null]}]})"
    );
}

TEST(Yaml, tags_that_say_something_else_are_refused) {
    EXPECT_EQ(code_of("!!int x"), "unknown_tag");
    EXPECT_EQ(code_of("!mine x"), "unknown_tag");
    EXPECT_EQ(code_of("!!binary aGk="), "unknown_tag");
    EXPECT_EQ(code_of("!!set {a}"), "unknown_tag");
}

TEST(Yaml, aliases_copy_what_their_anchor_has) {
    EXPECT_EQ(
        value_of("a: &x {b: 1}\nc: *x\nd: [*x]\n").dump(),
        R"({"a":{"b":1},"c":{"b":1},"d":[{"b":1}]})"
    );
    EXPECT_EQ(code_of("a: *x\n"), "unknown_alias");
    EXPECT_EQ(code_of("a: &x [*x]\n"), "unknown_alias");
}

/// A list of `size` numbers with an anchor, and `aliases` aliases of it.
std::string aliased(std::size_t size, std::size_t aliases) {
    std::string text = "a: &x [";
    for (std::size_t i = 1; i < size; ++i) text += "1,";
    text += "]\nb: [";
    for (std::size_t i = 0; i < aliases; ++i) text += "*x,";
    return text + "]\n";
}

TEST(Yaml, aliases_have_a_budget) {
    static_assert(yaml::kAliasNodesMax == 10'000);
    EXPECT_EQ(code_of(aliased(100, 99)), "");
    EXPECT_EQ(code_of(aliased(100, 100)), "too_many_aliases");
}

TEST(Yaml, a_billion_laughs_are_refused) {
    std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; ++i) {
        text += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
    }
    EXPECT_EQ(code_of(text), "too_many_aliases");
}

TEST(Yaml, depth_is_bounded) {
    constexpr auto kMax = static_cast<std::size_t>(DefinitionLimits::kDocumentDepthMax);
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    EXPECT_EQ(code_of(nested(kMax)), "");
    EXPECT_EQ(code_of(nested(kMax + 1)), "nested_too_deeply");
    EXPECT_EQ(
        code_of(
            "- &x " + nested(150) + "\n- " + std::string(60, '[') + "*x" + std::string(60, ']')
        ),
        "nested_too_deeply"
    );
}

TEST(Yaml, size_is_bounded) {
    const std::string head = "a: ";
    const std::string most(DefinitionLimits::kDefinitionBytesMax - head.size(), 'x');
    EXPECT_EQ(code_of(head + most), "");
    EXPECT_EQ(code_of(head + most + "x"), "definition_too_large");
}

TEST(Yaml, there_is_exactly_one_document) {
    EXPECT_EQ(code_of(""), "empty_document");
    EXPECT_EQ(code_of("# only a comment\n"), "empty_document");
    EXPECT_EQ(code_of("--- a\n...\n"), "");
    const Diagnostic problem = problem_of("a: 1\n---\nb: 2\n");
    EXPECT_EQ(problem.code, "several_documents");
    EXPECT_EQ(problem.line, 2);
}

TEST(Yaml, keys_are_texts) {
    EXPECT_EQ(value_of("1: a\ntrue: b\n").dump(), R"({"1":"a","true":"b"})");
    EXPECT_EQ(code_of("[a]: b"), "invalid_key");
    EXPECT_EQ(code_of("? {a: b}\n: c"), "invalid_key");
    EXPECT_EQ(code_of("a: &x b\n*x : c\n"), "invalid_key");
    EXPECT_EQ(code_of(": c"), "invalid_key");
    EXPECT_EQ(code_of("a: &x {b: c}\nd:\n  <<: *x\n"), "invalid_key");
}

TEST(Yaml, text_must_be_utf8_without_u0000) {
    EXPECT_EQ(code_of("a: \xff\n"), "invalid_text");
    EXPECT_EQ(code_of(std::string_view("a: b\0c\n", 7)), "invalid_text");
    EXPECT_EQ(code_of("a: \"b\\0c\"\n"), "invalid_text");
}

TEST(Yaml, a_syntax_error_has_its_place) {
    const Diagnostic problem = problem_of("a: 1\nb: [1, 2\nc: 3\n");
    EXPECT_EQ(problem.code, "yaml_syntax");
    EXPECT_EQ(problem.file, "f.yaml");
    EXPECT_EQ(problem.line, 4) << "where the bracket is missed: " << problem.message;
    EXPECT_EQ(problem.column, 1);
}

std::string places(std::string_view yaml) {
    try {
        parse_definition_yaml(yaml, "f.yaml");
    } catch (const DefinitionError& error) {
        std::string text;
        for (const Diagnostic& d : error.diagnostics()) {
            text += fmt::format("{}:{}:{} {} {}\n", d.file, d.line, d.column, d.path, d.code);
        }
        return text;
    }
    return "valid";
}

TEST(YamlPlaces, point_at_the_key_or_value_that_is_wrong) {
    EXPECT_EQ(
        places("workflow: w\nversoin: 2\nsteps:\n  - step: a b\n  - bad name\n  - step: c\n    "
               "timeout: soon\n"),
        "f.yaml:2:1 /versoin unknown_key\n"
        "f.yaml:4:11 /steps/0/step invalid_name\n"
        "f.yaml:5:5 /steps/1 invalid_name\n"
        "f.yaml:7:14 /steps/2/timeout invalid_duration\n"
    );
}

TEST(YamlPlaces, point_into_branches_given_as_a_map) {
    EXPECT_EQ(
        places("workflow: w\nsteps:\n- parallel: p\n  branches:\n    x: [a]\n    y:\n    - step: "
               "b\n      max_attempts: 0\n"),
        "f.yaml:8:21 /steps/0/branches/y/0/max_attempts out_of_range\n"
    );
}

// The @ is never part of an expression.
TEST(YamlPlaces, point_into_expressions_however_they_are_written) {
    const auto with = [](std::string_view when) {
        return places(
            fmt::format("workflow: w\nsteps:\n- condition: c\n  when: {}\n  then: [a]\n", when)
        );
    };
    const std::string code = " /steps/0/when invalid_expression\n";
    EXPECT_EQ(with("input.a > @"), "f.yaml:4:19" + code);
    EXPECT_EQ(with("'input.a > @'"), "f.yaml:4:20" + code);
    EXPECT_EQ(with("\"input.a > @\""), "f.yaml:4:20" + code);
    EXPECT_EQ(with("|\n    input.a\n    > @"), "f.yaml:6:7" + code);
    EXPECT_EQ(with("\"input.a\\x20> @\""), "f.yaml:4:23" + code);
    // In this folded text the place is the beginning of the text.
    EXPECT_EQ(with(">\n    input.a\n    > @"), "f.yaml:5:5" + code);
}

TEST(YamlPlaces, point_into_templates) {
    EXPECT_EQ(
        places("workflow: w\nsteps:\n- step: a\n  input:\n    id: \"no ${ input.id @ }\"\n"),
        "f.yaml:5:25 /steps/0/input/id invalid_expression\n"
    );
}

}  // namespace
}  // namespace ebb::test
