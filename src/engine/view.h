#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ebb/engine.h>

#include "call/event_view.h"
#include "core/kernel/decide.h"
#include "engine/live_instance.h"
#include "store/store.h"

// What people see of an instance, derived from its state and its history. Pure functions, unless a
// store is a parameter.

namespace ebb::engine {

InstanceSummary to_summary(const InstanceRow& row);

/// What `options` asks a store for, but for its filter.
InstanceQuery query_of(const ListOptions& options);

/// The status or the end of the instance. Reads from the store what is not remembered.
Result result_of(Store& store, LiveInstance& live);

/// What a sentence about the instance may tell of a payload: all of it, a part, or nothing (empty).
using ShownPayload = std::function<Payload(const InstanceRow& row, const Payload& payload)>;

/// Everything that is known of one instance.
struct Facts {
    const Program& program;
    const InstanceRow& row;
    const InstanceState& state;
    std::span<const HistoryEvent> history;  ///< all of it
    std::span<const TaskRow> tasks;
    std::span<const WorkerRow> workers;
    /// The queues with limits in which its tokens wait, one entry for each such token.
    std::span<const std::pair<TokenId, QueueUse>> queues;
    TimePoint now{};
    ShownPayload shown{};  ///< empty = sentences may tell everything

    /// What a sentence may tell of the payload; empty = nothing.
    Payload visible(const Payload& payload) const { return shown ? shown(row, payload) : payload; }
};

/// The condition of the worker that holds a task, according to its last heartbeat.
struct Holder {
    enum class Life {
        Alive,
        Dead,  ///< its leases expired at `died_at`, and no worker has taken them yet
        Gone,  ///< it is no longer registered
    };

    Life life = Life::Alive;
    TimePoint died_at{};
};

/// The holder of a leased task.
Holder holder_of(const Facts& facts, const TaskRow& task);

/// Every visit of a node in the order of the first event; visits without an event come last.
std::vector<StepView> steps_of(const Facts& facts);

/// One entry for each live token.
std::vector<WaitingFor> waiting_for(const Facts& facts);

/// A few sentences: what it waits for, or why it compensates or has ended.
std::string why(const Facts& facts);

/// Sentences about the transitions that are not fired; empty if there are no rules.
std::string describe_rules(const Facts& facts);

/// What a token with a due task waits for in its queue, as half a sentence: `a slot of queue "q" (4
/// of 4 in use)`. Empty if the limits allow it to start.
std::string describe_queue_wait(const Facts& facts, TokenId token);

/// Whether the definition describes the handler as a program, which a worker runs only if a file or
/// `--allow-exec` permits it.
bool is_program(const Definition& definition, const std::string& handler);

/// How long a task that a worker must not run stays out of that worker's way.
inline constexpr Duration kLeftAlone = std::chrono::seconds(1);

/// Since when every worker that has found the due task has left it alone, because it may not run
/// the program: only the database names it. Empty = none has.
std::optional<TimePoint> left_alone_since(
    const Program& program,
    const InstanceRow& row,
    const InstanceState& state,
    const TaskRow& task,
    TimePoint now
);

/// `code: message` of a failure.
std::string describe_failure(const Payload& failure);

/// The same, or only the code if the message is not to be visible.
std::string describe_failure(const Facts& facts, const Payload& failure);

/// A failure of which only the code is left.
Payload without_message(const Payload& failure);

/// The event of `facts` with that number; null if there is none.
const HistoryEvent* find_event(const Facts& facts, Seq seq);

/// Its payload, following `ref`; empty if there is none.
Payload find_payload(const Facts& facts, Seq seq);

/// Names the branches around a place by their blocks: `2:pay` becomes `prepare:pay`.
std::string readable_path(const Facts& facts, std::string_view path);

}  // namespace ebb::engine
