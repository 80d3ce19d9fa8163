// The routes that say what a definition would do.

#include <utility>

#include <fmt/format.h>

#include <ebb/rehearsal.h>
#include <ebb/yaml.h>

#include "core/model/samples.h"
#include "core/model/trial.h"
#include "server/api/body.h"
#include "server/api/service.h"
#include "support/clock.h"
#include "view/rehearsal_json.h"
#include "yaml/yaml_document.h"

namespace ebb::server {

namespace {

constexpr std::size_t kCodeBytesMax = 128;
constexpr std::size_t kMessageBytesMax = 1'024;
constexpr std::size_t kDurationBytesMax = 32;
constexpr std::size_t kTextsMax = 100;
constexpr std::size_t kExpressionsMax = 200;
constexpr Duration kTakesMax = std::chrono::hours(24 * 366);

/// What is rehearsed. An object is the definition itself; a text is its YAML.
struct Subject {
    std::string text;
    Definition definition;
};

Subject read_subject(Body& body) {
    const auto given = body.payload("definition");
    if (!given) throw Problem("invalid_argument", "The member \"definition\" is missing.");
    if (!given->starts_with('"')) return {*given, parse_definition_json(*given)};
    std::string text = body.required_text("definition", kDefinitionBytesMax);
    Definition definition = parse_definition_yaml(text);
    return {std::move(text), std::move(definition)};
}

/// `input`, or that of one of the definition's `samples`.
Payload read_input(Body& body, const std::string& definition, Payload otherwise) {
    auto input = body.payload("input");
    const auto sample = body.text("sample", DefinitionLimits::kNameBytesMax);
    if (!sample) return std::move(input).value_or(std::move(otherwise));
    if (input) {
        throw Problem("invalid_argument", "Give either \"input\" or \"sample\", not both.");
    }
    return model::sample_input(yaml::parse_yaml_document(definition, ""), *sample);
}

Duration read_takes(const std::string& text) {
    const auto takes = parse_duration(text);
    if (takes && *takes >= Duration::zero() && *takes <= kTakesMax) return *takes;
    throw Problem(
        "invalid_argument",
        fmt::format(
            "The member \"takes\" is not a duration of at most {}.", format_duration(kTakesMax)
        )
    );
}

RehearsedOutcome read_outcome(Body body) {
    RehearsedOutcome outcome;
    const auto kind = body.text("outcome", kCodeBytesMax);
    if (kind) {
        const auto known = parse_rehearsed_kind(*kind);
        if (!known) {
            throw Problem(
                "invalid_argument",
                fmt::format(
                    "\"{}\" is not an outcome. Allowed: complete, fail, fail_for_good, never.",
                    *kind
                )
            );
        }
        outcome.kind = *known;
    }
    outcome.times = static_cast<int>(body.integer("times", 0, Rehearsal::kTurnsMax).value_or(0));
    outcome.output = body.payload("output").value_or(Payload());
    outcome.code = body.text("code", kCodeBytesMax).value_or(outcome.code);
    outcome.message = body.text("message", kMessageBytesMax).value_or(outcome.message);
    const auto takes = body.text("takes", kDurationBytesMax);
    if (takes) outcome.takes = read_takes(*takes);
    body.check_all_used();
    return outcome;
}

std::map<std::string, RehearsedOutcome> read_outcomes(Body& body, std::string_view name) {
    std::map<std::string, RehearsedOutcome> outcomes;
    auto given = body.object(name);
    if (!given) return outcomes;
    for (const std::string& node : given->names()) {
        if (auto outcome = given->object(node)) outcomes[node] = read_outcome(std::move(*outcome));
    }
    return outcomes;
}

http::Response rehearse_workflow(Call& call) {
    call.query.check_all_used();
    Body body(call.request.body);
    const Subject subject = read_subject(body);
    RehearsalOptions options;
    options.input = read_input(body, subject.text, options.input);
    options.outcomes = read_outcomes(body, "outcomes");
    options.compensations = read_outcomes(body, "compensations");
    options.cancel_after = body.text("cancel_after", DefinitionLimits::kNameBytesMax).value_or("");
    body.check_all_used();
    return json_response(200, view::rehearsal_json(rehearse(subject.definition, options)));
}

/// What the expressions are tried on: `input`, or else the definition's `samples`.
std::vector<model::TrialData> read_trials(Body& body, const Subject& subject) {
    std::vector<model::TrialData> trials;
    if (const auto input = body.payload("input")) {
        trials.push_back({.name = {}, .input = Json::parse(*input), .outputs = {}});
    } else {
        for (const model::Sample& sample :
             model::samples_of(yaml::parse_yaml_document(subject.text, ""))) {
            trials.push_back(
                {.name = sample.name, .input = Json::parse(sample.input), .outputs = {}}
            );
        }
    }
    if (auto steps = body.object("steps")) {
        for (const std::string& name : steps->names()) {
            const Json output = Json::parse(steps->payload(name).value_or("null"));
            for (model::TrialData& trial : trials) trial.outputs[name] = output;
        }
    }
    return trials;
}

view::Json trial_json(const model::Trial& trial) {
    view::Json json{{"sample", trial.name}};
    if (trial.error.empty()) {
        json["value"] = trial.value;
    } else {
        json["error"] = trial.error;
        json["unknown"] = trial.is_unknown;
    }
    return json;
}

http::Response evaluate_expressions(Call& call) {
    call.query.check_all_used();
    Body body(call.request.body);
    const Subject subject = read_subject(body);
    const auto node = body.text("node", DefinitionLimits::kNameBytesMax).value_or("");
    const auto texts = body.texts("texts", kTextsMax);
    const std::vector<model::TrialData> trials = read_trials(body, subject);
    body.check_all_used();
    const model::TrialPlace place(subject.definition, node);
    view::Json results = view::Json::array();
    for (std::size_t at = 0; at < texts.size(); ++at) {
        for (const std::string& source : model::expressions_of(texts[at])) {
            if (results.size() == kExpressionsMax) {
                throw Problem(
                    "limit_exceeded",
                    fmt::format("At most {} expressions are tried at once.", kExpressionsMax)
                );
            }
            view::Json values = view::Json::array();
            for (const model::TrialData& trial : trials) {
                values.push_back(trial_json(place.run(source, trial)));
            }
            results.push_back({{"text", at}, {"expression", source}, {"values", std::move(values)}}
            );
        }
    }
    return json_response(200, view::Json{{"results", std::move(results)}});
}

}  // namespace

void add_rehearsal_routes(Routes& routes) {
    routes.push_back(
        {.method = "POST",
         .path = "/workflows/evaluate",
         .operation = "evaluateExpressions",
         .permission = "workflows.read",
         .handle = evaluate_expressions,
         .body_bytes_max = kJsonBytesMax,
         .media_types = {"application/json"},
         .reach = Reach::Project,
         .audited = Audited::Never}
    );
    routes.push_back(
        {.method = "POST",
         .path = "/workflows/rehearse",
         .operation = "rehearseWorkflow",
         .permission = "workflows.read",
         .handle = rehearse_workflow,
         .body_bytes_max = kJsonBytesMax,
         .media_types = {"application/json"},
         .reach = Reach::Project,
         .audited = Audited::Never}
    );
}

}  // namespace ebb::server
