#include "core/model/samples.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>

#include "core/model/check.h"
#include "core/model/placing.h"
#include "core/model/words.h"
#include "support/json.h"
#include "support/json_schema.h"

namespace ebb::model {

namespace {

constexpr const char* kKey = "samples";

/// Nothing if there is none, or if it cannot be used, which has a finding of its own.
std::optional<JsonSchema> usable_schema(const Payload& text) {
    if (text.empty()) return std::nullopt;
    try {
        return std::optional<JsonSchema>(JsonSchema(Json::parse(text)));
    } catch (const Error&) {
        return std::nullopt;
    }
}

void note(
    const MapReader& root, const Document::Member& sample, std::string code, std::string message
) {
    Diagnostic diagnostic{
        .code = std::move(code),
        .path = root.path_of(kKey) + "/" + escape_pointer(sample.key),
        .message = std::move(message),
    };
    set_range(diagnostic, range_of(sample.value));
    root.problems().add(std::move(diagnostic), sample.value.order);
}

}  // namespace

void check_samples(const MapReader& root, const Payload& input_schema) {
    const Document* samples = root.find(kKey);
    if (samples == nullptr) return;
    if (!samples->is_map()) {
        return root.note(
            "wrong_type",
            kKey,
            fmt::format("\"samples\" must be a map of inputs, but here is {}.", describe(*samples))
        );
    }
    if (samples->members.size() > Sample::kCountMax) {
        return root.note(
            "out_of_range",
            kKey,
            fmt::format(
                "There are {} samples; at most {} are allowed.",
                samples->members.size(),
                Sample::kCountMax
            )
        );
    }
    // A schema that is wrong has been noted at its own place.
    Findings faults;
    if (!input_schema.empty()) check_schema(faults, "", Json::parse(input_schema));
    if (!faults.is_empty()) return;
    const std::optional<JsonSchema> schema = usable_schema(input_schema);
    for (const Document::Member& sample : samples->members) {
        if (sample.key.empty()) note(root, sample, "invalid_name", "A sample needs a name.");
        if (!schema) continue;
        const std::vector<std::string> violations = schema->violations(sample.value.to_json());
        if (violations.empty()) continue;
        note(
            root,
            sample,
            "invalid_sample",
            fmt::format(
                "The sample {} does not fit the input_schema: {}",
                in_quotes(sample.key),
                violations.front()
            )
        );
    }
}

std::vector<Sample> samples_of(const Document& root) {
    std::vector<Sample> found;
    const Document* samples = root.is_map() ? root.find(kKey) : nullptr;
    if (samples == nullptr || !samples->is_map()) return found;
    for (const Document::Member& sample : samples->members) {
        if (found.size() >= Sample::kCountMax) break;
        found.push_back({.name = sample.key, .input = to_text(sample.value.to_json())});
    }
    return found;
}

Payload sample_input(const Document& root, std::string_view name) {
    std::vector<Sample> samples = samples_of(root);
    std::vector<std::string_view> names;
    for (Sample& sample : samples) {
        if (sample.name == name) return std::move(sample.input);
        names.push_back(sample.name);
    }
    throw Error(
        ErrorCode::InvalidArgument,
        names.empty()
            ? std::string("The workflow's file has no `samples`.")
            : fmt::format(
                  "The workflow's file has no sample {}.{}", in_quotes(name), hint(name, names)
              )
    );
}

}  // namespace ebb::model
