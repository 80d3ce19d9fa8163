#include "core/expression/describe.h"

#include <vector>

#include <fmt/format.h>

#include "core/expression/names.h"
#include "core/expression/source.h"

namespace ebb::expression {

namespace {

constexpr std::size_t kKeysShown = 8;
constexpr std::size_t kKeysCompared = 256;

}  // namespace

std::string key_text(const Value& key) {
    switch (key.kind) {
        case Kind::String:
            return fmt::format("\"{}\"", shortened(key.string(), 60));
        case Kind::Int:
            return fmt::format("{}", key.integer);
        case Kind::Uint:
            return fmt::format("{}u", key.natural);
        case Kind::Double:
            return fmt::format("{}", key.number);
        case Kind::Bool:
            return key.boolean ? "true" : "false";
        default:
            return std::string(a_type(key));
    }
}

std::string what_is_there(const Value& map, std::string_view wanted) {
    std::string text;
    std::vector<std::string_view> names;
    std::size_t shown = 0;
    for (MapCursor at(map); !at.is_done() && names.size() < kKeysCompared; at.next()) {
        if (at.key().is(Kind::String)) names.push_back(at.key().string());
        if (shown == kKeysShown) continue;
        text += (shown++ == 0 ? "" : ", ") + key_text(at.key());
    }
    if (text.empty()) return "the map is empty.";
    const std::size_t size = map_size(map);
    if (size > shown) text += fmt::format(" and {} more", size - shown);
    return fmt::format("the map has {}.{}", text, did_you_mean(wanted, names));
}

}  // namespace ebb::expression
