#include "call/outcome_text.h"

#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "support/json.h"

namespace ebb {

namespace {

Json head(std::string_view type, const AttemptRef& attempt, const std::string& worker) {
    return {
        {"type", type},
        {"visit", attempt.visit},
        {"attempt", attempt.attempt},
        {"pauses", attempt.pauses},
        {"worker", worker},
    };
}

Json written(const event::StepCompleted& completed) {
    Json json = head("step_completed", completed.attempt, completed.worker);
    json["started_at"] = completed.started_at.time_since_epoch().count();
    json["output"] = std::string(completed.output);
    if (!completed.handle.empty()) json["handle"] = completed.handle;
    return json;
}

Json written(const event::StepFailed& failed) {
    const Failure& failure = failed.failure;
    Json json = head("step_failed", failed.attempt, failed.worker);
    json["started_at"] = failed.started_at.time_since_epoch().count();
    json["code"] = failure.code;
    json["message"] = failure.message;
    json["permanent"] = failure.is_permanent;
    if (failure.retry_after) json["retry_after"] = failure.retry_after->count();
    if (!failure.details.empty()) json["details"] = failure.details;
    return json;
}

Json written(const event::StepPaused& paused) {
    return head("step_paused", paused.attempt, paused.worker);
}

template <class Other>
Json written(const Other&) {
    throw Error(ErrorCode::InvalidArgument, "Only the outcome of an attempt can be handed in.");
}

/// The members, each with a default for what is missing. A member of another type throws.
class Members {
 public:
    explicit Members(const Json& json) : json_(json) {}

    std::string text(const char* name) const { return json_.value(name, std::string()); }

    std::int64_t number(const char* name) const { return json_.value(name, std::int64_t{0}); }

    bool flag(const char* name) const { return json_.value(name, false); }

    bool has(const char* name) const { return json_.contains(name); }

    TimePoint time(const char* name) const { return TimePoint(Duration(number(name))); }

 private:
    const Json& json_;
};

Event completed_of(const Members& members, const AttemptRef& attempt) {
    const std::string output = members.text("output");
    try {
        check_payload(output, "output");
    } catch (const Error& error) {
        return event::StepFailed{
            attempt,
            {.code = "invalid_output", .message = error.what(), .is_permanent = true},
            members.time("started_at"),
            members.text("worker")
        };
    }
    return event::StepCompleted{
        attempt,
        Payload::text(output),
        members.time("started_at"),
        members.text("worker"),
        members.text("handle")
    };
}

Event failed_of(const Members& members, const AttemptRef& attempt) {
    Failure failure{
        .code = members.has("code") ? members.text("code") : "error",
        .message = members.text("message"),
        .is_permanent = members.flag("permanent"),
        .details = members.text("details"),
    };
    if (members.has("retry_after")) failure.retry_after = Duration(members.number("retry_after"));
    return event::StepFailed{
        attempt, std::move(failure), members.time("started_at"), members.text("worker")
    };
}

}  // namespace

std::string encode_outcome(const Event& outcome) {
    return to_text(std::visit([](const auto& event) { return written(event); }, outcome));
}

std::optional<Event> decode_outcome(std::string_view text, TokenId token) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    try {
        const Members members(json);
        const AttemptRef attempt{
            .token = token,
            .visit = members.number("visit"),
            .attempt = static_cast<std::int32_t>(members.number("attempt")),
            .pauses = static_cast<std::int32_t>(members.number("pauses")),
        };
        const std::string type = members.text("type");
        if (type == "step_completed") return completed_of(members, attempt);
        if (type == "step_failed") return failed_of(members, attempt);
        if (type == "step_paused") return event::StepPaused{attempt, members.text("worker")};
    } catch (const Json::exception&) {
        return std::nullopt;
    }
    return std::nullopt;
}

AttemptRef attempt_of(const Event& outcome) {
    if (const auto* completed = std::get_if<event::StepCompleted>(&outcome)) {
        return completed->attempt;
    }
    if (const auto* failed = std::get_if<event::StepFailed>(&outcome)) return failed->attempt;
    if (const auto* paused = std::get_if<event::StepPaused>(&outcome)) return paused->attempt;
    return {};
}

}  // namespace ebb
