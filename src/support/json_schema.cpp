// It aborts instead of throwing where this is not set.
#define VALIJSON_USE_EXCEPTIONS 1

#include "support/json_schema.h"

#include <regex>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include <ebb/error.h>

namespace ebb {

struct JsonSchema::Compiled {
    valijson::Schema schema;
    bool has_patterns = false;
};

namespace {

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::InvalidPayload, "The schema cannot be used: " + why);
}

/// Follows a chain of references, which the library would follow for ever where it is a circle.
void check_reference(const Json& root, const Json& schema) {
    const Json* at = &schema;
    for (int hops = 0; at->is_object() && at->contains("$ref"); ++hops) {
        const Json& reference = (*at)["$ref"];
        if (!reference.is_string()) refuse("\"$ref\" is a text.");
        const auto& text = reference.get_ref<const std::string&>();
        if (hops >= JsonSchema::kReferenceHopsMax)
            refuse(fmt::format("the reference \"{}\" leads in a circle or too far.", text));
        if (!text.starts_with('#'))
            refuse(fmt::format("the reference \"{}\" leads out of it; \"#/…\" is allowed.", text));
        try {
            at = &root.at(Json::json_pointer(text.substr(1)));
        } catch (const Json::exception&) {
            refuse(fmt::format("the reference \"{}\" leads nowhere.", text));
        }
    }
}

void check_pattern(const std::string& pattern) {
    try {
        const std::regex compiled(pattern, std::regex::ECMAScript);
    } catch (const std::regex_error& error) {
        refuse(fmt::format("the pattern \"{}\" is not valid: {}.", pattern, error.what()));
    }
}

/// Looks at every schema inside `schema`. Returns whether any matches texts.
bool check_parts(const Json& root, const Json& schema) {
    bool has_patterns = false;
    if (schema.is_object()) {
        check_reference(root, schema);
        if (schema.contains("pattern") && schema["pattern"].is_string()) {
            has_patterns = true;
            check_pattern(schema["pattern"].get<std::string>());
        }
        if (schema.contains("patternProperties") && schema["patternProperties"].is_object()) {
            has_patterns = true;
            for (const auto& [pattern, inner] : schema["patternProperties"].items()) {
                check_pattern(pattern);
            }
        }
        has_patterns |= schema.contains("format");
    }
    if (schema.is_structured()) {
        for (const Json& part : schema) has_patterns |= check_parts(root, part);
    }
    return has_patterns;
}

std::string_view too_long_text(const Json& value) {
    if (value.is_string()) {
        const std::string_view text = value.get_ref<const std::string&>();
        return text.size() > JsonSchema::kPatternTextBytesMax ? text : std::string_view();
    }
    if (!value.is_structured()) return {};
    for (const auto& [name, part] : value.items()) {
        if (name.size() > JsonSchema::kPatternTextBytesMax) return name;
        if (const std::string_view text = too_long_text(part); !text.empty()) return text;
    }
    return {};
}

/// `<root>`, `[items]`, `[0]` as the pointer `/items/0`.
std::string pointer_of(const std::vector<std::string>& context) {
    std::string pointer;
    for (const std::string& part : context) {
        if (part.size() < 2 || part.front() != '[') continue;
        pointer += "/" + part.substr(1, part.size() - 2);
    }
    return pointer.empty() ? "/" : pointer;
}

}  // namespace

JsonSchema::JsonSchema(const Json& schema) {
    auto compiled = std::make_unique<Compiled>();
    compiled->has_patterns = check_parts(schema, schema);
    try {
        valijson::SchemaParser(valijson::SchemaParser::kDraft7)
            .populateSchema(valijson::adapters::NlohmannJsonAdapter(schema), compiled->schema);
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        refuse(error.what());
    }
    compiled_ = std::move(compiled);
}

JsonSchema::~JsonSchema() = default;
JsonSchema::JsonSchema(JsonSchema&&) noexcept = default;
JsonSchema& JsonSchema::operator=(JsonSchema&&) noexcept = default;

std::vector<std::string> JsonSchema::violations(const Json& value) const {
    if (compiled_->has_patterns) {
        if (const std::string_view text = too_long_text(value); !text.empty()) {
            return {fmt::format(
                "a text of {} bytes (\"{}…\") is too long where the schema has patterns; at most "
                "{} are allowed",
                text.size(),
                text.substr(0, 20),
                kPatternTextBytesMax
            )};
        }
    }
    // With a cache of its own: not to be shared between threads.
    valijson::Validator validator;
    valijson::ValidationResults results;
    const valijson::adapters::NlohmannJsonAdapter adapter(value);
    if (validator.validate(compiled_->schema, adapter, &results)) return {};
    std::vector<std::string> found;
    valijson::ValidationResults::Error error;
    while (found.size() < kViolationsMax && results.popError(error)) {
        // Every object around the place says that it has one, too.
        if (error.description.starts_with("Failed to validate against schema associated with"))
            continue;
        found.push_back(pointer_of(error.context) + ": " + error.description);
    }
    if (found.empty()) found.emplace_back("/: it does not conform");
    return found;
}

}  // namespace ebb
