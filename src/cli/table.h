#pragma once

#include <string>
#include <vector>

namespace ebb::cli {

/// Aligned columns under a header. Cells may be coloured; wide characters are measured.
class Table {
 public:
    explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}

    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

    bool is_empty() const { return rows_.empty(); }

    /// The lines, the last column cut so that none is wider than `columns` (0 = as wide as needed).
    /// Nothing has trailing spaces.
    std::string text(int columns, std::string_view ellipsis) const;

 private:
    std::vector<std::string> header_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace ebb::cli
