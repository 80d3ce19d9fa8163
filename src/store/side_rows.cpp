#include "store/side_rows.h"

#include <algorithm>

#include <fmt/format.h>

#include <ebb/error.h>

namespace ebb {

namespace {

void check_limit(int limit, int max, std::string_view what) {
    if (limit >= 1 && limit <= max) return;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("{} {} are asked for; 1 to {} are allowed.", limit, what, max)
    );
}

void check_statuses(const std::vector<InstanceStatus>& statuses) {
    for (const InstanceStatus status : statuses) {
        if (status == InstanceStatus::Failed || status == InstanceStatus::DeadLetter) continue;
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "The status {} is not a failure; failed and dead_letter are.", to_string(status)
            )
        );
    }
}

void append_wait(std::string& text, const WaitChange& change) {
    const auto append = [&](std::string_view role) {
        text += fmt::format(
            "{}:{}:{}:{};", change.token, change.wait.visit, change.wait.confirmed, role
        );
    };
    if (change.wait.roles.empty()) append("");
    for (const std::string& role : change.wait.roles) append(role);
}

}  // namespace

std::string side_rows_text(const Effects& effects) {
    std::vector<const WaitChange*> waits;
    for (const WaitChange& change : effects.waits) {
        if (!change.is_over) waits.push_back(&change);
    }
    std::sort(waits.begin(), waits.end(), [](const WaitChange* left, const WaitChange* right) {
        return left->token < right->token;
    });
    std::string text;
    for (const WaitChange* change : waits) append_wait(text, *change);
    for (const FailureChange& change : effects.failures) {
        if (change.is_over) continue;
        text += fmt::format("{}:{}", to_string(change.note.status), change.note.event);
    }
    return text;
}

void check_query(const DecisionQuery& query) {
    check_limit(query.limit, DecisionQuery::kLimitMax, "waits");
    if (!query.roles || query.roles->size() <= DecisionQuery::kRolesMax) return;
    throw Error(
        ErrorCode::LimitExceeded,
        fmt::format(
            "{} roles are named; at most {} are allowed.",
            query.roles->size(),
            DecisionQuery::kRolesMax
        )
    );
}

std::optional<InstanceStatus> only_status(const std::vector<InstanceStatus>& statuses) {
    const auto has = [&](InstanceStatus status) {
        return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
    };
    const bool has_failed = has(InstanceStatus::Failed);
    const bool has_dead_letter = has(InstanceStatus::DeadLetter);
    if (has_failed == has_dead_letter) return std::nullopt;
    return has_failed ? InstanceStatus::Failed : InstanceStatus::DeadLetter;
}

void check_query(const FailureQuery& query) {
    check_statuses(query.statuses);
    check_limit(query.limit, FailureQuery::kLimitMax, "failures");
}

void check_query(const FailureGroupQuery& query) {
    check_statuses(query.statuses);
    check_limit(query.limit, FailureGroupQuery::kGroupsMax, "groups");
}

}  // namespace ebb
