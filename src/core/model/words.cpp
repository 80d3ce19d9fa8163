#include "core/model/words.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/closest.h"
#include "support/json.h"

namespace ebb::model {

namespace {

constexpr std::size_t kListedMax = 12;
constexpr std::size_t kQuotedBytesMax = 80;

/// What other engines and languages call it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kSynonyms{{
    {"action", "step"},
    {"activity", "step"},
    {"approval", "decision"},
    {"async", "parallel"},
    {"call", "step"},
    {"choice", "switch"},
    {"event", "signal"},
    {"fork", "parallel"},
    {"if", "condition"},
    {"retries", "max_retries"},
    {"retry", "backoff"},
    {"rollback", "compensate"},
    {"sleep", "delay"},
    {"task", "step"},
    {"undo", "compensate"},
    {"wait", "delay"},
}};

std::string_view synonym(std::string_view text, std::span<const std::string_view> candidates) {
    const auto known = std::find_if(kSynonyms.begin(), kSynonyms.end(), [text](const auto& pair) {
        return pair.first == text;
    });
    if (known == kSynonyms.end()) return {};
    const auto meant = std::find(candidates.begin(), candidates.end(), known->second);
    return meant == candidates.end() ? std::string_view() : *meant;
}

}  // namespace

std::string_view closest(std::string_view text, std::span<const std::string_view> candidates) {
    const std::string_view meant = synonym(text, candidates);
    return meant.empty() ? ebb::closest(text, candidates) : meant;
}

std::string hint(std::string_view text, std::span<const std::string_view> candidates) {
    if (candidates.empty()) return {};
    if (const std::string_view meant = closest(text, candidates); !meant.empty()) {
        return fmt::format(" Did you mean \"{}\"?", meant);
    }
    const std::size_t count = std::min(candidates.size(), kListedMax);
    return fmt::format(
        " Known {} {}{}.",
        candidates.size() == 1 ? "is" : "are",
        fmt::join(candidates.first(count), ", "),
        count < candidates.size() ? " and others" : ""
    );
}

std::string in_quotes(std::string_view text) {
    std::string clean = clean_text(text, kQuotedBytesMax);
    std::replace_if(
        clean.begin(),
        clean.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
        ' '
    );
    return fmt::format("\"{}{}\"", clean, clean.size() < text.size() ? "..." : "");
}

std::string escape_pointer(std::string_view key) {
    std::string escaped;
    for (const char c : key) {
        if (c == '~') {
            escaped += "~0";
        } else if (c == '/') {
            escaped += "~1";
        } else {
            escaped += c;
        }
    }
    return escaped;
}

}  // namespace ebb::model
