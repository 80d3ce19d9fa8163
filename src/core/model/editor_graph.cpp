#include "core/model/editor_graph.h"

#include <algorithm>

#include <ebb/definition.h>

#include "support/json.h"

namespace ebb::model {

std::optional<std::string> text_of(const Json& map, const char* key) {
    const auto found = map.find(key);
    if (found == map.end()) return std::nullopt;
    if (found->is_string()) return found->get<std::string>();
    if (found->is_number_integer()) return to_text(*found);
    return std::nullopt;
}

std::string name_of(std::string_view id) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    std::string name;
    for (const char c : id.substr(0, DefinitionLimits::kNameBytesMax - 8)) {
        const bool fits = is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
        name += fits ? c : '_';
    }
    const bool is_reserved = name == "true" || name == "false" || name == "null" || name == "in";
    // The graph that holds it has a name, too.
    const bool is_taken = name == kImportedGraphName;
    if (name.empty() || !is_letter(name.front()) || is_reserved || is_taken) name = "n" + name;
    return name;
}

Json others(const Json& map, std::span<const std::string_view> keys) {
    Json rest = Json::object();
    for (const auto& [key, value] : map.items()) {
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) rest[key] = value;
    }
    return rest;
}

Json each_text(const Json& value, std::string (*change)(std::string_view)) {
    if (value.is_string()) return change(value.get_ref<const std::string&>());
    if (!value.is_structured()) return value;
    Json changed = value;
    for (Json& part : changed) part = each_text(part, change);
    return changed;
}

std::string editor_path(std::string_view path) {
    constexpr std::string_view kGraph = "/steps/0";
    if (path.starts_with(kGraph)) {
        path.remove_prefix(kGraph.size());
    } else {
        return path == "/workflow" ? "/name" : "/ebb" + std::string(path);
    }
    if (!path.starts_with("/nodes/") && !path.starts_with("/edges/")) return std::string(path);
    // /nodes/3/KEY...: the part up to KEY, KEY, and the rest.
    const std::size_t number = path.find('/', 1) + 1;
    const std::size_t key_at = path.find('/', number);
    if (key_at == std::string_view::npos) return std::string(path);
    const std::string_view rest = path.substr(key_at + 1);
    const std::string_view key = rest.substr(0, rest.find('/'));
    std::string name(key);
    if (key == "step") name = "id";
    if (key == "handler") name = "type";
    if (key == "input") name = "data";
    if (key == "from") name = "source";
    if (key == "to") name = "target";
    if (key == "handle") name = "sourceHandle";
    return std::string(path.substr(0, key_at + 1)) + name + std::string(rest.substr(key.size()));
}

}  // namespace ebb::model
