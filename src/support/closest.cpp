#include "support/closest.h"

#include <algorithm>
#include <vector>

namespace ebb {

namespace {

constexpr std::size_t kComparedBytesMax = 64;

/// How many letters were left out, added, changed or swapped with their neighbor.
std::size_t edit_distance(std::string_view left, std::string_view right) {
    const std::size_t columns = right.size() + 1;
    std::vector<std::size_t> cells((left.size() + 1) * columns);
    const auto cell = [&](std::size_t i, std::size_t j) -> std::size_t& {
        return cells[i * columns + j];
    };
    for (std::size_t i = 0; i <= left.size(); ++i) cell(i, 0) = i;
    for (std::size_t j = 0; j <= right.size(); ++j) cell(0, j) = j;
    for (std::size_t i = 1; i <= left.size(); ++i) {
        for (std::size_t j = 1; j <= right.size(); ++j) {
            const std::size_t mistake = left[i - 1] == right[j - 1] ? 0 : 1;
            std::size_t best = std::min(cell(i - 1, j) + 1, cell(i, j - 1) + 1);
            best = std::min(best, cell(i - 1, j - 1) + mistake);
            const bool is_swap =
                i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
            if (is_swap) best = std::min(best, cell(i - 2, j - 2) + 1);
            cell(i, j) = best;
        }
    }
    return cell(left.size(), right.size());
}

}  // namespace

std::string_view closest(std::string_view word, std::span<const std::string_view> candidates) {
    constexpr std::size_t kBeginningMin = 3;
    word = word.substr(0, kComparedBytesMax);
    std::string_view best;
    // In a word of three letters, two wrong ones leave nothing to recognize.
    std::size_t best_distance = word.size() <= 3 ? 2 : word.size() / 3 + 2;
    for (const std::string_view candidate : candidates) {
        const std::size_t length = std::min(candidate.size(), kComparedBytesMax);
        const std::size_t longer = std::max(length, word.size());
        const bool begins = word.size() >= kBeginningMin && candidate.starts_with(word);
        if (!begins && longer - std::min(length, word.size()) >= best_distance) continue;
        const std::size_t distance = begins ? 0 : edit_distance(word, candidate.substr(0, length));
        if (distance >= best_distance || distance >= longer) continue;
        best = candidate;
        best_distance = distance;
    }
    return best;
}

}  // namespace ebb
