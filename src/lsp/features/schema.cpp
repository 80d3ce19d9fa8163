#include "lsp/features/schema.h"

#include <algorithm>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "lsp/schema_text.h"
#include "support/json.h"

namespace ebb::lsp {

namespace {

using yaml::LineTree;
using yaml::TreeNode;

/// References and alternatives are nested this deep at most; the schema is ours.
constexpr int kDepthMax = 12;

const Json& schema() {
    static const Json kSchema = Json::parse(kWorkflowSchema);
    return kSchema;
}

/// `schema` and what it refers to, each once.
void expand(const Json& part, SchemaPlaces& out, int depth = 0) {
    if (depth > kDepthMax || !part.is_object()) return;
    if (std::find(out.begin(), out.end(), &part) != out.end()) return;
    out.push_back(&part);
    if (const auto reference = part.find("$ref"); reference != part.end()) {
        const auto& text = reference->get_ref<const std::string&>();
        expand(schema().at(Json::json_pointer(text.substr(1))), out, depth + 1);
    }
    for (const char* key : {"allOf", "anyOf", "oneOf"}) {
        const auto list = part.find(key);
        if (list == part.end()) continue;
        for (const Json& alternative : *list) expand(alternative, out, depth + 1);
    }
}

std::string text_of(const Json& part, const char* key) {
    const auto found = part.find(key);
    return found != part.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool has_key(const LineTree& tree, int map, const std::string& key) {
    return !key.empty() && tree.find(map, key) >= 0;
}

/// The kinds of node that the keys of the map name; all if they name none.
SchemaPlaces fitting(SchemaPlaces places, const LineTree& tree, int map) {
    if (map < 0 || tree.at(map).kind != TreeNode::Kind::Map) return places;
    const auto is_named = [&](const Json* place) {
        return has_key(tree, map, text_of(*place, "title"));
    };
    if (std::none_of(places.begin(), places.end(), is_named)) return places;
    std::erase_if(places, [&](const Json* place) {
        return place->contains("properties") && place->contains("title") && !is_named(place);
    });
    return places;
}

using KeyOrders = std::unordered_map<const Json*, std::vector<std::string>>;

/// Json sorts keys, the text of the schema has them in the order in which people write them.
void note_orders(const Json& part, const nlohmann::ordered_json& written, KeyOrders& orders) {
    if (part.is_array()) {
        for (std::size_t i = 0; i < part.size(); ++i) note_orders(part[i], written[i], orders);
    }
    if (!part.is_object()) return;
    for (const auto& [key, value] : written.items()) {
        if (key == "properties" && value.is_object()) {
            for (const auto& property : value.items()) orders[&part].push_back(property.key());
        }
        note_orders(part.at(key), value, orders);
    }
}

const KeyOrders& key_orders() {
    static const KeyOrders kOrders = [] {
        KeyOrders orders;
        note_orders(schema(), nlohmann::ordered_json::parse(kWorkflowSchema), orders);
        return orders;
    }();
    return kOrders;
}

std::string type_of(const SchemaPlaces& value) {
    for (const Json* place : value) {
        const std::string reference = text_of(*place, "$ref");
        if (reference == "#/definitions/duration") return "duration";
        if (reference == "#/definitions/expression") return "expression";
        if (reference == "#/definitions/block" || reference == "#/definitions/filledBlock") {
            return "list of nodes";
        }
        const std::string type = text_of(*place, "type");
        if (type == "object") return "map";
        if (type == "array") return "list";
        if (type == "string") return "text";
        if (type == "integer") return "whole number";
        if (!type.empty()) return type;
    }
    return {};
}

}  // namespace

SchemaPlaces schema_of_item(const SchemaPlaces& list) {
    SchemaPlaces found;
    for (const Json* place : list) {
        if (const auto items = place->find("items"); items != place->end()) expand(*items, found);
    }
    return found;
}

SchemaPlaces schema_of_member(const SchemaPlaces& map, std::string_view key) {
    SchemaPlaces found;
    for (const Json* place : map) {
        const auto properties = place->find("properties");
        const bool is_known = properties != place->end() && properties->contains(key);
        if (is_known) {
            expand(properties->at(std::string(key)), found);
        } else if (const auto more = place->find("additionalProperties");
                   more != place->end() && more->is_object()) {
            expand(*more, found);
        }
    }
    return found;
}

SchemaPlaces schema_of(const LineTree& tree, int node) {
    const TreeNode& here = tree.at(node);
    SchemaPlaces places;
    if (here.parent < 0) {
        expand(schema(), places);
        return places;
    }
    const SchemaPlaces above = schema_of(tree, here.parent);
    const bool is_item = tree.at(here.parent).kind == TreeNode::Kind::List;
    places = is_item ? schema_of_item(above) : schema_of_member(above, tree.key(node));
    return fitting(std::move(places), tree, node);
}

std::string description_of(const SchemaPlaces& value) {
    for (const Json* place : value) {
        if (std::string text = text_of(*place, "description"); !text.empty()) return text;
    }
    return {};
}

SchemaKey describe_key(std::string_view name, const SchemaPlaces& value) {
    SchemaKey key{
        .name = std::string(name), .description = description_of(value), .type = type_of(value)
    };
    for (const Json* place : value) {
        const auto otherwise = place->find("default");
        if (otherwise == place->end() || !key.otherwise.empty()) continue;
        key.otherwise =
            otherwise->is_string() ? otherwise->get<std::string>() : to_text(*otherwise);
    }
    return key;
}

std::vector<SchemaKey> keys_of(const SchemaPlaces& map) {
    std::vector<SchemaKey> keys;
    for (const Json* place : map) {
        const auto properties = place->find("properties");
        if (properties == place->end()) continue;
        const auto required = place->find("required");
        for (const auto& [name, part] : properties->items()) {
            const bool is_known = std::any_of(keys.begin(), keys.end(), [&](const SchemaKey& key) {
                return key.name == name;
            });
            if (is_known || name.starts_with('$')) continue;
            SchemaPlaces value;
            expand(part, value);
            SchemaKey key = describe_key(name, value);
            key.is_required =
                required != place->end() &&
                std::find(required->begin(), required->end(), name) != required->end();
            keys.push_back(std::move(key));
        }
    }
    std::stable_sort(keys.begin(), keys.end(), [](const SchemaKey& a, const SchemaKey& b) {
        return a.is_required > b.is_required;
    });
    return keys;
}

std::vector<std::string> usual_order(const SchemaPlaces& map) {
    std::vector<std::string> keys;
    for (const Json* place : map) {
        const auto found = key_orders().find(place);
        if (found == key_orders().end()) continue;
        for (const std::string& key : found->second) {
            if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
        }
    }
    return keys;
}

std::vector<std::string> words_of(const SchemaPlaces& value) {
    std::vector<std::string> words;
    for (const Json* place : value) {
        const auto list = place->find("enum");
        if (list != place->end()) {
            for (const Json& word : *list) {
                if (word.is_string()) words.push_back(word.get<std::string>());
            }
        }
        if (text_of(*place, "type") == "boolean") {
            words.emplace_back("true");
            words.emplace_back("false");
        }
        if (text_of(*place, "const") != "") words.push_back(text_of(*place, "const"));
    }
    return words;
}

}  // namespace ebb::lsp
