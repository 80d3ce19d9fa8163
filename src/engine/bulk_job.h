#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/id.h>
#include <ebb/json.h>
#include <ebb/time.h>

#include "store/store.h"

// What a bulk operation is to do, and how far it has come. A bulk is an instance of Ebb's own
// workflow `ebb:bulk`: its input is the job, and each turn of its loop yields the progress. This is
// their JSON.

namespace ebb::engine {

inline constexpr std::string_view kBulkWorkflow = "ebb:bulk";
inline constexpr std::string_view kBulkHandler = "ebb:bulk";
inline constexpr std::string_view kBulkQueue = "ebb.bulk";
/// The node that acts on one part of the instances.
inline constexpr std::string_view kBulkTurn = "turn";
/// How many bulks act at the same time on all servers of a store, unless an operator has set
/// another limit.
inline constexpr int kBulksAtOnce = 2;
/// How long bulks are kept, unless an operator has set another retention.
inline constexpr Duration kBulksKept = std::chrono::hours(30 * 24);

enum class BulkAction { Cancel, Abort, Pause, Resume, Requeue, Rerun };

/// `cancel`, ...
std::string_view to_string(BulkAction action);
std::optional<BulkAction> parse_bulk_action(std::string_view text);
/// All names, in a sentence.
std::string bulk_action_names();

/// So many instances in a time.
struct BulkRate {
    std::int64_t count = 0;
    Duration period{};

    /// `100/1s`.
    std::string text() const;

    bool operator==(const BulkRate&) const = default;
};

/// Nothing if it is not a positive number and a time.
std::optional<BulkRate> parse_bulk_rate(std::string_view text);

/// A requeue and a rerun act on some instances first, and look whether they fail again.
struct BulkCanary {
    static constexpr std::int64_t kCountMax = 100;
    /// Fewer instances have no canary.
    static constexpr std::int64_t kMatchedMin = 10;
    static constexpr Duration kWait = std::chrono::seconds(60);
    static constexpr Duration kWaitMax = std::chrono::hours(24);

    std::int64_t count = 1;
    Duration wait = kWait;

    bool operator==(const BulkCanary&) const = default;
};

struct BulkJob {
    static constexpr std::size_t kIdsMax = 10'000;
    static constexpr std::size_t kReasonBytesMax = 1'024;

    BulkAction action = BulkAction::Cancel;
    std::string where{};            ///< a filter, or `ids`
    std::vector<InstanceId> ids{};  ///< the only ones
    /// Names between commas: instances of other workflows do not exist for it. Empty = all but
    /// those of the system.
    std::string workflows{};
    InstanceId before{};  ///< instances from this id on were started later: they are left alone
    TimePoint at{};       ///< when it was asked for: `now` of the filter
    std::string by{};
    std::string reason{};
    std::optional<BulkRate> rate{};
    std::optional<BulkCanary> canary{};

    bool operator==(const BulkJob&) const = default;
};

/// Why an instance was left alone.
struct BulkSkip {
    InstanceId id;
    std::string key;  ///< empty = it has none, or is missing
    std::string code;
    std::string message;

    bool operator==(const BulkSkip&) const = default;
};

struct BulkProgress {
    static constexpr std::size_t kSkipsMax = 20;

    std::optional<std::int64_t> matched{};  ///< counted when it began
    std::int64_t done = 0;
    std::int64_t unchanged = 0;          ///< there was nothing to do
    std::int64_t skipped = 0;            ///< they could not do it
    std::int64_t failed = 0;             ///< something is wrong with them
    std::vector<BulkSkip> skips{};       ///< the first of the skipped and failed
    std::optional<InstanceId> before{};  ///< of a filter: it continues below this id
    std::size_t next = 0;                ///< of ids: it continues with this one
    std::vector<InstanceId> canaries{};  ///< requeued or started first, and watched
    TimePoint canaries_until{};
    bool has_passed_canary = false;
    bool is_done = false;
    double pause = 0;  ///< seconds until the next turn

    std::int64_t seen() const { return done + unchanged + skipped + failed; }

    bool operator==(const BulkProgress&) const = default;
};

Payload to_payload(const BulkJob& job);
Payload to_payload(const BulkProgress& progress);
/// Throw CorruptState for what was not written by these.
BulkJob parse_bulk_job(const Payload& text);
BulkProgress parse_bulk_progress(const Payload& text);

/// Who the histories of the instances name: the author, and the bulk. Any act of this bulk is
/// recognized by it.
std::string bulk_author(const BulkJob& job, const InstanceId& bulk);
/// The bulk that such an author names.
std::optional<InstanceId> bulk_of_author(std::string_view author);

/// The author as the label `by` of the bulk has it.
std::string bulk_owner(const std::string& by);

/// The definition of kBulkWorkflow as it is stored.
WorkflowRow bulk_workflow(TimePoint now);

}  // namespace ebb::engine
