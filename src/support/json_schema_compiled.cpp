#include "support/json_schema_compiled.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>

#include "support/json.h"
#include "support/json_schema.h"

namespace ebb {

namespace {

enum class Argument {
    Schema,
    Schemas,
    SchemaOrSchemas,
    NamedSchemas,
    PatternSchemas,
    Dependencies,
    Type,
    Strings,
    Array,
    Count,
    Number,
    PositiveNumber,
    Boolean,
    Text,
    Pattern,
};

constexpr std::array<std::pair<std::string_view, Argument>, 36> kKeywords{{
    {"additionalItems", Argument::Schema},
    {"additionalProperties", Argument::Schema},
    {"contains", Argument::Schema},
    {"else", Argument::Schema},
    {"if", Argument::Schema},
    {"not", Argument::Schema},
    {"propertyNames", Argument::Schema},
    {"then", Argument::Schema},
    {"allOf", Argument::Schemas},
    {"anyOf", Argument::Schemas},
    {"oneOf", Argument::Schemas},
    {"items", Argument::SchemaOrSchemas},
    {"$defs", Argument::NamedSchemas},
    {"definitions", Argument::NamedSchemas},
    {"properties", Argument::NamedSchemas},
    {"patternProperties", Argument::PatternSchemas},
    {"dependencies", Argument::Dependencies},
    {"type", Argument::Type},
    {"required", Argument::Strings},
    {"enum", Argument::Array},
    {"maxItems", Argument::Count},
    {"maxLength", Argument::Count},
    {"maxProperties", Argument::Count},
    {"minItems", Argument::Count},
    {"minLength", Argument::Count},
    {"minProperties", Argument::Count},
    {"exclusiveMaximum", Argument::Number},
    {"exclusiveMinimum", Argument::Number},
    {"maximum", Argument::Number},
    {"minimum", Argument::Number},
    {"multipleOf", Argument::PositiveNumber},
    {"uniqueItems", Argument::Boolean},
    {"format", Argument::Text},
    {"description", Argument::Text},
    {"title", Argument::Text},
    {"pattern", Argument::Pattern},
}};

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::InvalidPayload, "The schema cannot be used: " + why);
}

bool is_type(const Json& value) {
    constexpr std::array<std::string_view, 7> kTypes{
        "array", "boolean", "integer", "null", "number", "object", "string"
    };
    return value.is_string() &&
           std::find(kTypes.begin(), kTypes.end(), value.get<std::string>()) != kTypes.end();
}

bool is_count(const Json& value) {
    if (value.is_number_float()) {
        const auto number = value.get<double>();
        return number >= 0 && number <= 9e15 &&
               number == static_cast<double>(static_cast<std::int64_t>(number));
    }
    return value.is_number_unsigned() ||
           (value.is_number_integer() && value.get<std::int64_t>() >= 0);
}

bool are(const Json& value, bool (*is_one)(const Json&)) {
    return value.is_array() && std::all_of(value.begin(), value.end(), is_one);
}

bool is_text(const Json& value) {
    return value.is_string();
}

std::string unescaped(std::string_view fragment) {
    std::string text;
    for (std::size_t at = 0; at < fragment.size(); ++at) {
        const bool is_escape = fragment[at] == '%' && at + 2 < fragment.size();
        text +=
            is_escape
                ? static_cast<char>(std::stoi(std::string(fragment.substr(at + 1, 2)), nullptr, 16))
                : fragment[at];
        if (is_escape) at += 2;
    }
    return text;
}

class Compiler {
 public:
    explicit Compiler(CompiledSchema& compiled) : compiled_(compiled) {}

    void run() {
        pending_.emplace_back(&compiled_.schema, "");
        // References do not recurse: a schema may be a long chain of them.
        while (!pending_.empty()) {
            const auto [schema, at] = std::move(pending_.back());
            pending_.pop_back();
            visit(*schema, at);
        }
    }

 private:
    void visit(const Json& schema, const std::string& at) {
        if (schema.is_boolean() || !visited_.insert(&schema).second) return;
        if (!schema.is_object()) {
            refuse(fmt::format("{} must be a schema: an object, true or false.", place(at)));
        }
        if (schema.contains("$ref")) {
            const Json& target = target_of(schema);
            compiled_.targets.emplace(&schema, &target);
            pending_.emplace_back(&target, schema["$ref"].get<std::string>().substr(1));
            return;
        }
        if (schema.contains("default")) compiled_.has_defaults = true;
        for (const auto& [keyword, argument] : schema.items()) {
            const auto known = std::find_if(
                kKeywords.begin(),
                kKeywords.end(),
                [&name = keyword](const auto& each) { return each.first == name; }
            );
            if (known != kKeywords.end()) {
                visit_argument(known->second, argument, at + "/" + keyword);
            }
        }
    }

    static std::string place(const std::string& at) { return at.empty() ? "it" : at; }

    static void require(bool is_right, const std::string& at, std::string_view expected) {
        if (!is_right) refuse(fmt::format("{} must be {}.", at, expected));
    }

    void visit_argument(Argument kind, const Json& value, const std::string& at) {
        switch (kind) {
            case Argument::Schema:
                return visit(value, at);
            case Argument::Schemas:
                require(value.is_array() && !value.empty(), at, "a list of schemas");
                return visit_all(value, at);
            case Argument::SchemaOrSchemas:
                return value.is_array() ? visit_all(value, at) : visit(value, at);
            case Argument::NamedSchemas:
                require(value.is_object(), at, "an object with schemas");
                return visit_all(value, at);
            case Argument::PatternSchemas:
                require(value.is_object(), at, "an object with schemas");
                for (const auto& [pattern, inner] : value.items()) add_pattern(pattern);
                return visit_all(value, at);
            case Argument::Dependencies:
                require(value.is_object(), at, "an object");
                for (const auto& [name, inner] : value.items()) {
                    if (!are(inner, is_text)) visit(inner, at + "/" + name);
                }
                return;
            case Argument::Pattern:
                require(value.is_string(), at, "a string");
                return add_pattern(value.get<std::string>());
            default:
                return check_plain(kind, value, at);
        }
    }

    static void check_plain(Argument kind, const Json& value, const std::string& at) {
        switch (kind) {
            case Argument::Type:
                return require(
                    is_type(value) || (are(value, is_type) && !value.empty()),
                    at,
                    "array, boolean, integer, null, number, object, string or a list of these"
                );
            case Argument::Strings:
                return require(are(value, is_text), at, "a list of strings");
            case Argument::Array:
                return require(value.is_array(), at, "a list");
            case Argument::Count:
                return require(is_count(value), at, "a whole number, at least 0");
            case Argument::Number:
                return require(value.is_number(), at, "a number");
            case Argument::PositiveNumber:
                return require(
                    value.is_number() && value.get<double>() > 0, at, "a number above 0"
                );
            case Argument::Boolean:
                return require(value.is_boolean(), at, "true or false");
            default:
                return require(value.is_string(), at, "a string");
        }
    }

    void visit_all(const Json& schemas, const std::string& at) {
        for (const auto& [name, inner] : schemas.items()) visit(inner, at + "/" + name);
    }

    void add_pattern(const std::string& text) {
        if (compiled_.patterns.contains(text)) return;
        try {
            compiled_.patterns.emplace(text, Pattern(text, Pattern::Dialect::EcmaScript));
        } catch (const Error& error) {
            refuse(fmt::format("the pattern \"{}\" is not valid: {}.", text, error.what()));
        }
    }

    /// Follows a chain of references.
    const Json& target_of(const Json& schema) const {
        const Json* at = &schema;
        for (int hops = 0; at->is_object() && at->contains("$ref"); ++hops) {
            const Json& reference = (*at)["$ref"];
            if (!reference.is_string()) refuse("\"$ref\" must be a string.");
            const auto& text = reference.get_ref<const std::string&>();
            if (hops >= JsonSchema::kReferenceHopsMax) {
                refuse(fmt::format("the reference \"{}\" leads in a circle or too far.", text));
            }
            if (!text.starts_with('#')) {
                refuse(
                    fmt::format("the reference \"{}\" leads out of it; \"#/…\" is allowed.", text)
                );
            }
            try {
                at = &compiled_.schema.at(Json::json_pointer(unescaped(text.substr(1))));
            } catch (const std::exception&) {
                refuse(fmt::format("the reference \"{}\" leads nowhere.", text));
            }
        }
        return *at;
    }

    CompiledSchema& compiled_;
    std::set<const Json*> visited_;
    std::vector<std::pair<const Json*, std::string>> pending_;
};

}  // namespace

std::unique_ptr<const CompiledSchema> compile_schema(const Json& schema) {
    auto compiled = std::make_unique<CompiledSchema>(CompiledSchema{.schema = schema});
    Compiler(*compiled).run();
    return compiled;
}

}  // namespace ebb
