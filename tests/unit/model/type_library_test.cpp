// Goal: definitions take types of nodes from a library. For attempts, the settings of a node
// override the definition, which overrides the type. Method: small libraries and definitions as
// JSON.

#include <ebb/error.h>
#include <ebb/node_graph.h>
#include <ebb/type_library.h>

#include "support/json.h"

namespace ebb {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TypeLibrary library() {
    TypeLibrary types;
    types.add_json(R"({"types": {
        "pay": {"exec": ["./pay"], "input_schema": {"type": "object"},
                "retry": {"max_attempts": 5, "backoff": {"strategy": "fixed", "initial": "2s"}}},
        "refund": {"exec": ["./refund"], "retry": {"max_attempts": 7}},
        "slow_pay": {"handler": "pay", "defaults": {"days": 3}},
        "unused": {"exec": ["./unused"]}
    }})");
    return types;
}

Definition read(const Json& steps, const Json& more = Json::object()) {
    Json definition = {{"workflow", "w"}, {"steps", steps}};
    definition.update(more);
    return definition_from_json(definition, library());
}

const Step& step(const Definition& definition, std::size_t at = 0) {
    return std::get<Step>(definition.steps.at(at).kind);
}

std::vector<std::string> problems(const std::function<void()>& act) {
    std::vector<std::string> found;
    try {
        act();
    } catch (const DefinitionError& error) {
        for (const Diagnostic& each : error.diagnostics()) {
            found.push_back(each.path + " (" + each.code + "): " + each.message);
        }
    }
    return found;
}

TEST(TypeLibrary, gives_a_definition_the_types_that_it_uses) {
    const Definition definition = read(Json::array({
        "pay",
        {{"step", "again"}, {"handler", "slow_pay"}, {"compensate", "refund"}},
    }));
    std::vector<std::string> names;
    for (const auto& [name, spec] : definition.handlers) names.push_back(name);
    EXPECT_THAT(names, ElementsAre("pay", "refund", "slow_pay"));
    EXPECT_EQ(
        Json::parse(definition.handlers.at("pay")),
        Json::parse(R"({"exec": ["./pay"], "input_schema": {"type": "object"}})")
    );
    EXPECT_EQ(
        Json::parse(definition.handlers.at("slow_pay")),
        Json::parse(
            R"({"exec": ["./pay"], "input_schema": {"type": "object"}, "defaults": {"days": 3}})"
        )
    );
    EXPECT_EQ(step(definition, 1).compensate->attempts.max_attempts, 7);
}

TEST(TypeLibrary, a_node_overrides_its_type_which_overrides_the_workflow) {
    const Json defaults = {{"defaults", {{"max_attempts", 2}, {"timeout", "9s"}}}};
    const Json steps = Json::array({
        "pay",
        {{"step", "b"}, {"handler", "pay"}, {"max_attempts", 3}},
        {{"step", "c"}, {"handler", "slow_pay"}, {"backoff", {{"initial", "5s"}}}},
        "other",
    });
    const Definition definition = read(steps, defaults);
    EXPECT_EQ(step(definition, 0).attempts.max_attempts, 5);
    EXPECT_EQ(step(definition, 0).attempts.backoff.strategy, Backoff::Strategy::Fixed);
    EXPECT_EQ(step(definition, 0).attempts.timeout, 9s);
    EXPECT_EQ(step(definition, 1).attempts.max_attempts, 3);
    EXPECT_EQ(step(definition, 1).attempts.backoff.initial, 2s);
    EXPECT_EQ(step(definition, 2).attempts.max_attempts, 5);
    EXPECT_EQ(step(definition, 2).attempts.backoff.initial, 5s);
    EXPECT_EQ(step(definition, 2).attempts.backoff.strategy, Backoff::Strategy::Fixed);
    EXPECT_EQ(step(definition, 3).attempts.max_attempts, 2);
    // The settings of the type are part of the steps, so reading the definition again changes
    // nothing.
    EXPECT_EQ(definition_from_json(definition_to_json(definition)), definition);
    EXPECT_EQ(definition_from_json(definition_to_json(definition), library()), definition);
}

TEST(TypeLibrary, the_types_of_a_definition_override_the_library) {
    const Definition definition = read(
        Json::array({"pay"}),
        {{"handlers", {{"pay", {{"exec", {"./own"}}, {"retry", {{"max_retries", 1}}}}}}}}
    );
    EXPECT_EQ(Json::parse(definition.handlers.at("pay")), Json::parse(R"({"exec": ["./own"]})"));
    EXPECT_EQ(step(definition).attempts.max_attempts, 2);
    EXPECT_EQ(step(definition).attempts.backoff.strategy, Backoff::Strategy::Exponential);
}

TEST(TypeLibrary, serves_the_graphs_of_editors) {
    const Json graph = Json::parse(R"({"name": "g", "nodes": [
        {"id": "a", "type": "pay"},
        {"id": "b", "type": "pay", "ebb": {"max_attempts": 3}}
    ], "edges": [{"source": "a", "target": "b"}]})");
    const Definition definition = import_graph(graph, {.types = library()});
    EXPECT_TRUE(definition.handlers.contains("pay"));
    const auto& nodes = std::get<NodeGraph>(definition.steps.at(0).kind).nodes;
    EXPECT_EQ(std::get<Step>(nodes.at(0).kind).attempts.max_attempts, 5);
    EXPECT_EQ(std::get<Step>(nodes.at(1).kind).attempts.max_attempts, 3);
}

TEST(TypeLibrary, reports_every_problem_and_keeps_its_types) {
    TypeLibrary types = library();
    const auto found = problems([&] {
        types.add_json(R"({"typos": {}, "types": {
            "pay": {"exec": ["./other"]},
            "odd": 7,
            "never": {"exec": ["x"], "retry": {"max_attempts": 0, "often": true}},
            "word": {"exec": ["x"], "retry": "often"},
            "lost": {"handler": "missing"},
            "self": {"handler": "self"}
        }})");
    });
    EXPECT_THAT(
        found,
        ::testing::UnorderedElementsAre(
            HasSubstr("/typos"),
            HasSubstr("/types/pay (duplicate_name)"),
            HasSubstr("/types/odd (wrong_type)"),
            HasSubstr("/types/never/retry/max_attempts"),
            HasSubstr("/types/never/retry/often"),
            HasSubstr("/types/word/retry (wrong_type)"),
            HasSubstr("/types/lost/handler (unknown_type): There is no type \"missing\"."),
            HasSubstr("/types/self/handler (unknown_type): The type \"self\" refers to itself.")
        )
    );
    EXPECT_THAT(types.names(), ElementsAre("pay", "refund", "slow_pay", "unused"));
    EXPECT_THAT(problems([&] { types.add_json("[]"); }), ElementsAre(HasSubstr("must be a map")));
    EXPECT_THAT(problems([&] { types.add_json("{}"); }), ElementsAre(HasSubstr("\"types\"")));
}

TEST(TypeLibrary, is_a_value) {
    const TypeLibrary before = library();
    TypeLibrary after = before;
    after.add_json(R"({"types": {"more": {"exec": ["x"]}}})");
    EXPECT_EQ(before.names().size() + 1, after.names().size());
}

}  // namespace
}  // namespace ebb
