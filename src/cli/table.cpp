#include "cli/table.h"

#include <algorithm>

#include "cli/text.h"

namespace ebb::cli {

namespace {

constexpr int kGap = 2;
constexpr int kLastColumnMin = 8;

void append_row(
    std::string& out,
    const std::vector<std::string>& row,
    const std::vector<int>& widths,
    std::string_view ellipsis
) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
        const bool is_last = i + 1 == row.size();
        line += is_last ? truncate(row[i], widths[i], ellipsis) : pad(row[i], widths[i] + kGap);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
}

}  // namespace

std::string Table::text(int columns, std::string_view ellipsis) const {
    std::vector<int> widths;
    for (const std::string& cell : header_) widths.push_back(display_width(cell));
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], display_width(row[i]));
        }
    }
    if (columns > 0) {
        int before = 0;
        for (std::size_t i = 0; i + 1 < widths.size(); ++i) before += widths[i] + kGap;
        widths.back() = std::min(widths.back(), std::max(columns - before, kLastColumnMin));
    }
    std::string out;
    append_row(out, header_, widths, ellipsis);
    for (const auto& row : rows_) append_row(out, row, widths, ellipsis);
    return out;
}

}  // namespace ebb::cli
