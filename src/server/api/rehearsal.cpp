// The route that says what a definition would do.

#include <utility>

#include <fmt/format.h>

#include <ebb/rehearsal.h>
#include <ebb/yaml.h>

#include "core/model/samples.h"
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

}  // namespace

void add_rehearsal_routes(Routes& routes) {
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
