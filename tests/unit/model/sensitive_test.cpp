// Goal: the pointers of `sensitive` are read, written, built and limited; each problem has its
// place. Method: the same definition as JSON and from both builders; wrong ones by their codes. The
// golden files of this folder have the messages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ebb/builder.h>
#include <ebb/definition.h>
#include <ebb/rules_builder.h>

namespace ebb {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kText =
    R"({"workflow": "pay", "sensitive": ["/card", "/items/*/a~1b"],
        "steps": [{"step": "charge"}]})";

TEST(Sensitive, is_read_written_and_built) {
    const Definition read = parse_definition_json(kText);
    EXPECT_THAT(read.sensitive, ElementsAre("/card", "/items/*/a~1b"));
    EXPECT_EQ(definition_from_json(definition_to_json(read)), read);
    EXPECT_EQ(
        WorkflowBuilder("pay").sensitive({"/card", "/items/*/a~1b"}).step("charge").build(), read
    );
    const Definition open = WorkflowBuilder("pay").step("charge").build();
    EXPECT_NE(definition_checksum(open), definition_checksum(read));
    const Definition rules = RulesBuilder("r")
                                 .sensitive({"/iban"})
                                 .attribute("iban")
                                 .trigger("check", "iban IS NOT NULL")
                                 .final_condition("done", "iban IS NOT NULL")
                                 .build();
    EXPECT_EQ(definition_from_json(definition_to_json(rules)).sensitive, rules.sensitive);
}

std::vector<std::string> codes_of(const Definition& definition) {
    std::vector<std::string> codes;
    for (const Diagnostic& each : validate(definition))
        codes.push_back(each.code + " " + each.path);
    return codes;
}

TEST(Sensitive, has_limits) {
    Definition definition = parse_definition_json(kText);
    definition.sensitive.clear();
    for (std::size_t i = 0; i < DefinitionLimits::kSensitiveMax; ++i) {
        definition.sensitive.push_back("/" + std::to_string(i));
    }
    EXPECT_THAT(codes_of(definition), ElementsAre());
    definition.sensitive.emplace_back("/more");
    EXPECT_THAT(codes_of(definition), ElementsAre("too_many_pointers /sensitive"));
    definition.sensitive = {"/" + std::string(DefinitionLimits::kPointerBytesMax - 1, 'x')};
    EXPECT_THAT(codes_of(definition), ElementsAre());
    definition.sensitive.front() += 'x';
    EXPECT_THAT(codes_of(definition), ElementsAre("text_too_long /sensitive/0"));
}

}  // namespace
}  // namespace ebb
