// Whatever the model can hold survives YAML and JSON, and conforms to the published schema. Random
// definitions with texts that parsers stumble over, and the definition that has everything.

#include <rapidcheck/gtest.h>

#include <ebb/builder.h>
#include <ebb/yaml.h>

#include "core/model/writer.h"
#include "unit/model/everything.h"
#include "unit/yaml/conformance.h"
#include "unit/yaml/random_definition.h"
#include "yaml/yaml_writer.h"

namespace ebb::test {
namespace {

RC_GTEST_PROP(RoundTrip, of_any_definition_through_json_is_exact, ()) {
    const Definition definition = random_definition();
    const Json json = definition_to_json(definition);
    RC_ASSERT(validate(definition) == std::vector<Diagnostic>{});
    RC_ASSERT(definition_from_json(json) == definition);
    RC_ASSERT(parse_definition_json(json.dump()) == definition);
    RC_ASSERT(violations_of_schema(json) == "");
}

RC_GTEST_PROP(RoundTrip, of_any_definition_through_yaml_is_exact, ()) {
    const Definition definition = random_definition();
    const std::string yaml = definition_to_yaml(definition);
    RC_LOG() << yaml;
    RC_ASSERT(parse_definition_yaml(yaml) == definition);
    RC_ASSERT(definition_to_yaml(parse_definition_yaml(yaml)) == yaml);
}

TEST(RoundTrip, of_everything_through_yaml_is_exact) {
    const Definition definition = everything();
    const std::string yaml = definition_to_yaml(definition);
    EXPECT_EQ(parse_definition_yaml(yaml), definition) << yaml;
    EXPECT_EQ(violations_of_schema(definition_to_json(definition)), "");
}

TEST(RoundTrip, yaml_is_written_as_people_write_it) {
    const Definition definition =
        WorkflowBuilder("order", 2)
            .description("Two lines:\nthis one too")
            .handler_spec("pay", R"({"script": "set -e\n./pay \"$1\"\n", "shell": ["sh", "-c"]})")
            .step("pay", {.compensate = "refund", .input = R"({"id": "${ input.id }", "n": "12"})"})
            .parallel(
                "ship",
                {{"parcel",
                  [](BlockBuilder& b) { b.step("pack").timeout(std::chrono::seconds(90)); }},
                 {"letter", [](BlockBuilder& b) { b.step("print").step("post"); }}}
            )
            .join_any()
            .build();
    EXPECT_EQ(definition_to_yaml(definition), R"(workflow: order
version: 2
description: |-
  Two lines:
  this one too
handlers:
  pay:
    script: |
      set -e
      ./pay "$1"
    shell:
      - sh
      - "-c"
steps:
  - step: pay
    input:
      id: "${ input.id }"
      n: "12"
    compensate: refund
  - parallel: ship
    branches:
      - branch: parcel
        do:
          - step: pack
            timeout: 1m30s
      - branch: letter
        do:
          - step: print
          - step: post
    join: any
)");
}

TEST(RoundTrip, a_key_may_be_longer_than_yaml_allows_for_a_simple_one) {
    const std::string key(5'000, 'k');
    const Definition definition =
        WorkflowBuilder("w").step("a", {.input = Json{{key, Json{{key, 1}}}}.dump()}).build();
    EXPECT_EQ(parse_definition_yaml(definition_to_yaml(definition)), definition);
}

}  // namespace
}  // namespace ebb::test
