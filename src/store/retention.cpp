#include "store/retention.h"

#include <algorithm>

#include <fmt/format.h>

#include <ebb/error.h>

#include "support/uuid.h"

namespace ebb {

namespace {

const RetentionRule* rule_of(std::span<const RetentionRule> rules, std::string_view workflow) {
    const RetentionRule* others = nullptr;
    for (const RetentionRule& rule : rules) {
        if (rule.workflow == workflow) return &rule;
        if (rule.workflow == kOtherWorkflows) others = &rule;
    }
    return others;
}

}  // namespace

std::optional<TimePoint> latest_end(
    std::span<const RetentionRule> rules,
    std::string_view workflow,
    InstanceStatus status,
    TimePoint now
) {
    if (!is_terminal(status)) return std::nullopt;
    const RetentionRule* rule = rule_of(rules, workflow);
    if (rule == nullptr) return std::nullopt;
    const bool is_completed = status == InstanceStatus::Completed;
    const std::optional<Duration> kept = is_completed ? rule->keep.completed : rule->keep.failed;
    if (!kept) return std::nullopt;
    return now - *kept;
}

std::optional<Duration> shortest(std::span<const RetentionRule> rules) {
    std::optional<Duration> found;
    for (const RetentionRule& rule : rules) {
        for (const std::optional<Duration>& kept : {rule.keep.completed, rule.keep.failed}) {
            if (kept && (!found || *kept < *found)) found = kept;
        }
    }
    return found;
}

InstanceId purge_bound(std::span<const RetentionRule> rules, TimePoint now) {
    const std::optional<Duration> kept = shortest(rules);
    if (!kept) return {};
    // An instance that ended in a millisecond may have been created in it.
    return lowest_id_of(now - *kept + std::chrono::milliseconds(1));
}

void check_purge(const PurgeRequest& request) {
    if (request.limit >= 1 && request.limit <= kPurgeLimitMax) return;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "A purge looks at 1 to {} instances at a time, not {}.", kPurgeLimitMax, request.limit
        )
    );
}

void PurgeBatch::add(const std::string& workflow, InstanceStatus status, std::int64_t revision) {
    changes_ += revision;
    counts_[{workflow, status}] += 1;
}

std::vector<StatusCount> PurgeBatch::counts() const {
    std::vector<StatusCount> counts;
    for (const auto& [key, count] : counts_) counts.push_back({key.first, key.second, count});
    return counts;
}

}  // namespace ebb
