#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ebb::cli {

/// Aligned columns under a header. Cells may be colored. Wide characters are measured.
class Table {
 public:
    explicit Table(std::vector<std::string> header)
        : header_(std::move(header)), least_(header_.size(), 0) {
        if (!least_.empty()) least_.back() = kLastColumnMin;
    }

    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

    /// If the table is too wide, `column` may be cut to `least` columns. The last one always may.
    void may_shrink(std::size_t column, int least) { least_[column] = least; }

    /// If `column` must be cut, its beginning goes: its end says most.
    void cut_front(std::size_t column) { front_.push_back(column); }

    bool is_empty() const { return rows_.empty(); }

    /// Whether nothing is cut at this width (0 = as wide as needed).
    bool fits(int columns) const;

    /// The lines, none wider than `columns` (0 = as wide as needed): the widest columns that may
    /// shrink are cut first. Nothing has trailing spaces.
    std::string text(int columns, std::string_view ellipsis) const;

    static constexpr int kLastColumnMin = 8;

 private:
    std::vector<int> natural_widths() const;
    std::vector<int> widths_for(int columns) const;

    std::vector<std::string> header_;
    std::vector<int> least_;  ///< 0: never cut
    std::vector<std::size_t> front_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace ebb::cli
