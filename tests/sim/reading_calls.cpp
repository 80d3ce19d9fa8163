// Compares the calls that handlers really received with the calls in the history.

#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/reading.h"

namespace ebb::sim {

namespace {

bool leaves_doubt(const std::string& code) {
    return code == "in_doubt" || code == "worker_lost" || code == "timeout" ||
           code == "step_timeout" || code == "stopped";
}

}  // namespace

/// A worker made this call, and the call ended this way.
void Reading::require_call(const Entry& e, const std::string& outcome, const std::string& result)
    const {
    const Json how = payload(e);
    for (const Call& call : evidence_.calls) {
        const bool is_it = call.visit == e.visit && call.attempt == e.attempt &&
                           call.node == e.node && call.outcome == outcome;
        if (!is_it) continue;
        const bool is_success = outcome == "completed";
        const bool is_said = call.message.empty() || how.at("message") == call.message;
        const bool is_result =
            is_success ? Json::parse(call.result) == how : call.result == result && is_said;
        if (is_result) return;
    }
    fail(fmt::format("no call {} with {}", outcome, result));
}

void Reading::check_ending(const Entry& e) const {
    const FlowNode* node = flow_.find(e.node);
    const bool is_pause = e.type == "signal_awaited" && node->kind == "step";
    if (is_pause) return require_call(e, "paused", "");
    const bool is_success = e.type == "step_completed" || e.type == "step_compensated";
    if (is_success) return require_call(e, "completed", e.payload);
    const bool is_failure = e.type == "step_retried" || e.type == "compensation_retried" ||
                            e.type == "compensation_failed" || e.type == "step_failed";
    if (!is_failure || e.attempt == 0 || e.node.empty()) return;
    const auto code = payload(e).at("code").get<std::string>();
    // No edge fits the result.
    const bool is_lost =
        code == "unmatched_handle" || (code == "expression_error" && completed_call(e) != nullptr);
    if (is_lost) return;
    // The call may have timed out although it completed.
    if (!leaves_doubt(code)) require_call(e, "failed", code);
}

/// What the compensation knows about the step that it undoes.
Json Reading::told_of(const Entry& undone) const {
    const bool is_completed = undone.type == "step_completed";
    Json told = {
        {"input", data_of(undone.ref)},
        {"output", is_completed ? payload(undone) : Json()},
        {"error", Json()},
        {"outcome", "completed"}
    };
    if (is_completed) return told;
    const Json how = payload(undone);
    if (undone.type == "step_stopped") {
        told["outcome"] = how.at("outcome");
        told["error"] = how.value("error", Json());
        return told;
    }
    told["error"] = how;
    const bool is_unknown =
        leaves_doubt(how.at("code").get<std::string>()) || how.value("outcome", "") == "unknown";
    told["outcome"] = is_unknown ? "unknown" : "failed";
    return told;
}

void Reading::check_input(const Call& call) const {
    if (call.input.empty()) return;
    const Json input = Json::parse(call.input);
    const std::string what = fmt::format("{} in visit {}", call.handler, call.visit);
    if (call.undoes != 0) {
        const auto undone = entries_.find(call.undoes);
        require(undone != entries_.end(), what + " undoes a step that does not exist");
        Json told = told_of(*undone->second);
        // If nothing is known about a stopped step, its data is made up.
        if (told.at("error").is_null() && undone->second->type == "step_stopped") {
            told["error"] = input.at("error");
        }
        return require(input == told, what + " got the wrong data about the step that it undoes");
    }
    for (const Entry& e : evidence_.history) {
        const bool is_its_end =
            e.visit == call.visit && e.attempt == call.attempt && e.node == call.node && e.ref != 0;
        // The edge that was taken refers to the end.
        if (!is_its_end || e.type == "step_requeued" || e.type == "branch_taken") continue;
        require(input == data_of(e.ref), what + " got the wrong input");
    }
}

/// A call after a pause gets the payload, and no other call gets one.
void Reading::check_payload(const Call& call) const {
    if (call.input.empty() || call.undoes != 0) return;
    const std::string what = fmt::format("{} in visit {}", call.handler, call.visit);
    std::int64_t signal = 0;
    if (call.pauses > 0) {
        const auto told = told_.find(call.visit);
        const bool has_paused =
            told != told_.end() && told->second.size() >= static_cast<std::size_t>(call.pauses);
        require(has_paused, fmt::format("{} has not paused {} times", what, call.pauses));
        signal = told->second[static_cast<std::size_t>(call.pauses) - 1];
    }
    require(
        call.payload.has_value() == (signal != 0),
        what + " got a payload without a signal, or none for a signal"
    );
    if (signal == 0) return;
    require(Json::parse(*call.payload) == data_of(signal), what + " got the wrong payload");
}

/// Does an earlier call of the visit leave open whether it had its effect?
bool Reading::is_in_doubt(const Entry& at) const {
    for (const Entry& e : evidence_.history) {
        if (e.seq >= at.seq) return false;
        if (e.visit != at.visit) continue;
        if (e.type == "lease_lost") return true;
        const bool is_failure = e.type == "step_retried" || e.type == "step_failed";
        if (is_failure && leaves_doubt(payload(e).at("code").get<std::string>())) return true;
    }
    return false;
}

void Reading::check_doubt(const Entry& e) const {
    const Json how = payload(e);
    if (e.type == "step_stopped") {
        const auto outcome = how.at("outcome").get<std::string>();
        require(outcome == "unknown" || outcome == "failed", "the call cannot end this way");
        require(outcome == "unknown" || !is_in_doubt(e), "an earlier call left it in doubt");
        const bool has_failed = how.contains("error") || e.attempt > 1;
        require(outcome == "unknown" || has_failed, "no event says that it failed");
    }
    if (e.type == "step_failed" && e.attempt > 0) {
        const bool is_said = leaves_doubt(how.at("code").get<std::string>()) ||
                             how.value("outcome", "") == "unknown";
        require(is_said || !is_in_doubt(e), "an earlier call left it in doubt");
    }
}

void Reading::check_calls() {
    std::set<std::int64_t> ended;
    std::set<std::int64_t> skipped;
    for (const Entry& e : evidence_.history) {
        now_ = &e;
        check_ending(e);
        check_doubt(e);
        if (e.type == "step_skipped") skipped.insert(e.visit);
        const bool is_end = e.type == "step_completed" || e.type == "step_failed" ||
                            e.type == "step_stopped" || e.type == "compensation_failed" ||
                            e.type == "step_compensated" || e.type == "compensation_stopped";
        if (is_end) ended.insert(e.visit);
    }
    now_ = nullptr;
    const bool has_ended = !ended_.empty();
    std::set<std::tuple<std::int64_t, int, int>> made;
    for (const Call& call : evidence_.calls) {
        if (!call.is_made) continue;
        const std::string what = fmt::format("{} was called in visit {}", call.handler, call.visit);
        const bool is_first = made.emplace(call.visit, call.attempt, call.pauses).second;
        require(is_first, fmt::format("{} twice in attempt {}", what, call.attempt));
        require(!skipped.contains(call.visit), what + ", but counts as skipped");
        require(!has_ended || ended.contains(call.visit), what + ": how did it end?");
        check_input(call);
        check_payload(call);
    }
}

}  // namespace ebb::sim
