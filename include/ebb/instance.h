#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <ebb/id.h>
#include <ebb/json.h>
#include <ebb/status.h>
#include <ebb/time.h>

// The views of an instance and the requests to it, for the durable engine and the stateless engine.

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
    TimePoint finished_at{};  ///< zero until it has ended
};

/// What one live token waits for, as data and as a sentence.
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

struct PersonalDecision {
    enum class Verdict { Confirm, Reject };

    Verdict verdict = Verdict::Confirm;
    std::string node{};  ///< empty = the only open decision
    std::string by{};
    std::string role{};
    std::string comment{};
    std::string request_id{};  ///< repeating a request with the same id changes nothing
};

struct WriteOptions {
    /// By an operator: any attribute, not only those that may be written from outside, and all
    /// conditions are asked.
    bool is_repair = false;
    std::string by{};
    std::string request_id{};  ///< repeating a request with the same id changes nothing
};

struct RequeueOptions {
    std::optional<Payload> new_input{};  ///< of the failed step
    bool skip_compensation = false;      ///< skip an exhausted compensation
    std::string by{};
};

}  // namespace ebb
