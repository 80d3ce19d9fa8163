#include "cli/fill.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/text.h"

namespace ebb::cli {

std::string fill(std::string_view text, const Output& output) {
    if (!output.is_terminal) return std::string(text);
    const int columns = output.columns();
    std::string filled;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        if (columns <= 0 || line.starts_with(' ') || display_width(line) <= columns) {
            filled += line;
        } else {
            filled += fmt::format("{}", fmt::join(wrap(line, columns), "\n"));
        }
        if (end < text.size()) filled += '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return filled;
}

}  // namespace ebb::cli
