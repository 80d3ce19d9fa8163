#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/kernel/transition.h"
#include "support/json.h"

namespace ebb::kernel {

namespace {

std::string asked_handle(const Transition& t, const Token& token, const Payload& output) {
    const ProgramNode& node = t.node_of(token);
    if (!node.handle) return {};
    const Json handle = node.handle->evaluate(TokenVariables(t, token, output));
    if (handle.is_null()) return {};
    if (handle.is_string()) return handle.get<std::string>();
    throw ExpressionError(
        fmt::format(
            "\"next\" of \"{}\" gave {}; allowed is the name of a handle, or null for the default "
            "edge.",
            node.name,
            clean_text(to_text(handle), 200)
        ),
        "",
        1,
        1
    );
}

/// A failure that repeats forever must not be led around in a circle.
bool may_be_caught(const Failure& failure) {
    return failure.code != "step_budget";
}

}  // namespace

Way way_of(const Transition& t, const Token& token, const event::StepCompleted& e) {
    const ProgramNode& node = t.node_of(token);
    Way way{.handle = e.handle.empty() ? asked_handle(t, token, e.output) : e.handle};
    if (way.handle.empty()) {
        way.target = node.next;
    } else if (const ProgramNode::Edge* edge = node.find_edge(way.handle)) {
        way.target = edge->target;
    } else {
        way.target = node.graph_end;
        way.is_unmatched = !node.completes_unmatched;
    }
    return way;
}

Failure unmatched_failure(const Transition& t, const Token& token, const std::string& handle) {
    const ProgramNode& node = t.node_of(token);
    std::vector<std::string_view> known;
    for (const ProgramNode::Edge& edge : node.edges) known.push_back(edge.handle);
    const std::string shown = clean_text(handle, DefinitionLimits::kNameBytesMax);
    std::string why;
    if (!node.is_in_graph) {
        why = "the step is not a node of a graph, so there are no edges to choose from.";
    } else if (known.empty()) {
        why = "none of its edges has a handle.";
    } else {
        why = fmt::format("its edges have {}.", fmt::join(known, ", "));
    }
    return {
        .code = "unmatched_handle",
        .message = fmt::format("The result names the handle \"{}\", but {}", shown, why),
        .is_permanent = true,
    };
}

void leave_by(Transition& t, const Token& token, const ProgramNode::Edge& edge, Seq ref) {
    std::string payload = "{\"branch\":";
    append_json_string(payload, edge.handle);
    t.append_at(token, HistoryType::BranchTaken, ref, payload + "}");
    go_to(t, token, edge.target);
}

bool leave_by_error(Transition& t, Token& token, const Failure& failure, Seq cause) {
    const ProgramNode& node = t.node_of(token);
    if (node.edges.empty() || !may_be_caught(failure)) return false;
    const ProgramNode::Edge* edge = node.find_edge("error:" + failure.code);
    if (edge == nullptr) edge = node.find_edge("error");
    if (edge == nullptr) return false;
    token.input = cause;
    leave_by(t, token, *edge, cause);
    return true;
}

}  // namespace ebb::kernel
