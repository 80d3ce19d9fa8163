#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace ebb {

// What every store must answer alike.

/// Throws WorkflowConflict for a definition that differs from the one kept under the same name and
/// version.
[[noreturn]] void throw_workflow_conflict(const WorkflowRow& row);

/// `-- compatible with 6` as the first line of a migration: programs that know the schema up to 6
/// continue to work with it, so it may be applied while they run. None: it does not say so.
std::optional<int> compatible_with(std::string_view migration);

/// Whether a worker takes tasks of that handler and queue. Any worker runs the engine's own tasks.
bool can_run(const WorkerRow& worker, const Store::Unserved& waiting);

/// Whether the token stands at that attempt in a state as encode_state has written it. Without the
/// workflow, which a store does not know. False if there is no such token.
bool is_at_attempt(std::string_view state, const AttemptRef& attempt);

/// Starts are counted in so many slices of their queue's period, so that the count of any queue is
/// a handful of rows. A slice ends to count when its last moment is a period ago: never too many
/// start, and the next one starts at most a slice late.
inline constexpr int kSlicesPerPeriod = 64;

/// How many attempts of a queue were started in the slice that ends at `at`.
struct Starts {
    TimePoint at{};
    std::int64_t count = 0;
};

/// The end of the slice in which `now` lies.
TimePoint slice_end(TimePoint now, Duration period);

struct RateUse {
    std::int64_t starts = 0;  ///< that count now
    TimePoint next{};         ///< when another is admitted; zero = now
};

/// `starts` by rising time.
RateUse use_of_rate(const QueueRate& rate, const std::vector<Starts>& starts, TimePoint now);

/// Throws LimitExceeded when a queue more than `queues` cannot have limits.
void check_queue_count(std::int64_t queues);

}  // namespace ebb
