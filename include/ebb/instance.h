#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <ebb/id.h>
#include <ebb/json.h>
#include <ebb/status.h>
#include <ebb/time.h>

// What the durable engine and the stateless one say of an instance and are told about it.

namespace ebb {

/// One instance as people see it.
struct InstanceSummary {
    InstanceId id;
    std::string workflow;
    int version = 1;
    std::string key;
    InstanceStatus status = InstanceStatus::Running;
    int priority = 0;
    std::int64_t revision = 0;
    TimePoint created_at{};
    TimePoint updated_at{};
    TimePoint finished_at{};  ///< zero until it is finished
};

/// What one live token waits for, in data and in a sentence.
struct WaitingFor {
    std::string kind;  ///< `handler`, `worker`, `queue`, `retry`, `timer`, `decision`, `signal`,
                       ///< `operator`, `branches`, `snapshot` (it was moved)
    std::string node;
    std::string what;  ///< the handler's, queue's, signal's ... name
    TimePoint until = kNever;
    std::string sentence;
};

/// One row of the history, as JSON-friendly data.
struct HistoryEntry {
    std::int64_t seq = 0;
    std::string type;
    std::string node;
    std::string path;
    std::int64_t visit = 0;
    int attempt = 0;
    std::int64_t ref = 0;
    Payload payload;
    std::string worker;
    TimePoint started_at{};
    TimePoint at{};
};

/// Who asks for an act on an instance, and on what condition.
struct RequestOptions {
    std::string by{};
    std::string reason{};
    std::string request_id{};  ///< of a signal: repeating it with the same id changes nothing
    /// The act is done only if the instance still has this revision, which the commit itself
    /// compares. Otherwise nothing changes, and RevisionChanged is thrown.
    std::optional<std::int64_t> expected_revision{};
};

struct PersonalDecision {
    enum class Verdict { Confirm, Reject };

    Verdict verdict = Verdict::Confirm;
    std::string node{};  ///< empty = the only decision that is awaited
    std::string by{};
    std::string role{};
    std::string comment{};
    std::string request_id{};  ///< repeating a request with the same id changes nothing
    std::optional<std::int64_t> expected_revision{};  ///< see RequestOptions; durable engine only
};

struct RequeueOptions {
    std::optional<Payload> new_input{};  ///< of the failed step
    bool skip_compensation = false;      ///< pass over an exhausted compensation
    std::string by{};
    std::optional<std::int64_t> expected_revision{};  ///< see RequestOptions; durable engine only
};

}  // namespace ebb
