#include "support/json_pointer.h"

#include <algorithm>

namespace ebb {

namespace {

bool is_escaped_well(std::string_view segment) {
    for (std::size_t at = 0; at < segment.size(); ++at) {
        if (segment[at] != '~') continue;
        ++at;
        if (at == segment.size() || (segment[at] != '0' && segment[at] != '1')) return false;
    }
    return true;
}

}  // namespace

std::string unescape_pointer(std::string_view segment) {
    std::string text;
    for (std::size_t at = 0; at < segment.size(); ++at) {
        const bool is_escape = segment[at] == '~' && at + 1 < segment.size();
        text += !is_escape ? segment[at] : segment[++at] == '1' ? '/' : '~';
    }
    return text;
}

std::optional<std::vector<std::string>> parse_json_pointer(std::string_view text) {
    if (!text.starts_with('/')) return std::nullopt;
    std::vector<std::string> segments;
    for (std::string_view rest = text.substr(1);;) {
        const std::size_t slash = std::min(rest.find('/'), rest.size());
        if (!is_escaped_well(rest.substr(0, slash))) return std::nullopt;
        segments.push_back(unescape_pointer(rest.substr(0, slash)));
        if (slash == rest.size()) return segments;
        rest.remove_prefix(slash + 1);
    }
}

}  // namespace ebb
