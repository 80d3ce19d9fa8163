#include "lsp/features/text_parts.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lsp/features/names.h"
#include "support/json.h"

namespace ebb::lsp {

using yaml::TreeNode;
using yaml::TreeRange;
using Kind = TreeNode::Kind;
using Style = model::Document::Style;

TextParts::TextParts(const Document& document)
    : tree_(document.tree()),
      line_break_(document.text().find("\r\n") == std::string::npos ? "\n" : "\r\n") {}

std::optional<TreeRange> TextParts::written(int node) const {
    const TreeNode& here = tree_.at(node);
    TreeRange range = here.value;
    switch (here.kind) {
        case Kind::Missing:
            return std::nullopt;
        case Kind::Alias:
            break;
        case Kind::Scalar:
            if (here.style == Style::Literal || here.style == Style::Folded) return std::nullopt;
            if (here.style != Style::Plain) {
                const bool is_closed = range.begin > 0 && range.end < text().size() &&
                                       text()[range.begin - 1] == text()[range.end];
                if (!is_closed) return std::nullopt;
                --range.begin;
                ++range.end;
            }
            break;
        case Kind::Map:
        case Kind::List: {
            if (!here.is_flow) return std::nullopt;
            const char last = range.end > range.begin + 1 ? text()[range.end - 1] : '\0';
            if (last != '}' && last != ']') return std::nullopt;
            break;
        }
    }
    if (tree_.slice(range).find('\n') != std::string_view::npos) return std::nullopt;
    // Neither an anchor nor a tag stands before it.
    std::size_t from = here.whole.begin;
    if (here.has_colon) from = text().find(':', here.key.end) + 1;
    if (from > range.begin || !is_blank(from, range.begin)) return std::nullopt;
    return range;
}

std::optional<TreeRange> TextParts::written_member(int node) const {
    const TreeNode& here = tree_.at(node);
    const auto value = written(node);
    if (!value || !here.has_colon) return std::nullopt;
    const TreeRange range{.begin = here.whole.begin, .end = value->end};
    if (tree_.slice(range).find('\n') != std::string_view::npos) return std::nullopt;
    return range;
}

std::size_t TextParts::line_begin(std::size_t at) const {
    const std::size_t before = at == 0 ? std::string_view::npos : text().rfind('\n', at - 1);
    return before == std::string_view::npos ? 0 : before + 1;
}

std::size_t TextParts::line_end(std::size_t at) const {
    std::size_t end = std::min(text().find('\n', at), text().size());
    if (end > at && text()[end - 1] == '\r') --end;
    return end;
}

std::size_t TextParts::end_of(int node) const {
    const TreeNode& here = tree_.at(node);
    std::size_t end = std::max(here.whole.end, here.value.end);
    while (end > here.whole.begin &&
           std::string_view(" \t\r\n").find(text()[end - 1]) != std::string_view::npos)
        --end;
    return end;
}

bool TextParts::is_blank(std::size_t begin, std::size_t end) const {
    const std::string_view between = text().substr(begin, end - begin);
    return between.find_first_not_of(" \t\r\n-") == std::string_view::npos;
}

std::optional<TextEdit> TextParts::without_member(int node) const {
    const std::size_t begin = line_begin(tree_.at(node).whole.begin);
    const std::string_view before = text().substr(begin, tree_.at(node).whole.begin - begin);
    if (before.find_first_not_of(' ') != std::string_view::npos) return std::nullopt;
    const std::size_t end = text().find('\n', end_of(node));
    const bool is_last = end == std::string_view::npos;
    return TextEdit{.begin = begin, .end = is_last ? text().size() : end + 1};
}

std::string TextParts::free_name(const std::string& name) const {
    std::set<std::string, std::less<>> taken;
    for (const NamePlace& place : names_of(tree_)) {
        if (place.kind == NameKind::Node) taken.insert(place.name);
    }
    std::string free = name;
    for (int number = 2; taken.contains(free); ++number) free = fmt::format("{}_{}", name, number);
    return free;
}

std::string yaml_word(const std::string& name) {
    constexpr std::string_view kOthers = "_-.";
    const bool is_plain = !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return is_letter || (c >= '0' && c <= '9') || kOthers.find(c) != std::string_view::npos;
    });
    const bool is_letter_first =
        is_plain && ((name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z'));
    static const std::set<std::string, std::less<>> kMeaning = {
        "true", "false", "null", "True", "False", "Null", "TRUE", "FALSE", "NULL"
    };
    return is_letter_first && !kMeaning.contains(name) ? name : to_text(Json(name));
}

Json action_json(
    const Document& document,
    std::string title,
    std::string_view kind,
    const std::vector<TextEdit>& edits
) {
    Json list = Json::array();
    for (const TextEdit& edit : edits) {
        list.push_back(
            {{"range", range_json(document.lines(), edit.begin, edit.end)}, {"newText", edit.text}}
        );
    }
    return {
        {"title", std::move(title)},
        {"kind", kind},
        {"edit", {{"changes", {{document.uri(), std::move(list)}}}}}
    };
}

}  // namespace ebb::lsp
