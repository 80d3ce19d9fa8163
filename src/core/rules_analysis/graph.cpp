#include "core/rules_analysis/graph.h"

#include <algorithm>
#include <utility>

namespace ebb::rules_analysis {

namespace {

using Vertex = std::int32_t;

/// The neighbors of each node, one after another.
struct Neighbors {
    std::vector<std::size_t> first;
    std::vector<Vertex> all;

    Neighbors(const Search& search, bool is_backward) : first(search.node_count() + 1, 0) {
        for (const Search::Edge& edge : search.edges()) {
            ++first[static_cast<std::size_t>(is_backward ? edge.to : edge.from) + 1];
        }
        for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
        all.resize(search.edges().size());
        std::vector<std::size_t> next(first.begin(), first.end() - 1);
        for (const Search::Edge& edge : search.edges()) {
            const auto here = static_cast<std::size_t>(is_backward ? edge.to : edge.from);
            all[next[here]++] = is_backward ? edge.from : edge.to;
        }
    }
};

/// Tarjan's algorithm, without recursion.
class Parts {
 public:
    explicit Parts(const Search& search)
        : neighbors_(search, false),
          index_(search.node_count(), -1),
          low_(search.node_count(), 0),
          part_(search.node_count(), -1) {
        for (std::size_t i = 0; i < index_.size(); ++i) {
            if (index_[i] < 0) visit(static_cast<Vertex>(i));
        }
    }

    /// By node.
    const std::vector<std::int32_t>& parts() const { return part_; }

    std::int32_t count() const { return count_; }

 private:
    Neighbors neighbors_;
    std::vector<std::int32_t> index_;
    std::vector<std::int32_t> low_;
    std::vector<std::int32_t> part_;
    std::vector<Vertex> stack_;
    std::int32_t next_index_ = 0;
    std::int32_t count_ = 0;

    struct Frame {
        Vertex node;
        std::size_t at;
    };

    static std::size_t at(Vertex node) { return static_cast<std::size_t>(node); }

    void enter(std::vector<Frame>& frames, Vertex node) {
        index_[at(node)] = low_[at(node)] = next_index_++;
        stack_.push_back(node);
        frames.push_back({node, neighbors_.first[at(node)]});
    }

    void leave(std::vector<Frame>& frames) {
        const Vertex node = frames.back().node;
        frames.pop_back();
        if (!frames.empty()) {
            auto& above = low_[at(frames.back().node)];
            above = std::min(above, low_[at(node)]);
        }
        if (low_[at(node)] != index_[at(node)]) return;
        Vertex member = -1;
        do {
            member = stack_.back();
            stack_.pop_back();
            part_[at(member)] = count_;
        } while (member != node);
        ++count_;
    }

    void visit(Vertex root) {
        std::vector<Frame> frames;
        enter(frames, root);
        while (!frames.empty()) {
            Frame& frame = frames.back();
            if (frame.at == neighbors_.first[at(frame.node) + 1]) {
                leave(frames);
                continue;
            }
            const Vertex next = neighbors_.all[frame.at++];
            if (index_[at(next)] < 0) {
                enter(frames, next);
            } else if (part_[at(next)] < 0) {
                auto& low = low_[at(frame.node)];
                low = std::min(low, index_[at(next)]);
            }
        }
    }
};

}  // namespace

std::vector<bool> nodes_that_reach(const Search& search, const std::vector<bool>& goals) {
    const Neighbors before(search, true);
    std::vector<bool> reaches = goals;
    std::vector<Vertex> open;
    for (std::size_t i = 0; i < goals.size(); ++i) {
        if (goals[i]) open.push_back(static_cast<Vertex>(i));
    }
    while (!open.empty()) {
        const auto node = static_cast<std::size_t>(open.back());
        open.pop_back();
        for (std::size_t i = before.first[node]; i < before.first[node + 1]; ++i) {
            const auto from = static_cast<std::size_t>(before.all[i]);
            if (reaches[from]) continue;
            reaches[from] = true;
            open.push_back(before.all[i]);
        }
    }
    return reaches;
}

std::vector<std::vector<std::int32_t>> endless_parts(const Search& search) {
    const Parts parts(search);
    const auto count = static_cast<std::size_t>(parts.count());
    std::vector<bool> is_left(count, false);
    std::vector<bool> has_edge(count, false);
    for (const Search::Edge& edge : search.edges()) {
        const auto from =
            static_cast<std::size_t>(parts.parts()[static_cast<std::size_t>(edge.from)]);
        const auto to = static_cast<std::size_t>(parts.parts()[static_cast<std::size_t>(edge.to)]);
        if (from == to) {
            has_edge[from] = true;
        } else {
            is_left[from] = true;
        }
    }
    std::vector<std::vector<std::int32_t>> members(count);
    for (std::size_t i = 0; i < search.node_count(); ++i) {
        const auto part = static_cast<std::size_t>(parts.parts()[i]);
        if (!is_left[part] && has_edge[part]) {
            members[part].push_back(static_cast<std::int32_t>(i));
        }
    }
    std::erase_if(members, [](const auto& part) { return part.empty(); });
    return members;
}

}  // namespace ebb::rules_analysis
