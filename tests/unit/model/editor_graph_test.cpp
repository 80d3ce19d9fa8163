// Editors' graphs become definitions and come back: what is kept, what is renamed, and what is said
// of a graph that cannot be one.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ebb/builder.h>
#include <ebb/node_graph.h>

namespace ebb::test {
namespace {

const char* const kEditorGraph = R"({
  "name": "mailing",
  "version": 3,
  "viewport": {"x": 1, "y": 2, "zoom": 0.5},
  "entry": "1",
  "ebb": {"on_error": "dead_letter"},
  "nodes": [
    {"id": "1", "type": "iterator", "position": {"x": 10, "y": 20}, "selected": true,
     "data": {"items": "${ workflow.input.people }"}},
    {"id": "send mail", "type": "http", "position": {"x": 10.5, "y": 90},
     "data": {"url": "https://example.org", "token": "Bearer ${ secrets.token }"},
     "ebb": {"compensate": "unsend", "max_attempts": 5}},
    {"id": "ask", "type": "ebb:decision", "data": {"roles": ["boss"]}}
  ],
  "edges": [
    {"id": "e1", "source": "1", "sourceHandle": "loop", "target": "send mail", "animated": true},
    {"id": "e2", "source": "send mail", "sourceHandle": null, "target": "1"},
    {"id": "e3", "source": "1", "sourceHandle": "done", "target": "ask", "targetHandle": "in"}
  ]
})";

std::string problems_of(const Json& graph, const GraphImportOptions& options = {}) {
    std::string text;
    try {
        import_graph(graph, options);
    } catch (const DefinitionError& error) {
        for (const Diagnostic& problem : error.diagnostics()) {
            text += (text.empty() ? "" : " ") + problem.path + ":" + problem.code;
            EXPECT_FALSE(problem.message.empty());
        }
    }
    return text;
}

Json changed(const char* pointer, const Json& value) {
    Json graph = Json::parse(kEditorGraph);
    graph[Json::json_pointer(pointer)] = value;
    return graph;
}

TEST(EditorGraph, becomes_a_definition) {
    const Definition definition = import_graph(Json::parse(kEditorGraph));
    EXPECT_EQ(definition.name, "mailing");
    EXPECT_EQ(definition.version, 3);
    EXPECT_EQ(definition.on_error, Definition::OnError::DeadLetter);
    const auto& graph = std::get<NodeGraph>(definition.steps.at(0).kind);
    EXPECT_EQ(graph.entry, "n1");
    EXPECT_EQ(graph.nodes.at(1).name, "send_mail");
    const Step& send = std::get<Step>(graph.nodes.at(1).kind);
    EXPECT_EQ(send.handler, "http");
    EXPECT_EQ(send.compensate->handler, "unsend");
    EXPECT_EQ(send.attempts.max_attempts, 5);
    EXPECT_EQ(Json::parse(send.input).at("token"), "Bearer $${ secrets.token }")
        << "is evaluated when the handler is called";
    EXPECT_TRUE(std::holds_alternative<HumanDecision>(graph.nodes.at(2).kind));
    EXPECT_EQ(graph.edges.at(0).handle, "loop");
    EXPECT_EQ(graph.edges.at(1).handle, "");
    EXPECT_EQ(graph.edges.at(1).to, "n1");
}

TEST(EditorGraph, comes_back_with_all_that_the_editor_needs) {
    const Json graph = Json::parse(kEditorGraph);
    const Definition definition = import_graph(graph);
    Json back = export_graph(definition);
    Json wanted = graph;
    wanted["edges"][1].erase("sourceHandle");
    EXPECT_EQ(back, wanted);
    EXPECT_EQ(import_graph(back), definition);
    EXPECT_EQ(definition_from_json(definition_to_json(definition)), definition);
}

TEST(EditorGraph, numbers_and_words_as_ids_stay_what_they_are) {
    const Json graph = {
        {"name", "w"},
        {"nodes",
         {{{"id", 7}, {"type", "a"}},
          {{"id", "true"}, {"type", "a"}},
          {{"id", "graph"}, {"type", "a"}},
          {{"id", "n7"}, {"type", "a"}}}},
        {"edges",
         {{{"source", 7}, {"target", "true"}},
          {{"source", "true"}, {"target", "graph"}},
          {{"source", "graph"}, {"target", "n7"}}}}
    };
    const Definition definition = import_graph(graph);
    const Json back = export_graph(definition);
    EXPECT_EQ(back.at("nodes").at(0).at("id"), 7);
    EXPECT_EQ(back.at("nodes").at(1).at("id"), "true");
    EXPECT_EQ(back.at("nodes").at(3).at("id"), "n7");
    EXPECT_EQ(back.at("edges"), graph.at("edges"));
    EXPECT_EQ(import_graph(back), definition);
}

TEST(EditorGraph, begins_at_the_only_node_that_no_edge_leads_to) {
    Json graph = Json::parse(kEditorGraph);
    graph.erase("entry");
    EXPECT_EQ(problems_of(graph), "/nodes:no_entry");
    EXPECT_EQ(problems_of(graph, {.entry = "1"}), "");
    graph["edges"].erase(1);
    EXPECT_EQ(problems_of(graph), "");
    graph["edges"].erase(1);
    EXPECT_EQ(problems_of(graph), "/nodes:ambiguous_entry");
    EXPECT_EQ(problems_of(graph, {.entry = "missing"}), "/entry:unknown_node");
}

TEST(EditorGraph, gets_what_is_wrong_and_where) {
    EXPECT_EQ(problems_of(Json::array()), ":wrong_type");
    EXPECT_EQ(problems_of(Json::object()), "/nodes:wrong_type");
    EXPECT_EQ(problems_of(changed("/edges", 5)), "/edges:wrong_type");
    EXPECT_EQ(problems_of(changed("/nodes/0", 5)), "/nodes/0:wrong_type");
    EXPECT_EQ(problems_of(changed("/edges/0", 5)), "/edges/0:wrong_type");
    EXPECT_EQ(problems_of(changed("/edges/0/target", "9")), "/edges/0/target:unknown_node");
    EXPECT_EQ(problems_of(changed("/nodes/1/type", "")), "/nodes/1/type:missing_key");
    EXPECT_EQ(problems_of(changed("/nodes/2/data", 5)), "/nodes/2/data:wrong_type");
    EXPECT_EQ(problems_of(changed("/nodes/1/ebb", 5)), "/nodes/1/ebb:wrong_type");
    EXPECT_EQ(problems_of(changed("/name", "")), "/name:invalid_name");
}

TEST(EditorGraph, gets_the_definitions_problems_at_its_own_places) {
    EXPECT_EQ(
        problems_of(changed("/nodes/0/data", "${ inptu }")), "/nodes/0/data:unknown_variable"
    );
    EXPECT_EQ(problems_of(changed("/nodes/0/type", "two words")), "/nodes/0/type:invalid_name");
    EXPECT_EQ(
        problems_of(changed("/edges/1/sourceHandle", std::string(129, 'x'))),
        "/edges/1/sourceHandle:invalid_name"
    );
    EXPECT_EQ(problems_of(changed("/ebb/deadline", "soon")), "/ebb/deadline:invalid_duration");
    EXPECT_EQ(problems_of(changed("/nodes/2/data/quorum", 65)), "/nodes/2/quorum:out_of_range");
}

TEST(EditorGraph, only_a_graph_can_be_exported) {
    const Definition flow = WorkflowBuilder("flow").step("a").step("b").build();
    EXPECT_THROW(export_graph(flow), Error);
    EXPECT_FALSE(is_editor_graph(definition_to_json(flow)));
    EXPECT_TRUE(is_editor_graph(Json::parse(kEditorGraph)));
}

TEST(EditorGraph, a_graph_that_was_built_can_be_exported) {
    WorkflowBuilder builder("built");
    builder
        .graph(
            "g",
            [](BlockBuilder& nodes) {
                nodes.step("a").next("output.way").metadata(R"({"position": {"x": 1}})");
                nodes.delay("wait", std::chrono::seconds(5));
            }
        )
        .edge("a", "later", "wait")
        .edge("wait", "a")
        .complete_unmatched();
    const Json graph = export_graph(builder.build());
    EXPECT_EQ(graph.at("nodes").at(0).at("position"), Json({{"x", 1}}));
    EXPECT_EQ(graph.at("nodes").at(0).at("ebb").at("next"), "output.way");
    EXPECT_EQ(graph.at("nodes").at(1).at("type"), "ebb:delay");
    EXPECT_EQ(graph.at("unmatched"), "complete");
    EXPECT_NO_THROW(import_graph(graph));
}

TEST(GraphLimits, a_graph_has_at_most_so_many_edges) {
    Definition definition =
        WorkflowBuilder("w").graph("g", [](BlockBuilder& nodes) { nodes.step("a"); }).build();
    auto& graph = std::get<NodeGraph>(definition.steps.at(0).kind);
    for (std::size_t i = 0; i < DefinitionLimits::kEdgesMax; ++i) {
        graph.edges.push_back({.from = "a", .handle = "h" + std::to_string(i)});
    }
    for (const Diagnostic& problem : validate(definition)) {
        EXPECT_EQ(problem.code, "definition_too_large");
    }
    graph.edges.push_back({.from = "a", .handle = "more"});
    ASSERT_EQ(validate(definition).size(), 1u);
    EXPECT_EQ(validate(definition).at(0).code, "too_many_edges");
}

}  // namespace
}  // namespace ebb::test
