#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/store_samples.h"

// Everything that can be seen through the verbs, as text: two stores that describe alike are alike.

namespace ebb::testing {

inline std::int64_t micros(TimePoint time) {
    return time.time_since_epoch().count();
}

inline std::string describe(const InstanceRow& row) {
    return fmt::format(
        "{} {} v{} key '{}' {} r{} p{} {}..{}..{} {}",
        row.id.to_string(),
        row.workflow,
        row.version,
        row.key,
        to_string(row.status),
        row.revision,
        row.priority,
        micros(row.created_at),
        micros(row.updated_at),
        micros(row.finished_at),
        row.state
    );
}

inline std::string describe(const Claim& claim) {
    return fmt::format(
        "{} '{}'{}{} {} slot '{}' of {}",
        name_of(claim.task),
        claim.handler,
        claim.is_stop ? " stop" : "",
        claim.was_lost ? " lost by " : "",
        claim.lost_by,
        claim.slot,
        describe(claim.instance)
    );
}

inline std::string describe(const HistoryEvent& event) {
    return fmt::format(
        "#{} {} node '{}' path '{}' t{} v{} a{} ref {} by '{}' {} {} {}",
        event.seq,
        to_string(event.type),
        event.node,
        event.path,
        event.token,
        event.visit,
        event.attempt,
        event.ref,
        event.worker,
        micros(event.started_at),
        micros(event.at),
        event.payload
    );
}

inline std::string describe(const TaskRow& row) {
    return fmt::format(
        "{} '{}' in {} key '{}' due {}{}{}{}{} held by '{}'",
        name_of(row.task),
        row.handler,
        row.queue,
        row.concurrency_key,
        micros(row.due),
        row.is_parked ? " parked" : "",
        row.is_stop ? " stop" : "",
        row.was_lost ? " lost" : "",
        row.has_slot ? " with slot" : "",
        row.lease_owner
    );
}

inline std::string describe(const WorkerRow& row) {
    return fmt::format(
        "{} {}:{} {} {} x{} {}..{}",
        row.id,
        row.host,
        row.pid,
        fmt::join(row.handlers, ","),
        fmt::join(row.queues, ","),
        row.capacity,
        micros(row.started_at),
        micros(row.expires_at)
    );
}

inline std::string describe(const StatusCount& row) {
    return fmt::format("{} {} {}", row.workflow, to_string(row.status), row.count);
}

inline std::string describe(const VersionCount& row) {
    return fmt::format("{} v{} {} {}", row.workflow, row.version, to_string(row.status), row.count);
}

inline std::string describe(const RetentionRule& rule) {
    const auto text = [](const std::optional<Duration>& kept) { return kept ? kept->count() : -1; };
    return fmt::format(
        "{} {} {} since {}",
        rule.workflow,
        text(rule.keep.completed),
        text(rule.keep.failed),
        micros(rule.updated_at)
    );
}

inline std::string describe(const Store::Unserved& row) {
    return fmt::format("'{}' in {}: {}", row.handler, row.queue, row.count);
}

inline std::string describe(const HeldTask& task) {
    return name_of(task.task) + (task.is_stop ? " stop" : "") +
           (task.may_have_been_called ? " called" : "");
}

inline std::string describe(const QueueUse& use) {
    const QueueView& view = use.view;
    const QueueLimits& limits = view.limits;
    return fmt::format(
        "{} {}/{}/{} per {} since {}: {} run, {} wait, {} sleep, {} slots, {} of the key, {} "
        "starts, "
        "next {}",
        view.name,
        limits.concurrency.value_or(-1),
        limits.concurrency_per_key.value_or(-1),
        limits.rate ? limits.rate->starts : -1,
        limits.rate ? limits.rate->period.count() : 0,
        micros(view.updated_at),
        view.running,
        view.waiting,
        view.sleeping,
        view.slots,
        use.key_slots,
        view.starts,
        micros(view.next_start)
    );
}

inline std::string describe(const WaitRow& row) {
    const Wait& wait = row.wait;
    return fmt::format(
        "{} {} {} v{} key '{}' {} {} '{}' visit {} for {} since {} until {} {}/{}",
        name_of({row.instance, row.token}),
        to_string(wait.kind),
        wait.workflow,
        row.version,
        row.key,
        to_string(row.status),
        wait.node,
        wait.signal,
        wait.visit,
        fmt::join(wait.roles, ","),
        micros(wait.since),
        micros(wait.deadline),
        wait.confirmed,
        wait.quorum
    );
}

inline std::string describe(const FailureNote& note) {
    return fmt::format(
        "{} v{} {} {} {} {} '{}' #{} at {}",
        note.workflow,
        note.version,
        to_string(note.status),
        note.step,
        note.code,
        note.group,
        note.message,
        note.event,
        micros(note.at)
    );
}

inline std::string describe(const FailedInstance& row) {
    return fmt::format("{} key '{}' {}", name_of({row.instance, 0}), row.key, describe(row.note));
}

inline std::string describe(const FailureGroup& group) {
    std::string text = fmt::format(
        "{} x{}{} dead {} since {} v{}",
        describe(group.newest),
        group.count,
        group.is_counted ? "" : "+",
        group.dead_letter,
        micros(group.first_at),
        fmt::join(group.versions, ",")
    );
    for (const InstanceId& id : group.samples) text += " " + name_of({id, 0});
    return text;
}

template <class Row>
std::string describe(const std::vector<Row>& rows) {
    std::string text;
    for (const Row& row : rows) text += describe(row) + "\n";
    return text;
}

/// All that the store holds about the first `instances` instances.
inline std::string describe(Store& store, int instances) {
    std::string text = "instances\n" + describe(store.list({})) + "queues\n" +
                       describe(store.queues({})) + "workers\n" + describe(store.workers()) +
                       "counts\n" + describe(store.count()) + "unserved\n" +
                       describe(store.unserved());
    text += "retention\n" + describe(store.retention());
    for (const auto kind : {Wait::Kind::Decision, Wait::Kind::Signal}) {
        text += "waits\n" + describe(store.list_waits({.kind = kind}));
    }
    const FailureGroups failures = store.failure_groups({});
    text += "failures\n" + describe(failures.groups);
    for (const FailureGroup& group : failures.groups) {
        text += describe(store.list_failures({.group = group.newest.group}));
    }
    for (int n = 1; n <= instances; ++n) {
        text += fmt::format("tasks and history of {}\n", n);
        text += describe(store.tasks(id_of(n)));
        HistoryQuery query;
        query.instance = id_of(n);
        text += describe(store.history(query));
    }
    return text;
}

}  // namespace ebb::testing
