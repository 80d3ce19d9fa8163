// A map with its keys in the order of the reference.

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lsp/features/refactoring.h"
#include "lsp/features/schema.h"

namespace ebb::lsp {

namespace {

using yaml::TreeNode;

class KeySorter : public Refactoring {
 public:
    using Refactoring::Refactoring;

    void run() {
        map_ = selected_map();
        if (map_ < 0 || !has_new_order() || has_anchor()) return;
        const auto edit = tree_.at(map_).is_flow ? sort_flow() : sort_lines();
        if (edit) add(fmt::format("Sort the keys of {}", title()), kRewriteKind, {*edit});
    }

 private:
    int map_ = -1;
    std::vector<int> sorted_{};  ///< the members in their new order

    const std::vector<int>& members() const { return tree_.at(map_).children; }

    /// The map that the key or the value under the cursor is in; -1 if it is not one of Ebb's.
    int selected_map() const {
        int node = tree_.innermost(selection_.begin);
        if (node > 0 && tree_.at(node).key.contains(selection_.begin)) node = tree_.at(node).parent;
        while (node > 0 && tree_.at(node).kind != TreeNode::Kind::Map) node = tree_.at(node).parent;
        const bool is_ours =
            node >= 0 && tree_.at(node).kind == TreeNode::Kind::Map && !is_in_payload(tree_, node);
        return is_ours ? node : -1;
    }

    bool has_new_order() {
        const std::vector<std::string> order = usual_order(schema_of(tree_, map_));
        const auto rank = [&](int member) {
            return std::find(order.begin(), order.end(), tree_.key(member)) - order.begin();
        };
        sorted_ = members();
        std::stable_sort(sorted_.begin(), sorted_.end(), [&](int a, int b) {
            return rank(a) < rank(b);
        });
        const bool are_complete = std::all_of(sorted_.begin(), sorted_.end(), [this](int member) {
            return tree_.at(member).has_colon;
        });
        return are_complete && !order.empty() && sorted_ != members();
    }

    /// An alias must not come before its anchor.
    bool has_anchor() const {
        const yaml::TreeRange& range = tree_.at(map_).value;
        const std::vector<NamePlace> names = names_of(tree_);
        return std::any_of(names.begin(), names.end(), [&](const NamePlace& place) {
            return place.kind == NameKind::Anchor && range.contains(place.begin);
        });
    }

    std::string title() const {
        if (map_ == 0) return "the workflow";
        const std::string name = is_node_item(tree_, map_) ? name_of(map_) : tree_.key(map_);
        return name.empty() ? "this entry" : fmt::format("\"{}\"", name);
    }

    std::optional<TextEdit> sort_flow() const {
        if (has_comments(map_)) return std::nullopt;
        std::string result;
        for (const int member : sorted_) {
            const auto written = parts_.written_member(member);
            if (!written) return std::nullopt;
            result += (result.empty() ? "" : ", ") + parts_.slice(*written);
        }
        const std::size_t begin = tree_.at(members().front()).whole.begin;
        const std::size_t end = parts_.end_of(members().back());
        if (text().substr(begin, end - begin).find('\n') != std::string_view::npos) {
            return std::nullopt;
        }
        return TextEdit{.begin = begin, .end = end, .text = std::move(result)};
    }

    /// The end of the last line of a member.
    std::size_t line_end_of(int member) const { return parts_.line_end(parts_.end_of(member)); }

    /// What stands between the line before a member and the member: comments and empty lines.
    std::string lead_of(int member) const {
        const std::uint32_t index = tree_.at(member).index;
        if (index == 0) return {};
        const std::size_t begin = text().find('\n', line_end_of(members()[index - 1])) + 1;
        return std::string(
            text().substr(begin, parts_.line_begin(tree_.at(member).whole.begin) - begin)
        );
    }

    /// Do the empty lines behind a text of several lines belong to it?
    bool keeps_empty_lines(int member) const {
        const TreeNode& here = tree_.at(member);
        const bool is_block = here.style == model::Document::Style::Literal ||
                              here.style == model::Document::Style::Folded;
        const std::size_t from = here.key.end;
        return is_block && here.value.begin > from &&
               text().substr(from, here.value.begin - from).find('+') != std::string_view::npos;
    }

    std::optional<TextEdit> sort_lines() const {
        const std::size_t begin = tree_.at(members().front()).whole.begin;
        const std::string indent(parts_.column(begin), ' ');
        std::string result;
        for (const int member : sorted_) {
            const std::size_t from = tree_.at(member).whole.begin;
            const std::size_t index = tree_.at(member).index;
            const std::string_view before =
                text().substr(parts_.line_begin(from), from - parts_.line_begin(from));
            const bool is_first_of_line =
                index == 0 || before.find_first_not_of(' ') == std::string_view::npos;
            if (!is_first_of_line || keeps_empty_lines(member)) return std::nullopt;
            const std::string lead = lead_of(member);
            // What comes first stands behind a dash, where no comment fits.
            const bool is_moved_up = result.empty() && index > 0;
            if (is_moved_up && lead.find('#') != std::string::npos) return std::nullopt;
            if (!result.empty()) result += parts_.line_break() + lead + indent;
            result += text().substr(from, line_end_of(member) - from);
        }
        return TextEdit{
            .begin = begin, .end = line_end_of(members().back()), .text = std::move(result)
        };
    }
};

}  // namespace

void add_key_sorting(const Document& document, const Selection& selection, Json& actions) {
    if (document.kind() != source::TextKind::Workflow) return;
    KeySorter(document, selection, actions).run();
}

}  // namespace ebb::lsp
