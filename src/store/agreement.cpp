#include "store/agreement.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

namespace ebb {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool is_at_attempt(std::string_view state, const AttemptRef& attempt) {
    const Json json = Json::parse(state, nullptr, false);
    if (!json.is_object() || !json.contains("tokens")) return false;
    const Json& tokens = json["tokens"];
    // What has its default value is left out.
    const auto is_same = [](const Json& token, const char* name, std::int64_t value) {
        return token.value(name, std::int64_t{0}) == value;
    };
    return std::any_of(tokens.begin(), tokens.end(), [&](const Json& token) {
        return is_same(token, "id", attempt.token) && is_same(token, "visit", attempt.visit) &&
               is_same(token, "attempt", attempt.attempt) &&
               is_same(token, "pauses", attempt.pauses);
    });
}

void throw_workflow_conflict(const WorkflowRow& row) {
    throw Error(
        ErrorCode::WorkflowConflict,
        fmt::format(
            "The store already has version {0} of the workflow \"{1}\" with different content. A "
            "version never changes: register the new content as version {2}. `ebb diff {1}@{0} "
            "FILE` shows what differs.",
            row.version,
            row.name,
            row.version + 1
        )
    );
}

std::optional<int> compatible_with(std::string_view migration) {
    constexpr std::string_view kMark = "-- compatible with ";
    if (!migration.starts_with(kMark)) return std::nullopt;
    int number = 0;
    for (const char c : migration.substr(kMark.size())) {
        if (c < '0' || c > '9') break;
        number = 10 * number + (c - '0');
    }
    return number;
}

bool can_run(const WorkerRow& worker, const Store::Unserved& waiting) {
    if (waiting.handler == kEngineHandler) return true;
    return contains(worker.handlers, waiting.handler) &&
           (worker.queues.empty() || contains(worker.queues, waiting.queue));
}

TimePoint slice_end(TimePoint now, Duration period) {
    const Duration slice = std::max(period / kSlicesPerPeriod, Duration(1));
    return TimePoint((now.time_since_epoch() / slice + 1) * slice);
}

RateUse use_of_rate(const QueueRate& rate, const std::vector<Starts>& starts, TimePoint now) {
    RateUse use;
    for (const Starts& slice : starts) {
        if (slice.at + rate.period > now) use.starts += slice.count;
    }
    std::int64_t left = use.starts;
    for (const Starts& slice : starts) {
        if (left < rate.starts) break;
        if (slice.at + rate.period <= now) continue;
        left -= slice.count;
        use.next = slice.at + rate.period;
    }
    return use;
}

void check_queue_count(std::int64_t queues) {
    if (queues < QueueLimits::kQueuesMax) return;
    throw Error(
        ErrorCode::LimitExceeded,
        fmt::format(
            "{} queues of this store already have limits, and no more are allowed.",
            QueueLimits::kQueuesMax
        )
    );
}

}  // namespace ebb
