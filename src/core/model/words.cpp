#include "core/model/words.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/json.h"

namespace ebb::model {

namespace {

constexpr std::size_t kComparedBytesMax = 64;
constexpr std::size_t kListedMax = 12;
constexpr std::size_t kQuotedBytesMax = 80;

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

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
    if (const auto meant = synonym(text, candidates); !meant.empty()) return meant;
    text = text.substr(0, kComparedBytesMax);
    std::string_view best;
    // In a word of three letters two wrong ones leave nothing to recognise.
    std::size_t best_distance = text.size() <= 3 ? 2 : text.size() / 3 + 2;
    for (const std::string_view candidate : candidates) {
        const std::size_t length = std::min(candidate.size(), kComparedBytesMax);
        const std::size_t gap = std::max(length, text.size()) - std::min(length, text.size());
        if (gap >= best_distance) continue;
        const std::size_t distance = edit_distance(text, candidate.substr(0, length));
        if (distance >= best_distance || distance >= std::max(length, text.size())) continue;
        best = candidate;
        best_distance = distance;
    }
    return best;
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
