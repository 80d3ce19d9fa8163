// The published JSON Schema agrees with the reader: what has the wrong shape does not conform, and
// what only means something wrong does. Definitions that are right are tried in the round trips and
// in the reference's examples.

#include <fstream>
#include <sstream>

#include <ebb/yaml.h>

#include "ebb_test_dirs.h"
#include "unit/yaml/conformance.h"
#include "yaml/yaml_document.h"

namespace ebb::test {
namespace {

Json golden(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(EBB_SOURCE_DIR "/tests/unit/model/golden/" + name + ".yaml").rdbuf();
    return yaml::parse_yaml_document(text.str(), name).to_json();
}

TEST(Schema, refuses_what_has_the_wrong_shape) {
    for (const char* name :
         {"ambiguous_kind",     "attempts_and_retries", "compensation_of_nothing",
          "delay_time",         "empty_workflow",       "impossible_join",
          "invalid_duration",   "invalid_name",         "invalid_schema_type",
          "invalid_value",      "invalid_pointer",      "duplicate_pointer",
          "loop_condition",     "missing_expression",   "missing_key",
          "missing_key_inside", "missing_kind",         "name_too_long",
          "out_of_range",       "too_few_branches",     "unknown_key",
          "wrong_type",         "wrong_type_handler",   "wrong_type_root"}) {
        EXPECT_NE(violations_of_schema(golden(name)), "") << name;
    }
}

TEST(Schema, leaves_the_meaning_to_the_reader) {
    for (const char* name :
         {"constant_condition",
          "deadline_missing",
          "savepoint_in_parallel",
          "step_not_before",
          "step_without_output",
          "unknown_field",
          "unknown_step",
          "unknown_variable",
          "unreachable",
          "unused_handler"}) {
        EXPECT_EQ(violations_of_schema(golden(name)), "") << name;
    }
}

Json one_step(const Json& step) {
    return {{"workflow", "w"}, {"steps", {step}}};
}

TEST(Schema, knows_the_shorter_forms) {
    for (const Json& step : {
             Json("reserve"),
             Json{{"step", "a"}, {"compensate", "b"}},
             Json{{"step", "a"}, {"compensate", {{"handler", "b"}, {"max_retries", 2}}}},
             Json{{"step", "a"}, {"backoff", {{"jitter", "20%"}}}, {"timeout", 0}},
             Json{{"parallel", "p"}, {"branches", {{"x", {"a"}}, {"y", {"b"}}}}},
             Json{{"condition", "c"}, {"when", true}, {"then", {"a"}}},
             Json{{"delay", "d"}, {"for", 0}},
         }) {
        EXPECT_EQ(violations_of_schema(one_step(step)), "") << step;
    }
}

TEST(Schema, refuses_one_wrong_value_at_a_time) {
    for (const Json& step : {
             Json(5),
             Json("two words"),
             Json{{"step", "a"}, {"max_attempts", 0}},
             Json{{"step", "a"}, {"max_attempts", 1001}},
             Json{{"step", "a"}, {"max_attempts", "3"}},
             Json{{"step", "a"}, {"timeout", "soon"}},
             Json{{"step", "a"}, {"timeout", 5}},
             Json{{"step", "a"}, {"backoff", {{"jitter", 1.5}}}},
             Json{{"step", "a"}, {"backoff", {{"strategy", "cubic"}}}},
             Json{{"step", "a"}, {"non_idempotent", "yes"}},
             Json{{"step", "a"}, {"compensate", Json::object()}},
             Json{{"step", "a"}, {"extra", 1}},
             Json{{"condition", "c"}, {"then", {"a"}}},
             Json{{"parallel", "p"}, {"branches", {{"x", {"a"}}}}},
             Json{{"parallel", "p"}, {"branches", {{"x", {"a"}}, {"y", Json::array()}}}},
             Json{{"parallel", "p"}, {"branches", {{"x", {"a"}}, {"y", {"b"}}}}, {"join", 0}},
             Json{{"loop", "l"}, {"while", "x"}, {"until", "x"}, {"do", {"a"}}},
             Json{{"decision", "d"}, {"quorum", 65}},
             Json{{"decision", "d"}, {"on_deadline", "continue"}},
             Json{{"savepoint", "s"}, {"max_resumes", 0}},
         }) {
        EXPECT_NE(violations_of_schema(one_step(step)), "") << step;
    }
}

}  // namespace
}  // namespace ebb::test
