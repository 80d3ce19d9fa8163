#pragma once

#include <map>
#include <set>
#include <string>

#include "core/model/check.h"
#include "core/model/check_expressions.h"
#include "core/model/walk.h"

namespace ebb::model {

/// Judges the nodes one by one.
class NodeChecker {
 public:
    /// All must outlive it.
    NodeChecker(Findings& findings, const Walk& walk, ExpressionChecker& expressions)
        : findings_(findings), walk_(walk), expressions_(expressions) {}

    void check(int number);

 private:
    Findings& findings_;
    const Walk& walk_;
    ExpressionChecker& expressions_;
    std::set<std::string_view> names_;
    std::map<std::string_view, const Node*> signal_schemas_;  ///< signal -> its first schema
    // The node that is being checked.
    int number_ = -1;
    std::string path_;

    const Placed& here() const { return walk_.at(number_); }

    void note(std::string code, std::string_view key, std::string message);
    void check_own_name();
    void check_metadata(const std::string& key, const Payload& metadata);
    void check_reachable();
    void check_range(
        std::string_view key, std::int64_t value, std::int64_t least, std::int64_t most
    );
    /// An `on_deadline` other than fail says nothing without a deadline.
    void check_deadline(Duration deadline, bool has_outcome);

    void check_kind(const Step& step);
    void check_kind(const Condition& condition);
    void check_kind(const Switch& choice);
    void check_kind(const Parallel& parallel);
    void check_kind(const Loop& loop);
    void check_kind(const Delay& delay);
    void check_kind(const HumanDecision& decision);
    void check_kind(const Signal& signal);
    void check_kind(const Savepoint& savepoint);
    void check_kind(const Fail& fail);
    void check_kind(const NodeGraph& graph);
    void check_kind(const Sequence& sequence);

    void check_branches(const Parallel& parallel);
    void check_roles(const HumanDecision& decision);
    void check_constant_time(std::string_view key, const std::string& text);
    bool runs_anything_after() const;

    // check_graph.cpp
    void check_edges(const NodeGraph& graph);
    void check_edge(const NodeGraph::Edge& edge, const std::string& key);
    int find_in_graph(const std::string& key, const std::string& name);
    void check_handle(const std::string& key, int from, const std::string& handle);
    void check_ways(const NodeGraph& graph);

    bool is_in_graph() const { return here().parent >= 0 && walk_.is_a<NodeGraph>(here().parent); }
};

}  // namespace ebb::model
