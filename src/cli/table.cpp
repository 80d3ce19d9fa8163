#include "cli/table.h"

#include <algorithm>
#include <numeric>

#include "cli/text.h"

namespace ebb::cli {

namespace {

constexpr int kGap = 2;

/// Plain text without its beginning.
std::string truncate_front(std::string_view text, int columns, std::string_view ellipsis) {
    if (display_width(text) <= columns) return std::string(text);
    const auto is_inside = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
    while (!text.empty() && display_width(text) + display_width(ellipsis) > columns) {
        text.remove_prefix(1);
        while (!text.empty() && is_inside(text.front())) text.remove_prefix(1);
    }
    return std::string(ellipsis) + std::string(text);
}

std::string row_text(
    const std::vector<std::string>& row,
    const std::vector<int>& widths,
    const std::vector<std::size_t>& front,
    int columns,
    std::string_view ellipsis
) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
        const bool is_front = std::find(front.begin(), front.end(), i) != front.end();
        const std::string cell = is_front ? truncate_front(row[i], widths[i], ellipsis)
                                          : truncate(row[i], widths[i], ellipsis);
        line += i + 1 == row.size() ? cell : pad(cell, widths[i] + kGap);
    }
    if (columns > 0) line = truncate(line, columns, ellipsis);
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

}  // namespace

bool Table::fits(int columns) const {
    const std::vector<int> widths = natural_widths();
    if (columns <= 0 || widths.empty()) return true;
    const int gaps = kGap * (static_cast<int>(widths.size()) - 1);
    return std::accumulate(widths.begin(), widths.end(), gaps) <= columns;
}

std::vector<int> Table::natural_widths() const {
    std::vector<int> widths;
    for (const std::string& cell : header_) widths.push_back(display_width(cell));
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], display_width(row[i]));
        }
    }
    return widths;
}

std::vector<int> Table::widths_for(int columns) const {
    std::vector<int> widths = natural_widths();
    if (columns <= 0 || widths.empty()) return widths;
    const int gaps = kGap * (static_cast<int>(widths.size()) - 1);
    int excess = std::accumulate(widths.begin(), widths.end(), gaps) - columns;
    while (excess > 0) {
        std::size_t widest = widths.size();
        for (std::size_t i = 0; i < widths.size(); ++i) {
            if (least_[i] == 0 || widths[i] <= least_[i]) continue;
            if (widest == widths.size() || widths[i] >= widths[widest]) widest = i;
        }
        if (widest == widths.size()) break;
        --widths[widest];
        --excess;
    }
    return widths;
}

std::string Table::text(int columns, std::string_view ellipsis) const {
    const std::vector<int> widths = widths_for(columns);
    std::string out = row_text(header_, widths, front_, columns, ellipsis);
    for (const auto& row : rows_) out += row_text(row, widths, front_, columns, ellipsis);
    return out;
}

}  // namespace ebb::cli
