#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lsp/features/refactoring.h"

namespace ebb::lsp {

namespace {

using yaml::TreeNode;
using yaml::TreeRange;
using Kind = TreeNode::Kind;
using Style = model::Document::Style;

/// Nothing longer than this is put on one line.
constexpr std::size_t kLineBytesMax = 100;

std::string indent(std::size_t columns) {
    return std::string(columns, ' ');
}

class Rewrites : public Refactoring {
 public:
    using Refactoring::Refactoring;

    void run() {
        const int inner = tree_.innermost(selection_.begin);
        if (inner < 0 || is_in_payload(tree_, inner)) return;
        for (int node = inner; node > 0; node = tree_.at(node).parent) {
            if (!is_node_item(tree_, node)) continue;
            rewrite_node(node);
            break;
        }
        for (int node = inner; node > 0; node = tree_.at(node).parent) {
            if (tree_.at(node).kind != Kind::List || !has_nodes(node)) continue;
            rewrite_list(node);
            break;
        }
        if (selection_.end > selection_.begin) wrap();
        rewrite_graph(inner);
    }

 private:
    void add(std::string title, const std::vector<TextEdit>& edits) {
        Refactoring::add(std::move(title), kRewriteKind, edits);
    }

    bool is_block_item(int item) const {
        const TreeNode& list = tree_.at(tree_.at(item).parent);
        return !list.is_flow;
    }

    void rewrite_node(int item) {
        const TreeNode& here = tree_.at(item);
        if (here.kind == Kind::Scalar) return write_step(item);
        if (here.kind != Kind::Map) return;
        const bool is_step_only =
            here.children.size() == 1 && tree_.key(here.children.front()) == "step";
        if (is_step_only) shorten_step(item);
        if (!is_block_item(item)) return;
        if (here.is_flow) {
            write_lines(item);
        } else if (!is_step_only) {
            write_line(item);
        }
    }

    void write_step(int item) {
        const auto value = parts_.written(item);
        if (!value) return;
        const std::string word = parts_.slice(*value);
        const std::string text =
            is_block_item(item) ? "step: " + word : fmt::format("{{step: {}}}", word);
        add(fmt::format("Write as \"step: {}\"", word), {{value->begin, value->end, text}});
    }

    void shorten_step(int item) {
        const TreeNode& here = tree_.at(item);
        const auto value = parts_.written(here.children.front());
        if (!value || tree_.at(here.children.front()).kind != Kind::Scalar) return;
        const std::string word = parts_.slice(*value);
        const TreeRange range =
            here.is_flow
                ? here.value
                : TreeRange{
                      .begin = tree_.at(here.children.front()).whole.begin, .end = value->end
                  };
        if (!parts_.is_blank(here.whole.begin, range.begin)) return;
        add(fmt::format("Shorten to \"{}\"", word), {{range.begin, range.end, word}});
    }

    /// A node in braces becomes one with a line for each key.
    void write_lines(int item) {
        const auto range = parts_.written(item);
        if (!range) return;
        const std::size_t column = parts_.column(range->begin);
        std::string text;
        for (const int child : tree_.at(item).children) {
            const auto member = parts_.written_member(child);
            if (!member) return;
            if (!text.empty()) text += parts_.line_break() + indent(column);
            text += parts_.slice(*member);
        }
        if (text.empty()) return;
        add("Write on several lines", {{range->begin, range->end, text}});
    }

    void write_line(int item) {
        const TreeNode& here = tree_.at(item);
        if (here.children.empty() || has_comments(item)) return;
        std::string text;
        for (const int child : here.children) {
            const auto member = parts_.written_member(child);
            if (!member || !fits_in_flow(child)) return;
            text += (text.empty() ? "" : ", ") + parts_.slice(*member);
        }
        const std::size_t begin = tree_.at(here.children.front()).whole.begin;
        const std::size_t end = parts_.end_of(here.children.back());
        if (!parts_.is_blank(here.whole.begin, begin) || text.size() > kLineBytesMax) return;
        add("Write on one line", {{begin, end, "{" + text + "}"}});
    }

    void rewrite_list(int list) {
        const TreeNode& here = tree_.at(list);
        if (!here.has_colon || tree_.at(here.parent).is_flow) return;
        const std::string key = tree_.key(list);
        const std::size_t colon = text().find(':', here.key.end) + 1;
        std::string text;
        if (here.is_flow) {
            if (!parts_.written(list)) return;
            const std::size_t column = parts_.column(here.whole.begin) + 2;
            for (const int child : here.children) {
                const auto value = parts_.written(child);
                if (!value) return;
                text += parts_.line_break() + indent(column) + "- " + parts_.slice(*value);
            }
            add(fmt::format("Write the nodes of \"{}\" on several lines", key),
                {{colon, here.value.end, text}});
            return;
        }
        if (has_comments(list) || !parts_.is_blank(colon, here.value.begin)) return;
        for (const int child : here.children) {
            const auto value = parts_.written(child);
            if (!value || !fits_in_flow(child)) return;
            text += (text.empty() ? " [" : ", ") + parts_.slice(*value);
        }
        if (text.size() > kLineBytesMax) return;
        add(fmt::format("Write the nodes of \"{}\" on one line", key),
            {{colon, parts_.end_of(here.children.back()), text + "]"}});
    }

    /// The nodes of one block list that the selection touches.
    std::vector<int> selected() const {
        int list = tree_.innermost(selection_.begin);
        for (; list > 0; list = tree_.at(list).parent) {
            const TreeNode& here = tree_.at(list);
            const bool is_around = here.kind == Kind::List && !here.is_flow && has_nodes(list) &&
                                   selection_.end <= parts_.line_end(parts_.end_of(list)) + 1;
            if (is_around) break;
        }
        std::vector<int> items;
        if (list <= 0) return items;
        for (const int child : tree_.at(list).children) {
            const bool is_touched = tree_.at(child).whole.begin < selection_.end &&
                                    parts_.end_of(child) > selection_.begin;
            if (is_touched) items.push_back(child);
        }
        return items;
    }

    /// The lines of the nodes `from` to `to`, further right.
    std::string moved(int from, int to, std::size_t columns) const {
        const std::size_t begin = parts_.line_begin(tree_.at(from).whole.begin);
        const std::size_t end = parts_.line_end(parts_.end_of(to));
        std::string moved;
        for (std::size_t at = begin; at < end;) {
            const std::size_t next = std::min(text().find('\n', at), end);
            const std::string_view line = text().substr(at, next - at);
            const bool is_empty = line.find_first_not_of(" \t\r") == std::string_view::npos;
            if (at > begin) moved += '\n';
            if (!is_empty) moved += indent(columns);
            moved += line;
            at = next + 1;
        }
        return moved;
    }

    void wrap() {
        const std::vector<int> items = selected();
        if (items.empty()) return;
        const std::size_t dash = tree_.at(items.front()).whole.begin;
        const std::size_t begin = parts_.line_begin(dash);
        if (text().substr(begin, dash - begin).find_first_not_of(' ') != std::string_view::npos) {
            return;
        }
        const std::size_t end = parts_.line_end(parts_.end_of(items.back()));
        const std::string here = indent(dash - begin);
        const std::string in = indent(dash - begin + 2);
        const std::string& eol = parts_.line_break();
        const std::string inside = moved(items.front(), items.back(), 4);
        const std::string condition = parts_.free_name("check");
        add("Put into a condition",
            {{begin,
              end,
              here + "- condition: " + condition + eol + in + "when: workflow.input.enabled" + eol +
                  in + "then:" + eol + inside}});
        const std::string loop = parts_.free_name("repeat");
        add("Put into a loop",
            {{begin,
              end,
              here + "- loop: " + loop + eol + in + "until: workflow.input.enabled" + eol + in +
                  "max_iterations: 10" + eol + in + "do:" + eol + inside}});
        if (items.size() < 2) return;
        std::string branches;
        for (const int item : items) {
            const bool is_savepoint = tree_.find(item, "savepoint") >= 0;
            if (name_of(item).empty() || is_savepoint) return;
            branches += eol + indent(dash - begin + 4) + yaml_word(name_of(item)) + ":" + eol +
                        moved(item, item, 6);
        }
        add("Run at the same time, in a parallel",
            {{begin,
              end,
              here + "- parallel: " + parts_.free_name("together") + eol + in +
                  "branches:" + branches}});
    }

    void rewrite_graph(int inner) {
        const int member = inner > 0 && tree_.at(inner).parent == 0 ? inner : -1;
        const bool is_key = member >= 0 && selection_.begin <= tree_.at(member).key.end + 1;
        if (!is_key) return;
        if (tree_.key(member) == "steps") join_by_edges(member);
        if (tree_.key(member) == "nodes" || tree_.key(member) == "edges") write_in_a_row();
    }

    void join_by_edges(int steps) {
        const TreeNode& here = tree_.at(steps);
        if (here.kind != Kind::List || here.is_flow) return;
        std::string edges;
        for (std::size_t i = 0; i < here.children.size(); ++i) {
            const int item = here.children[i];
            if (name_of(item).empty()) return;
            if (i + 1 == here.children.size()) break;
            if (tree_.find(item, "fail") >= 0) return;
            edges += fmt::format(
                "{}  - {{from: {}, to: {}}}",
                parts_.line_break(),
                yaml_word(name_of(item)),
                yaml_word(name_of(here.children[i + 1]))
            );
        }
        if (edges.empty()) return;
        const std::size_t end = parts_.line_end(parts_.end_of(steps));
        add("Join the steps by edges",
            {{here.key.begin, here.key.end, "nodes"},
             {end, end, parts_.line_break() + "edges:" + edges}});
    }

    /// If the edges say no more than the order of the nodes.
    void write_in_a_row() {
        const int nodes = tree_.find(0, "nodes");
        const int edges = tree_.find(0, "edges");
        if (nodes < 0 || edges < 0 || tree_.at(nodes).kind != Kind::List) return;
        const std::vector<int>& items = tree_.at(nodes).children;
        const std::vector<int>& joins = tree_.at(edges).children;
        if (items.size() != joins.size() + 1) return;
        std::set<std::pair<std::string, std::string>> wanted;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const bool reads_handles = tree_.find(items[i], "next") >= 0;
            if (name_of(items[i]).empty() || reads_handles) return;
            if (i > 0) wanted.insert({name_of(items[i - 1]), name_of(items[i])});
        }
        for (const int join : joins) {
            const int from = tree_.find(join, "from");
            const int to = tree_.find(join, "to");
            const bool is_plain = tree_.at(join).children.size() == 2 && from >= 0 && to >= 0;
            if (!is_plain || wanted.erase({tree_.scalar(from), tree_.scalar(to)}) == 0) return;
        }
        const int entry = tree_.find(0, "entry");
        if (entry >= 0 && tree_.scalar(entry) != name_of(items.front())) return;
        const TreeRange& key = tree_.at(nodes).key;
        std::vector<TextEdit> edits = {{key.begin, key.end, "steps"}};
        for (const int member : {edges, entry, tree_.find(0, "unmatched")}) {
            if (member < 0) continue;
            const auto edit = parts_.without_member(member);
            if (!edit) return;
            edits.push_back(*edit);
        }
        add("Write the steps in a row, without edges", edits);
    }
};

}  // namespace

void add_rewrites(const Document& document, const Selection& selection, Json& actions) {
    if (document.kind() != source::TextKind::Workflow) return;
    Rewrites(document, selection, actions).run();
}

}  // namespace ebb::lsp
