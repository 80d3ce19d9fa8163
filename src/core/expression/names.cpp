#include "core/expression/names.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ebb::expression {

namespace {

/// Names longer than this are not compared: a difference of one or two letters says little there.
constexpr std::size_t kNameMax = 64;

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

/// How many letters to add, remove, change or swap with their neighbor; case is ignored.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> above(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before.swap(above);
        above.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool is_same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (is_same ? 0 : 1)});
            const bool is_swap = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                                 lower(a[i - 2]) == lower(b[j - 1]);
            if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string_view> known) {
    std::string_view best;
    // Of two letters any other two are near.
    if (name.size() < 3 || name.size() > kNameMax) return best;
    std::size_t best_distance = name.size() / 3 + 1;
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

std::string instead_of(std::string_view name, std::vector<std::string_view> known) {
    constexpr std::size_t kNamedMax = 16;
    std::erase(known, std::string_view());
    if (known.empty()) return "; there are none.";
    const std::string near = did_you_mean(name, known);
    const std::size_t more = known.size() - std::min(known.size(), kNamedMax);
    if (more > 0) known.resize(kNamedMax);
    std::string last = more > 0 ? fmt::format("{} more", more) : std::string(known.back());
    if (more == 0) known.pop_back();
    if (known.empty()) return fmt::format("; there is {}.{}", last, near);
    return fmt::format("; there are {} and {}.{}", fmt::join(known, ", "), last, near);
}

}  // namespace ebb::expression
