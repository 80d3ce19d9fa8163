#include "core/expression/names.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace ebb::expression {

namespace {

/// Names longer than this are not compared: nobody misspells them by a letter or two.
constexpr std::size_t kNameMax = 64;

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

/// Levenshtein's distance, letters of either case being the same.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
        }
    }
    return row[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string_view> known) {
    std::string_view best;
    if (name.size() > kNameMax) return best;
    std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
    for (const std::string_view candidate : known) {
        if (candidate.size() > kNameMax) continue;
        const std::size_t found = distance(name, candidate);
        if (found < best_distance) {
            best = candidate;
            best_distance = found;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
    const std::string_view near = nearest(name, known);
    return near.empty() ? std::string() : fmt::format(" Did you mean \"{}\"?", near);
}

}  // namespace ebb::expression
