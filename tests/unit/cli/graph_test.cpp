// Node graphs on the command line: validated, drawn and run, as YAML, as JSON, and as an editor's
// file.

#include <nlohmann/json.hpp>

#include <ebb/yaml.h>

#include "cli_world.h"

namespace ebb::cli::testing {
namespace {

constexpr const char* kGraph = R"(workflow: ask
handlers:
  ask: {exec: [sh, -c, 'echo "{\"way\":\"yes\"}"']}
  pay: {exec: [sh, -c, 'echo "\"paid\""']}
nodes:
  - {step: ask, next: output.way}
  - pay
edges:
  - {from: ask, handle: "yes", to: pay}
  - {from: ask, handle: again, to: ask}
)";

constexpr const char* kEditorFile = R"({
  "ebb": {"handlers": {
    "asker": {"exec": ["sh", "-c", "echo '{\"way\":\"yes\"}'"]},
    "payer": {"exec": ["sh", "-c", "echo '\"paid\"'"]}}},
  "nodes": [
    {"id": "1", "type": "asker", "position": {"x": 0, "y": 0}, "ebb": {"next": "output.way"}},
    {"id": "2", "type": "payer", "position": {"x": 0, "y": 90}}],
  "edges": [{"id": "e", "source": "1", "sourceHandle": "yes", "target": "2"}]
})";

TEST(CliGraph, is_validated_drawn_and_run_as_yaml_and_as_json) {
    CliWorld world;
    const std::string json =
        world.run({"diagram", world.file("ask.yaml", kGraph), "--format", "mermaid"}).out;
    EXPECT_NE(json.find("yes"), std::string::npos) << json;
    const Definition definition = parse_definition_yaml(kGraph);
    const std::string text = definition_to_json(definition).dump();
    for (const std::string& file : {world.file("ask.yaml", kGraph), world.file("ask.json", text)}) {
        const Outcome valid = world.run({"validate", file});
        EXPECT_EQ(valid.code, 0) << valid.err;
        EXPECT_NE(valid.out.find("yes: pay, again: ask"), std::string::npos) << valid.out;
        const Outcome run = world.run({"run", file, "--quiet"});
        EXPECT_EQ(run.code, 0) << run.err;
        EXPECT_EQ(run.out, "\"paid\"\n");
    }
}

TEST(CliGraph, a_graph_that_was_left_is_shown_as_its_last_step_ended) {
    CliWorld world;
    const std::string file = world.file("ask.yaml", kGraph);
    ASSERT_EQ(world.run_db({"run", file, "--quiet"}).code, 0);
    const std::string done = world.run_db({"show", "@1"}).out;
    EXPECT_NE(done.find("✓ graph"), std::string::npos) << done;
    std::string failing = kGraph;
    failing.replace(failing.find("echo \"\\\"paid"), 4, "false");
    ASSERT_NE(
        world.run_db({"run", world.file("fail.yaml", failing + "version: 2\n"), "-q"}).code, 0
    );
    const std::string failed = world.run_db({"show", "@1"}).out;
    EXPECT_NE(failed.find("✗ graph"), std::string::npos) << failed;
    ASSERT_EQ(world.run_db({"start", file}).code, 0);
    EXPECT_EQ(world.run_db({"show", "@1"}).out.find("✓ graph"), std::string::npos);
}

TEST(CliGraph, an_editors_file_is_a_workflow_of_its_name) {
    CliWorld world;
    const std::string file = world.file("payment.json", kEditorFile);
    const Outcome valid = world.run({"validate", file});
    EXPECT_EQ(valid.code, 0) << valid.err;
    EXPECT_NE(valid.out.find("payment v1 is valid"), std::string::npos) << valid.out;
    const Outcome run = world.run({"run", file, "--quiet"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.out, "\"paid\"\n");
}

TEST(CliGraph, problems_of_an_editors_file_have_its_places) {
    CliWorld world;
    std::string text = kEditorFile;
    text.replace(text.find("\"target\": \"2\""), 13, "\"target\": \"3\"");
    const Outcome outcome = world.run({"validate", world.file("payment.json", text)});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("unknown_node"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("id \"3\""), std::string::npos) << outcome.err;
}

constexpr const char* kTypes = R"(types:
  asker:
    exec: [sh, -c, 'echo "{\"way\": \"yes\"}"']
    retry: {max_attempts: 5, backoff: {strategy: fixed, initial: 2s}}
  payer:
    exec: [sh, -c, 'echo "\"paid\""']
    input_schema: {type: object, required: [way]}
)";

constexpr const char* kTypedGraph = R"({
  "name": "typed",
  "nodes": [
    {"id": "ask", "type": "asker", "ebb": {"next": "output.way"}},
    {"id": "pay", "type": "payer"}],
  "edges": [{"source": "ask", "sourceHandle": "yes", "target": "pay"}]
})";

TEST(CliGraph, uses_the_types_of_a_file_wherever_definitions_are_read) {
    CliWorld world;
    const std::string types = world.file("types.yaml", kTypes);
    const std::string graph = world.file("graph.json", kTypedGraph);
    EXPECT_EQ(world.run({"validate", graph, "--types", types}).code, 0);
    EXPECT_EQ(world.run({"diagram", graph, "--types", types}).code, 0);
    const Outcome ran = world.run({"run", graph, "--types", types, "-q"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(Json::parse(ran.out), "paid");
    // What was started with them needs them no more.
    EXPECT_EQ(world.run_db({"start", graph, "--types", types}).code, 0);
    EXPECT_EQ(world.run_db({"worker", "--allow-exec", "--once", "-q"}).code, 0);
    EXPECT_NE(world.run_db({"list"}).out.find("completed"), std::string::npos);
    EXPECT_NE(world.run({"run", graph}).code, 0);
}

TEST(CliGraph, validates_that_the_types_which_steps_call_are_there) {
    CliWorld world;
    const std::string types = world.file("types.yaml", kTypes);
    const std::string flow = world.file("flow.yaml", R"(workflow: flow
handlers:
  own: {exec: ["true"]}
steps:
  - step: own
  - step: asker
  - {step: last, handler: payr}
)");
    const Outcome outcome = world.run({"validate", flow, "--types", types});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find(flow + ":7:"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("There is no node type \"payr\""), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("\"payer\""), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("1 problem"), std::string::npos) << outcome.err;
    // Another program may have the handler.
    EXPECT_EQ(world.run({"validate", flow}).code, 0);
}

TEST(CliGraph, tells_what_is_wrong_with_a_file_of_types_and_where) {
    CliWorld world;
    const std::string graph = world.file("graph.json", kTypedGraph);
    const std::string bad = world.file("bad.yaml", R"(types:
  asker:
    exec: [true]
    retry: {max_attempts: 0}
)");
    const Outcome outcome = world.run({"validate", graph, "--types", bad});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find(bad + ":4:"), std::string::npos) << outcome.err;
    const std::string worse =
        world.file("worse.yaml", "types:\n  a:\n    exec: [a]\n    timeout: soon\n");
    const Outcome second = world.run({"run", graph, "--types", worse});
    EXPECT_EQ(second.code, 2);
    EXPECT_NE(second.err.find(worse + ":4:"), std::string::npos) << second.err;
}

}  // namespace
}  // namespace ebb::cli::testing
