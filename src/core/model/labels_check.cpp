#include "core/model/labels_check.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/expression/template.h"
#include "core/model/check_expressions.h"
#include "core/model/label_values.h"
#include "core/model/words.h"
#include "support/json.h"

namespace ebb::model {

namespace {

constexpr std::array<Word<LabelType>, 4> kTypeWords = {{
    {"text", LabelType::Text},
    {"number", LabelType::Number},
    {"bool", LabelType::Bool},
    {"time", LabelType::Time},
}};

/// What is known when an instance starts.
constexpr std::array<std::string_view, 4> kVariables = {"input", "workflow", "instance", "now"};

void check_value(
    Findings& findings, const std::string& path, std::string_view name, const LabelSource& source
) {
    if (source.value.empty()) {
        return findings.note(
            "missing_key",
            path,
            fmt::format(
                "The label {} needs a \"value\", such as \"${{ workflow.input.id }}\".",
                in_quotes(name)
            )
        );
    }
    try {
        const Json json = Json::parse(source.value);
        const Template value = Template::compile(json);
        if (!value.steps_read().empty() || !value.attempts_read().empty()) {
            return findings.note(
                "unknown_variable",
                path,
                "A label is made when the instance starts, before any step: it can read workflow, "
                "instance and now."
            );
        }
        for (const std::string& read : value.variables_read()) {
            if (std::find(kVariables.begin(), kVariables.end(), read) != kVariables.end()) continue;
            findings.note(
                "unknown_variable",
                path,
                fmt::format(
                    "There is no variable {} when an instance starts.{}",
                    in_quotes(read),
                    hint(read, kVariables)
                )
            );
        }
        note_wrong_reads(findings, path, json);
        if (value.is_constant() && !json.is_null()) label_of(name, source.type, json);
    } catch (const ExpressionError& error) {
        findings.note("invalid_expression", path, error.what());
    } catch (const Error& error) {
        findings.note("invalid_label", path, error.what());
    } catch (const nlohmann::json::exception& error) {
        findings.note(
            "invalid_payload", path, not_json("It", error) + std::string(quotes_hint(source.value))
        );
    }
}

}  // namespace

std::map<std::string, LabelSource> read_labels(const MapReader& root) {
    const Document* value = root.find("labels");
    if (value == nullptr) return {};
    if (!value->is_map()) {
        root.note(
            "wrong_type",
            "labels",
            fmt::format("\"labels\" must be a map of names, but here is {}.", describe(*value))
        );
        return {};
    }
    std::map<std::string, LabelSource> labels;
    for (const Document::Member& member : value->members) {
        const std::string path = root.path_of("labels") + "/" + escape_pointer(member.key);
        if (!member.value.is_map()) {
            root.problems().add(
                "wrong_type",
                path,
                member.value,
                fmt::format(
                    "A label is a map with \"type\" and \"value\", such as {{type: text, value: "
                    "\"${{ workflow.input.id }}\"}}, but here is {}.",
                    describe(member.value)
                )
            );
            continue;
        }
        const MapReader map(root.problems(), member.value, path);
        map.allow_only({"type", "value"});
        map.require("value", "it is what the label says");
        if (!map.has("value")) continue;
        labels[member.key] = {
            .type = map.word("type", kTypeWords, LabelType::Text), .value = map.payload("value")
        };
    }
    return labels;
}

void check_labels(Findings& findings, const Definition& definition) {
    if (definition.labels.size() > LabelLimits::kLabelsMax) {
        findings.note(
            "too_many_labels",
            "/labels",
            fmt::format(
                "There are {} labels; at most {} are allowed.",
                definition.labels.size(),
                LabelLimits::kLabelsMax
            )
        );
    }
    for (const auto& [name, source] : definition.labels) {
        const std::string path = "/labels/" + escape_pointer(name);
        if (!is_label_name(name)) {
            findings.note(
                "invalid_name",
                path,
                fmt::format(
                    "{} is not the name of a label. It has 1 to {} letters, digits, \"_\", \"-\" "
                    "and \".\", and begins with a letter or \"_\".",
                    in_quotes(name),
                    LabelLimits::kNameBytesMax
                )
            );
        }
        check_value(findings, path + "/value", name, source);
    }
}

}  // namespace ebb::model
