#include "store/names.h"

#include <algorithm>

namespace ebb {

std::vector<std::string> split_names(std::string_view names) {
    std::vector<std::string> all;
    while (!names.empty()) {
        const std::size_t comma = std::min(names.find(','), names.size());
        if (comma > 0) all.emplace_back(names.substr(0, comma));
        names.remove_prefix(std::min(comma + 1, names.size()));
    }
    return all;
}

bool passes_names(std::string_view names, std::string_view name) {
    if (names.find(',') == std::string_view::npos) return names.empty() || names == name;
    while (!names.empty()) {
        const std::size_t comma = std::min(names.find(','), names.size());
        if (names.substr(0, comma) == name) return true;
        names.remove_prefix(std::min(comma + 1, names.size()));
    }
    return false;
}

}  // namespace ebb
