#include "core/model/difference.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/model/walk.h"
#include "core/model/writer.h"

namespace ebb::model {

namespace {

using Ordered = nlohmann::ordered_json;

/// Lists of nodes inside a node: they are compared node by node.
constexpr std::array<std::string_view, 7> kBlockKeys = {
    "then", "else", "default", "do", "on_reject", "nodes", "steps"
};

std::string child(const std::string& pointer, const std::string& key) {
    std::string out = pointer + '/';
    for (const char c : key) {
        if (c == '~') {
            out += "~0";
        } else if (c == '/') {
            out += "~1";
        } else {
            out += c;
        }
    }
    return out;
}

/// Finds what differs between two values. Maps are compared key by key, lists of the same length
/// element by element; of other lists, what only one of them has.
class FieldCompare {
 public:
    std::vector<FieldChange> run(const Ordered& before, const Ordered& after) {
        compare({}, before, after);
        return std::move(changes_);
    }

 private:
    std::vector<FieldChange> changes_;

    void add(std::string pointer, const Ordered* before, const Ordered* after) {
        FieldChange change{.pointer = std::move(pointer)};
        if (before != nullptr) change.before = before->dump();
        if (after != nullptr) change.after = after->dump();
        changes_.push_back(std::move(change));
    }

    void compare(const std::string& pointer, const Ordered& before, const Ordered& after) {
        if (before == after) return;
        if (before.is_object() && after.is_object()) return compare_maps(pointer, before, after);
        if (before.is_array() && after.is_array()) return compare_lists(pointer, before, after);
        add(pointer, &before, &after);
    }

    void compare_maps(const std::string& pointer, const Ordered& before, const Ordered& after) {
        for (const auto& [key, value] : before.items()) {
            const auto other = after.find(key);
            if (other == after.end()) {
                add(child(pointer, key), &value, nullptr);
            } else {
                compare(child(pointer, key), value, *other);
            }
        }
        for (const auto& [key, value] : after.items()) {
            if (!before.contains(key)) add(child(pointer, key), nullptr, &value);
        }
    }

    void compare_lists(const std::string& pointer, const Ordered& before, const Ordered& after) {
        if (before.size() == after.size()) {
            for (std::size_t i = 0; i < before.size(); ++i) {
                compare(child(pointer, std::to_string(i)), before[i], after[i]);
            }
            return;
        }
        const std::size_t found = changes_.size();
        add_only_in(pointer, before, after, true);
        add_only_in(pointer, after, before, false);
        // The same elements another number of times.
        if (changes_.size() == found) add(pointer, &before, &after);
    }

    void add_only_in(
        const std::string& pointer, const Ordered& list, const Ordered& other, bool is_before
    ) {
        std::set<std::string> texts;
        for (const Ordered& element : other) texts.insert(element.dump());
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (texts.contains(list[i].dump())) continue;
            const std::string at = child(pointer, std::to_string(i));
            add(at, is_before ? &list[i] : nullptr, is_before ? nullptr : &list[i]);
        }
    }
};

/// Takes the blocks out of a node.
Ordered without_blocks(Ordered node) {
    for (const std::string_view key : kBlockKeys) {
        const auto found = node.find(key);
        if (found == node.end() || !found->is_array()) continue;
        if (key == "on_reject") {
            *found = Ordered::array();  // an empty block means something else than none
        } else {
            node.erase(found);
        }
    }
    for (const char* key : {"cases", "branches"}) {
        const auto found = node.find(key);
        if (found == node.end() || !found->is_array()) continue;
        for (Ordered& lane : *found) {
            if (lane.is_object()) lane.erase("do");
        }
    }
    return node;
}

/// A workflow with what is needed to compare its nodes.
class Side {
 public:
    explicit Side(const Definition& definition)
        : walk_(definition), json_(write_definition(definition)) {
        std::map<std::string, int> count;
        for (std::size_t i = 0; i < walk_.nodes().size(); ++i) {
            const std::string& name = walk_.nodes()[i].node->name;
            // Names of an invalid workflow can occur more than once.
            keys_.emplace_back(name, count[name]++);
            by_key_.emplace(keys_.back(), static_cast<int>(i));
        }
    }

    using Key = std::pair<std::string, int>;

    const std::vector<Placed>& nodes() const { return walk_.nodes(); }

    const Placed& at(int number) const { return walk_.at(number); }

    const Key& key(int number) const { return keys_[static_cast<std::size_t>(number)]; }

    int find(const Key& key) const {
        const auto found = by_key_.find(key);
        return found == by_key_.end() ? -1 : found->second;
    }

    /// Which block of which node it is in, in words that do not depend on positions.
    std::string container(int number) const {
        const Placed& placed = at(number);
        if (placed.parent < 0) return {};
        const Placed& parent = at(placed.parent);
        std::string block = std::to_string(placed.block);
        if (const auto* parallel = std::get_if<Parallel>(&parent.node->kind)) {
            const auto branch = static_cast<std::size_t>(placed.block);
            if (branch < parallel->branches.size()) block = parallel->branches[branch].name;
        }
        return parent.node->name + '\n' + block;
    }

    /// The node without its name and its blocks.
    Ordered fields(int number) const {
        const std::string& path = at(number).path;
        const Ordered::json_pointer pointer(path);
        Ordered node = json_.contains(pointer) ? json_.at(pointer) : Ordered::object();
        node = without_blocks(std::move(node));
        node.erase(std::string(kind_name(*at(number).node)));
        node.erase("trigger");
        return node;
    }

    /// What is not a node.
    Ordered head() const {
        Ordered head = json_;
        head.erase("steps");
        if (head.contains("rules")) {
            Ordered& rules = head["rules"];
            rules.erase("triggers");
            if (rules.contains("on_exception") && rules["on_exception"].is_object()) {
                rules["on_exception"] = "a handler";
            }
        }
        return head;
    }

 private:
    Walk walk_;
    Ordered json_;
    std::vector<Key> keys_;
    std::map<Key, int> by_key_;
};

/// The elements that are not part of a longest increasing subsequence.
std::vector<std::size_t> out_of_order(const std::vector<int>& values) {
    std::vector<std::size_t> tails;
    std::vector<std::size_t> previous(values.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto place = std::lower_bound(
            tails.begin(),
            tails.end(),
            values[i],
            [&](std::size_t tail, int value) { return values[tail] < value; }
        );
        if (place != tails.begin()) previous[i] = *(place - 1);
        if (place == tails.end()) {
            tails.push_back(i);
        } else {
            *place = i;
        }
    }
    std::vector<bool> is_in_order(values.size());
    for (std::size_t i = tails.empty() ? values.size() : tails.back(); i < values.size();
         i = previous[i]) {
        is_in_order[i] = true;
    }
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!is_in_order[i]) others.push_back(i);
    }
    return others;
}

class Comparison {
 public:
    Comparison(const Definition& before, const Definition& after)
        : before_(before), after_(after) {}

    Difference run() {
        Difference difference;
        difference.workflow = FieldCompare().run(before_.head(), after_.head());
        find_moved();
        const auto& nodes = after_.nodes();
        add_removed_after(-1, difference.nodes);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const int number = static_cast<int>(i);
            const int old = before_.find(after_.key(number));
            if (old < 0) {
                add(difference.nodes, NodeChange::Kind::Added, -1, number);
            } else {
                add_if_changed(difference.nodes, old, number);
                add_removed_after(old, difference.nodes);
            }
        }
        return difference;
    }

 private:
    Side before_;
    Side after_;
    std::set<int> moved_;  ///< numbers in after_

    void find_moved() {
        std::map<std::string, std::vector<int>> same_block;
        for (std::size_t i = 0; i < after_.nodes().size(); ++i) {
            const int number = static_cast<int>(i);
            const int old = before_.find(after_.key(number));
            if (old < 0) continue;
            const std::string container = after_.container(number);
            if (container != before_.container(old)) {
                moved_.insert(number);
            } else {
                same_block[container].push_back(number);
            }
        }
        for (const auto& [container, numbers] : same_block) {
            std::vector<int> old;
            for (const int number : numbers) old.push_back(before_.find(after_.key(number)));
            for (const std::size_t i : out_of_order(old)) moved_.insert(numbers[i]);
        }
    }

    void add(std::vector<NodeChange>& changes, NodeChange::Kind kind, int old, int number) const {
        const Placed& placed = number < 0 ? before_.at(old) : after_.at(number);
        changes.push_back(
            {.kind = kind,
             .name = placed.node->name,
             .node_kind = std::string(kind_name(*placed.node)),
             .pointer_before = old < 0 ? std::string() : before_.at(old).path,
             .pointer_after = number < 0 ? std::string() : after_.at(number).path,
             .is_moved = number >= 0 && moved_.contains(number)}
        );
    }

    void add_if_changed(std::vector<NodeChange>& changes, int old, int number) const {
        std::vector<FieldChange> fields =
            FieldCompare().run(before_.fields(old), after_.fields(number));
        const std::string_view was = kind_name(*before_.at(old).node);
        const std::string_view is = kind_name(*after_.at(number).node);
        if (was != is) {
            fields.insert(
                fields.begin(),
                {.pointer = "/kind",
                 .before = Ordered(std::string(was)).dump(),
                 .after = Ordered(std::string(is)).dump()}
            );
        }
        if (fields.empty() && !moved_.contains(number)) return;
        add(changes,
            fields.empty() ? NodeChange::Kind::Moved : NodeChange::Kind::Changed,
            old,
            number);
        changes.back().fields = std::move(fields);
    }

    /// The removed nodes that follow the node `old` (-1: the beginning).
    void add_removed_after(int old, std::vector<NodeChange>& changes) const {
        const auto count = static_cast<int>(before_.nodes().size());
        for (int i = old + 1; i < count && after_.find(before_.key(i)) < 0; ++i) {
            add(changes, NodeChange::Kind::Removed, i, -1);
        }
    }
};

/// Puts the removed nodes into the second workflow.
class Merge {
 public:
    explicit Merge(const Definition& after) {
        const Walk walk(after);
        for (const Placed& placed : walk.nodes()) names_.insert(placed.node->name);
    }

    void run(const Block& before, Block& after) {
        std::string last;
        bool has_last = false;
        for (const Node& node : before) {
            if (names_.contains(node.name)) {
                last = node.name;
                has_last = true;
                merge_same(node, after);
                continue;
            }
            Node removed = node;
            keep_removed(removed);
            auto place = after.begin();
            if (has_last) {
                place = std::find_if(after.begin(), after.end(), [&](const Node& other) {
                    return other.name == last;
                });
                if (place != after.end()) ++place;
            }
            after.insert(place, std::move(removed));
            last = node.name;
            has_last = true;
        }
    }

 private:
    std::set<std::string> names_;

    void merge_same(const Node& node, Block& after) {
        const auto other = std::find_if(after.begin(), after.end(), [&](const Node& candidate) {
            return candidate.name == node.name;
        });
        if (other == after.end() || other->kind.index() != node.kind.index()) return;
        std::map<std::string, const Block*> blocks;
        visit_blocks(node, [&](const Block& block, const std::string& path) {
            blocks[path] = &block;
        });
        visit_blocks(*other, [&](Block& block, const std::string& path) {
            const auto found = blocks.find(path);
            if (found != blocks.end()) run(*found->second, block);
        });
        const auto* graph = std::get_if<NodeGraph>(&node.kind);
        if (graph != nullptr) merge_edges(*graph, std::get<NodeGraph>(other->kind));
    }

    void merge_edges(const NodeGraph& before, NodeGraph& after) const {
        for (const NodeGraph::Edge& edge : before.edges) {
            const bool is_removed =
                !names_.contains(edge.from) || (!edge.to.empty() && !names_.contains(edge.to));
            const auto has = [&](const std::string& name) {
                return std::any_of(after.nodes.begin(), after.nodes.end(), [&](const Node& node) {
                    return node.name == name;
                });
            };
            const bool has_ends = has(edge.from) && (edge.to.empty() || has(edge.to));
            if (is_removed && has_ends) after.edges.push_back(edge);
        }
    }

    /// Of the blocks of a removed node only what was removed with it.
    void keep_removed(Node& node) {
        visit_blocks(node, [&](Block& block, const std::string&) {
            std::erase_if(block, [&](const Node& inner) { return names_.contains(inner.name); });
            for (Node& inner : block) keep_removed(inner);
        });
        auto* graph = std::get_if<NodeGraph>(&node.kind);
        if (graph == nullptr) return;
        std::erase_if(graph->edges, [&](const NodeGraph::Edge& edge) {
            return names_.contains(edge.from) || names_.contains(edge.to);
        });
        if (names_.contains(graph->entry)) graph->entry.clear();
    }
};

}  // namespace

std::string_view to_string(NodeChange::Kind kind) {
    switch (kind) {
        case NodeChange::Kind::Added:
            return "added";
        case NodeChange::Kind::Removed:
            return "removed";
        case NodeChange::Kind::Changed:
            return "changed";
        case NodeChange::Kind::Moved:
            return "moved";
    }
    return {};
}

Difference compare(const Definition& before, const Definition& after) {
    Difference difference = Comparison(before, after).run();
    difference.needs_version =
        !difference.is_empty() && before.name == after.name && before.version == after.version;
    return difference;
}

Definition with_removed_nodes(const Definition& before, const Definition& after) {
    Definition merged = after;
    if (before.rules || after.rules) return merged;
    Merge(after).run(before.steps, merged.steps);
    return merged;
}

}  // namespace ebb::model
