#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/check.h"
#include "core/model/words.h"
#include "support/json.h"
#include "support/json_schema.h"

namespace ebb::model {

namespace {

constexpr std::array<std::string_view, 7> kTypes = {
    "null", "boolean", "object", "array", "number", "string", "integer"
};
constexpr std::array<std::string_view, 9> kCounts = {
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
    "multipleOf",
};
constexpr std::array<std::string_view, 4> kBounds = {
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"
};
constexpr std::array<std::string_view, 8> kSchemas = {
    "items",
    "additionalItems",
    "additionalProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
};
constexpr std::array<std::string_view, 3> kSchemaMaps = {
    "properties", "patternProperties", "definitions"
};
constexpr std::array<std::string_view, 3> kSchemaLists = {"allOf", "anyOf", "oneOf"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

class SchemaChecker {
 public:
    explicit SchemaChecker(Findings& findings) : findings_(findings) {}

    void schema(const std::string& path, const Json& value) {
        if (value.is_boolean()) return;
        if (!value.is_object()) return note(path, "A JSON Schema is a map (or true or false)");
        for (const auto& [key, inner] : value.items()) {
            keyword(path + "/" + escape_pointer(key), key, inner);
        }
    }

 private:
    Findings& findings_;

    void note(const std::string& path, std::string_view rule) {
        findings_.note(
            "invalid_schema", path, fmt::format("{}{}", rule, rule.ends_with('?') ? "" : ".")
        );
    }

    void keyword(const std::string& path, const std::string& key, const Json& value) {
        if (key == "type") {
            types(path, value);
        } else if (key == "required") {
            required(path, value);
        } else if (key == "enum") {
            if (!value.is_array() || value.empty()) note(path, "\"enum\" is a list of values");
        } else if (contains(kCounts, key)) {
            if (!value.is_number() || value < 0) {
                note(path, fmt::format("\"{}\" is a number that is not negative", key));
            }
        } else if (contains(kBounds, key)) {
            if (!value.is_number()) note(path, fmt::format("\"{}\" is a number", key));
        } else {
            inner_schemas(path, key, value);
        }
    }

    void inner_schemas(const std::string& path, const std::string& key, const Json& value) {
        const bool is_tuple = key == "items" && value.is_array();
        if (contains(kSchemaLists, key) || is_tuple) {
            if (!value.is_array() || value.empty()) {
                return note(path, fmt::format("\"{}\" is a list of schemas", key));
            }
            for (std::size_t i = 0; i < value.size(); ++i) {
                schema(fmt::format("{}/{}", path, i), value[i]);
            }
        } else if (contains(kSchemaMaps, key)) {
            if (!value.is_object()) {
                return note(path, fmt::format("\"{}\" is a map of names and schemas", key));
            }
            for (const auto& [name, inner] : value.items()) {
                schema(path + "/" + escape_pointer(name), inner);
            }
        } else if (contains(kSchemas, key) || key == "else") {
            schema(path, value);
        }
    }

    void types(const std::string& path, const Json& value) {
        const Json list = value.is_array() ? value : Json::array({value});
        for (const Json& type : list) {
            const std::string word = type.is_string() ? type.get<std::string>() : std::string();
            if (contains(kTypes, word)) continue;
            const std::string_view meant = closest(word, kTypes);
            note(
                path,
                fmt::format(
                    "{} is not a type of JSON Schema: there are {}{}",
                    to_text(type).substr(0, 80),
                    fmt::join(kTypes, ", "),
                    meant.empty() ? "" : fmt::format(". Did you mean \"{}\"?", meant)
                )
            );
        }
    }

    void required(const std::string& path, const Json& value) {
        const bool is_list_of_names =
            value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& name) {
                return name.is_string();
            });
        if (is_list_of_names) return;
        note(path, "\"required\" is a list of names (it stands beside \"properties\")");
    }
};

}  // namespace

void check_schema(Findings& findings, const std::string& path, const Json& schema) {
    SchemaChecker(findings).schema(path, schema);
}

void check_schema_text(Findings& findings, const std::string& path, const Payload& text) {
    if (text.empty()) return;
    constexpr PayloadLimits kLimits{
        .payload_bytes_max = DefinitionLimits::kDefinitionBytesMax,
        .json_depth_max = DefinitionLimits::kPayloadDepthMax
    };
    Json schema;
    try {
        schema = parse_json(text, "The schema", kLimits);
    } catch (const Error& error) {
        return findings.note("invalid_payload", path, error.what());
    }
    const std::size_t problems = findings.all().size();
    check_schema(findings, path, schema);
    if (findings.all().size() > problems) return;
    try {
        const JsonSchema usable(schema);
    } catch (const Error& error) {
        findings.note("invalid_schema", path, error.what());
    }
}

}  // namespace ebb::model
