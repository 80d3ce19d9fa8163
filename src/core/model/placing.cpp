#include "core/model/placing.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/model/words.h"

namespace ebb::model {

namespace {

SourceRange between(const Place& from, const Place& to) {
    if (from.line == 0) return {};
    const bool has_end = to.line > from.line || (to.line == from.line && to.column >= from.column);
    const Place end = has_end ? to : from;
    return {
        .line = from.line, .column = from.column, .end_line = end.line, .end_column = end.column
    };
}

/// As a part of a plain or a quoted scalar, whatever the quotes are.
bool is_safe(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.' || c == '/';
    });
}

}  // namespace

SourceRange range_of(const Document& document) {
    const bool is_block = (document.is_list() || document.is_map()) && !document.is_flow;
    if (!is_block) return between(document.place, document.end);
    if (document.members.empty()) return between(document.place, document.place);
    return between(document.place, document.members.front().end);
}

SourceRange range_of_key(const Document::Member& member) {
    return between(member.place, member.end);
}

void set_range(Diagnostic& diagnostic, const SourceRange& range) {
    diagnostic.line = range.line;
    diagnostic.column = range.column;
    diagnostic.end_line = range.end_line;
    diagnostic.end_column = range.end_column;
}

void add_replacement(
    Diagnostic& diagnostic, const SourceRange& range, std::string_view old, std::string_view text
) {
    if (range.line == 0 || !is_safe(text)) return;
    diagnostic.fixes.push_back(
        {.title = fmt::format("Replace {} with {}", in_quotes(old), in_quotes(text)),
         .range = range,
         .replacement = std::string(text)}
    );
}

void add_missing_key(Diagnostic& diagnostic, const Document& map, std::string_view key) {
    if (!map.is_map() || map.members.empty()) return;
    const Document::Member& first = map.members.front();
    if (first.place.line == 0) return;
    std::string text = map.is_flow
                           ? fmt::format("{0}{1}{0}: \"\", ", first.is_quoted ? "\"" : "", key)
                           : fmt::format("{}: \n{:{}}", key, "", first.place.column - 1);
    // A quoted key stands inside of its quotes.
    const int column = first.place.column - (first.is_quoted ? 1 : 0);
    if (!map.is_flow && first.is_quoted) return;
    diagnostic.fixes.push_back(
        {.title = fmt::format("Add the key \"{}\"", key),
         .range =
             {.line = first.place.line,
              .column = column,
              .end_line = first.place.line,
              .end_column = column},
         .replacement = std::move(text)}
    );
}

}  // namespace ebb::model
