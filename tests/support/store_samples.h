#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "store/store.h"

// Short ways to make what stores are given, and to print what they answer.

namespace ebb::testing {

inline constexpr TimePoint kStart{std::chrono::seconds(1'800'000'000)};

/// The n-th id; ids rise with n.
inline InstanceId id_of(int n) {
    InstanceId id;
    for (std::size_t i = 0; i < 4; ++i) {
        id.bytes[i] = static_cast<std::uint8_t>(static_cast<unsigned>(n) >> (24 - 8 * i));
    }
    id.bytes[6] = 0x70;
    id.bytes[8] = 0x80;
    id.bytes[15] = 0x01;
    return id;
}

inline HistoryEvent event_of(Seq seq, HistoryType type, Payload payload = {}) {
    HistoryEvent event;
    event.seq = seq;
    event.type = type;
    event.payload = std::move(payload);
    event.at = kStart;
    return event;
}

inline TaskChange change_of(TaskChange::Kind kind, TokenId token) {
    TaskChange change;
    change.kind = kind;
    change.token = token;
    return change;
}

inline TaskChange put(TokenId token, std::string handler, TimePoint due = kStart) {
    TaskChange change = change_of(TaskChange::Kind::Put, token);
    change.handler = std::move(handler);
    change.due = due;
    return change;
}

inline TaskChange put_in(std::string queue, TokenId token, std::string handler) {
    TaskChange change = put(token, std::move(handler));
    change.queue = std::move(queue);
    return change;
}

inline TaskChange keyed(
    std::string queue, std::string key, TokenId token = 1, std::string handler = "pay"
) {
    TaskChange change = put_in(std::move(queue), token, std::move(handler));
    change.concurrency_key = std::move(key);
    return change;
}

inline TaskChange put_continued(TokenId token, std::string handler) {
    TaskChange change = put(token, std::move(handler));
    change.is_continued = true;
    return change;
}

inline NewInstance instance_of(int n, std::vector<TaskChange> tasks = {}) {
    NewInstance instance;
    instance.row.id = id_of(n);
    instance.row.workflow = "orders";
    instance.row.state = "{}";
    instance.row.created_at = kStart;
    instance.row.updated_at = kStart;
    instance.history.push_back(event_of(1, HistoryType::Started, "{\"n\":1}"));
    instance.tasks = std::move(tasks);
    return instance;
}

inline StartResult start_one(Store& store, const NewInstance& instance) {
    return store.start({&instance, 1}).at(0);
}

/// A Commit that owns what it points to.
struct Change {
    int instance = 1;
    std::int64_t revision = 1;
    InstanceStatus status = InstanceStatus::Running;
    std::string state = "{}";
    std::vector<HistoryEvent> history = {};
    std::vector<TaskChange> tasks = {};
    std::vector<MailKey> received = {};
    Effects effects = {};
    std::string lease_owner = {};
    TimePoint now = kStart;

    Commit view() const {
        return {
            .instance = id_of(instance),
            .expected_revision = revision,
            .status = status,
            .state = state,
            .history = history,
            .tasks = tasks,
            .received = received,
            .effects = effects.is_empty() ? nullptr : &effects,
            .lease_owner = lease_owner,
            .now = now,
        };
    }
};

inline CommitResult commit_one(Store& store, const Change& change) {
    const Commit commit = change.view();
    return store.commit({&commit, 1}).at(0);
}

inline Mail mail_of(int to, std::string sender, std::string body = "{}") {
    return {
        .to = id_of(to),
        .key = {.sender = std::move(sender)},
        .kind = "signal",
        .body = std::move(body)
    };
}

inline SendResult send_one(Store& store, const Mail& mail) {
    return store.send({&mail, 1}).at(0);
}

inline WorkerRow worker_of(std::string id, std::vector<std::string> handlers = {"pay"}) {
    WorkerRow worker;
    worker.id = std::move(id);
    worker.host = "localhost";
    worker.pid = 7;
    worker.handlers = std::move(handlers);
    worker.started_at = kStart;
    return worker;
}

inline std::vector<Claim> claim(
    Store& store, std::string worker, std::vector<std::string> handlers = {"pay"}, int limit = 64
) {
    ClaimRequest request;
    request.worker = std::move(worker);
    request.handlers = std::move(handlers);
    request.limit = limit;
    return store.claim(request);
}

inline WaitChange wait_of(TokenId token, std::vector<std::string> roles = {}, Visit visit = 1) {
    WaitChange change{.token = token, .wait = {}};
    change.wait.workflow = "orders";
    change.wait.node = "approve";
    change.wait.roles = std::move(roles);
    change.wait.visit = visit;
    change.wait.since = kStart;
    return change;
}

inline WaitChange no_wait(TokenId token) {
    return {.token = token, .is_over = true, .wait = {}};
}

inline FailureChange failure_of(
    std::string group, InstanceStatus status = InstanceStatus::Failed, TimePoint at = kStart
) {
    FailureChange change;
    change.note.workflow = "orders";
    change.note.status = status;
    change.note.step = "pay";
    change.note.code = "declined";
    change.note.group = std::move(group);
    change.note.message = "The card was declined.";
    change.note.event = 2;
    change.note.at = at;
    return change;
}

inline FailureChange no_failure() {
    return {.is_over = true, .note = {}};
}

/// `1/2`: instance and token, the instance as the n of id_of.
inline std::string name_of(const TaskRef& task) {
    unsigned n = 0;
    for (std::size_t i = 0; i < 4; ++i) n = (n << 8U) | task.instance.bytes[i];
    return fmt::format("{}/{}", n, task.token);
}

template <class Rows>
std::vector<std::string> names_of(const Rows& rows) {
    std::vector<std::string> names;
    for (const auto& row : rows) names.push_back(name_of(row.task));
    return names;
}

}  // namespace ebb::testing
