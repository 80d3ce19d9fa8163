// Templates: JSON whose strings contain ${expressions}.

#include "core/expression/template.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/expression/test_variables.h"

namespace ebb {
namespace {

const TestVariables& variables() {
    static const TestVariables kVariables(
        Json::parse(R"({"input": {"name": "Ada", "n": 3, "list": [1, "x"], "none": null}})"),
        Json::parse(R"({"pay": {"output": {"id": "p-1"}}})")
    );
    return kVariables;
}

Json rendered(const Json& value) {
    return Template::compile(value).render(variables());
}

TEST(Template, keeps_the_type_of_a_lone_expression) {
    EXPECT_EQ(rendered("${input.n}"), 3);
    EXPECT_EQ(rendered("${input.list}"), Json::parse(R"([1, "x"])"));
    EXPECT_EQ(rendered("${input.none}"), nullptr);
    EXPECT_EQ(rendered("${ input.n > 2 }"), true);
    EXPECT_EQ(rendered("${input.name}"), "Ada");
}

TEST(Template, puts_values_into_texts) {
    EXPECT_EQ(
        rendered("Dear ${input.name}, you have ${input.n} of ${input.list}."),
        "Dear Ada, you have 3 of [1,\"x\"]."
    );
    EXPECT_EQ(rendered(" ${input.n}"), " 3");
    EXPECT_EQ(rendered("${input.n}${input.n}"), "33");
    EXPECT_EQ(rendered("${input.none}!"), "null!");
    EXPECT_EQ(rendered("${steps.pay.output.id}/x"), "p-1/x");
    EXPECT_EQ(rendered("${duration('90s')} and ${1.5}"), "90s and 1.5");
}

TEST(Template, has_an_escape_for_itself) {
    EXPECT_EQ(rendered("$${input.n}"), "${input.n}");
    EXPECT_EQ(rendered("a $${x} ${input.n} $${"), "a ${x} 3 ${");
    EXPECT_EQ(rendered("$ $$ $5 {x} }"), "$ $$ $5 {x} }");
    EXPECT_EQ(rendered("$$${input.n}"), "$${input.n}");
    EXPECT_EQ(rendered(""), "");
}

TEST(Template, finds_the_end_of_an_expression_behind_braces_and_strings) {
    EXPECT_EQ(rendered("${ {'a': {'b': 1}}.a.b }"), 1);
    EXPECT_EQ(rendered("${ '}' + \"}\" + r'\\' + '''}'}''' }x"), "}}\\}'}x");
    EXPECT_EQ(rendered("${ 1 // }\n + 1 }"), 2);
}

TEST(Template, walks_lists_and_maps_but_leaves_keys_alone) {
    EXPECT_EQ(
        rendered(Json::parse(
            R"({"a": ["${input.n}", 1, {"b": "x${input.n}"}], "${input.n}": true, "c": {}})"
        )),
        Json::parse(R"({"a": [3, 1, {"b": "x3"}], "${input.n}": true, "c": {}})")
    );
}

TEST(Template, knows_whether_it_is_constant_and_what_it_reads) {
    EXPECT_TRUE(Template::compile(Json::parse(R"({"a": [1, "$${x}", null]})")).is_constant());
    EXPECT_TRUE(Template::compile_text("plain").is_constant());
    const Template compiled = Template::compile(Json::parse(
        R"(["${steps.b.output}", {"x": "${steps.a.output + input.x} ${steps.b.output}"}])"
    ));
    EXPECT_FALSE(compiled.is_constant());
    EXPECT_EQ(compiled.steps_read(), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(compiled.variables_read(), (std::vector<std::string>{"input", "steps"}));
}

std::string template_complaint(const Json& value) {
    try {
        return rendered(value).dump();
    } catch (const ExpressionError& error) {
        return error.message();
    }
}

TEST(Template, names_the_place_of_an_error) {
    EXPECT_EQ(
        template_complaint(Json::parse(R"({"a/b": ["x", "${1 +}"]})")),
        "At /a~1b/1 of the template: Expected a value, found the end."
    );
    EXPECT_EQ(
        template_complaint(Json::parse(R"({"to": {"name": "Dear ${input.nmae}"}})")),
        "At /to/name of the template: There is no field \"nmae\"; the map has \"list\", \"n\", "
        "\"name\", \"none\". "
        "Did you mean \"name\"?"
    );
    EXPECT_EQ(
        template_complaint("${input.x}"),
        "There is no field \"x\"; the map has \"list\", \"n\", \"name\", \"none\"."
    );
    EXPECT_EQ(
        template_complaint(Json::array({"a ${input"})),
        "At /0 of the template: \"${\" has no closing \"}\"; write \"$${\" for the characters "
        "themselves."
    );
    EXPECT_EQ(template_complaint("${}"), "The expression is empty.");
    EXPECT_EQ(
        template_complaint("${a = b}"),
        "The character \"=\" has no meaning here. Equality is written \"==\"."
    );
}

TEST(Template, finds_ends_for_others) {
    const std::string_view text = "https://${input.host}/${ {'a': '}'}.a }";
    EXPECT_EQ(expression_end(text, 10), text.find('}'));
    EXPECT_EQ(expression_end(text, text.rfind('$') + 2), text.size() - 1);
    EXPECT_EQ(expression_end("${'}", 2), std::string_view::npos);
    EXPECT_EQ(expression_end("${", 2), std::string_view::npos);
}

}  // namespace
}  // namespace ebb
