#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ebb/id.h>
#include <ebb/status.h>
#include <ebb/time.h>

// What needs a person: decisions that are awaited, and instances that have failed. Both are found
// by rows of their own, which are written in the commit that causes them, so that no list of
// instances is searched.

namespace ebb {

/// The place of a wait in a list, by which the next page begins.
struct WaitPlace {
    TimePoint since{};
    InstanceId instance;
    std::int64_t token = 0;

    auto operator<=>(const WaitPlace&) const = default;
};

/// One decision that an instance waits for.
struct AwaitedDecision {
    InstanceId instance;
    std::int64_t token = 0;  ///< the place in the instance that waits
    std::string workflow;
    int version = 1;
    std::string key;
    InstanceStatus status = InstanceStatus::Running;  ///< of the instance: it may be paused
    std::string node;
    std::int64_t visit = 0;
    std::vector<std::string> roles;  ///< who may decide, by name; empty = anyone
    TimePoint since{};
    TimePoint deadline = kNever;
    int quorum = 1;
    int confirmed = 0;  ///< how many have confirmed so far

    WaitPlace place() const { return {.since = since, .instance = instance, .token = token}; }

    bool operator==(const AwaitedDecision&) const = default;
};

/// Which decisions to list.
struct DecisionQuery {
    static constexpr int kLimitMax = 1'000;
    static constexpr std::size_t kRolesMax = 64;

    /// Only what one of these roles, or anyone, may decide; none = all. At most kRolesMax.
    std::optional<std::vector<std::string>> roles{};
    std::string workflow{};              ///< empty = all
    TimePoint deadline_before = kNever;  ///< kNever = any, also without a deadline
    std::optional<WaitPlace> after{};    ///< only what comes behind it
    int limit = 100;                     ///< 1 to kLimitMax
};

/// Why an instance needs attention: it has failed, or it is dead-lettered.
struct FailureNote {
    static constexpr std::size_t kMessageBytesMax = 512;

    std::string workflow;
    int version = 1;
    InstanceStatus status = InstanceStatus::Failed;  ///< Failed or DeadLetter
    std::string step;        ///< empty = no step failed, but the instance itself
    std::string code;        ///< of the error
    std::string group;       ///< 16 hexadecimal digits: the same for failures with one cause
    std::string message;     ///< the first line of the error, at most kMessageBytesMax
    std::int64_t event = 0;  ///< of the history, that says why; 0 = none
    TimePoint at{};          ///< when the instance got that status

    bool operator==(const FailureNote&) const = default;
};

/// The place of a failure in a list, by which the next page begins.
struct FailurePlace {
    TimePoint at{};
    InstanceId instance;

    auto operator<=>(const FailurePlace&) const = default;
};

/// One instance that has failed.
struct FailedInstance {
    InstanceId instance;
    std::string key;
    FailureNote note;

    FailurePlace place() const { return {.at = note.at, .instance = instance}; }

    bool operator==(const FailedInstance&) const = default;
};

/// Which failures of a group to list.
struct FailureQuery {
    static constexpr int kLimitMax = 1'000;

    std::string group{};
    std::vector<InstanceStatus> statuses{};  ///< Failed or DeadLetter; empty = both
    std::optional<FailurePlace> after{};     ///< only what is older
    int limit = 100;                         ///< 1 to kLimitMax
};

/// Which groups to list.
struct FailureGroupQuery {
    static constexpr int kGroupsMax = 1'000;

    std::string workflow{};                  ///< empty = all
    std::vector<InstanceStatus> statuses{};  ///< Failed or DeadLetter; empty = both
    int limit = kGroupsMax;                  ///< of the groups that are looked at; 1 to kGroupsMax
};

/// Failures with the same cause: workflow, step, code and message, where what differs from one
/// occurrence to the next (ids, numbers, quoted texts, paths) does not count.
struct FailureGroup {
    /// At most this many failures of a group are counted, the newest first; `is_counted` shows if
    /// there are more.
    static constexpr std::int64_t kCountMax = 10'000;
    static constexpr std::size_t kSamplesMax = 5;

    FailureNote newest;
    std::int64_t count = 0;
    bool is_counted = true;           ///< false: there are more than `count`
    std::int64_t dead_letter = 0;     ///< of `count`
    TimePoint first_at{};             ///< the oldest of `count`
    std::vector<int> versions;        ///< of the workflow, by number
    std::vector<InstanceId> samples;  ///< the newest ones, at most kSamplesMax

    bool operator==(const FailureGroup&) const = default;
};

struct FailureGroups {
    std::vector<FailureGroup> groups;  ///< the largest first
    bool is_complete = true;           ///< false: there are more groups than were looked at

    bool operator==(const FailureGroups&) const = default;
};

}  // namespace ebb
