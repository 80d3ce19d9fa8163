#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <ebb/clock.h>
#include <ebb/id.h>

#include "core/kernel/program.h"
#include "store/store.h"
#include "support/sync.h"
#include "view/payload_json.h"

namespace ebb::view {

/// Due tasks of one workflow that no worker starts, by handler and queue. Without a handler:
/// timers, deadlines, mail, and outcomes that workers in SQL have handed in, which an engine
/// decides.
struct DelayedTasks {
    std::string workflow;
    std::string handler;
    std::string queue;
    std::int64_t count = 0;
    TimePoint since{};      ///< when the first of them was due
    InstanceId instance{};  ///< whose task that is
    std::string concurrency_key{};
    bool is_left_alone = false;  ///< workers have found them, and may not run their program
    /// Why that task does not start: `no_worker`, `exec_not_allowed`, `queue_closed`, `queue_full`,
    /// `queue_key`, `queue_rate`, `workers_busy`, `no_engine`.
    std::string reason{};
};

/// Finds the tasks that have been due for longer than kAfter. Nothing keeps them in this order, so
/// the live instances are read, a budget at a time, and only while some queue has due tasks, no
/// engine lives, or a registered workflow names programs, which workers may leave alone. What was
/// found by the last whole pass is kept in memory.
///
/// Thread-safe. One thread looks at a time; the others answer with what is known so far.
class Delayed {
 public:
    static constexpr Duration kAfter = std::chrono::minutes(1);
    static constexpr int kRowsMax = 4'000;  ///< that one look reads
    static constexpr int kGroupsMax = 200;  ///< the others are left out

    /// Both must outlive it. It only reads.
    Delayed(Store& store, const Clock& clock) : store_(store), clock_(clock) {}

    /// Goes on reading, for at most `time_max`. Does nothing if another thread looks at this
    /// moment, or if the last look was less than `pause` ago. Throws Error of the store; the next
    /// look goes on.
    void look(Duration time_max, Duration pause = Duration::zero());

    /// Of the workflows that `is_visible` allows: the longest delayed first, with their reasons of
    /// this moment.
    std::vector<DelayedTasks> report(const std::function<bool(const std::string&)>& is_visible);

    /// Whether a whole pass has been made.
    bool is_complete() const;

 private:
    /// Workflow, handler, queue, whether they are left alone.
    using Key = std::tuple<std::string, std::string, std::string, bool>;
    using Groups = std::map<Key, DelayedTasks>;

    void look_now(Duration time_max, Duration pause) EBB_REQUIRES(looking_);
    bool read_page(TimePoint now) EBB_REQUIRES(looking_);
    void add(const InstanceRow& row, TimePoint now) EBB_REQUIRES(looking_);
    /// Null if the version names no programs, or cannot be read.
    std::shared_ptr<const Program> with_programs(const std::string& workflow, int version)
        EBB_REQUIRES(looking_);
    bool knows_programs() EBB_REQUIRES(looking_);
    std::optional<TimePoint> left_alone_since(
        const InstanceRow& row, const TaskRow& task, TimePoint now
    ) EBB_REQUIRES(looking_);
    void publish(Groups groups);

    Store& store_;
    const Clock& clock_;

    Mutex looking_;  ///< held for a whole look; before mutex_
    std::optional<SteadyPoint> looked_ EBB_GUARDED_BY(looking_);
    std::optional<InstanceId> before_ EBB_GUARDED_BY(looking_);
    bool lacks_engine_ EBB_GUARDED_BY(looking_) = false;  ///< at this look
    bool has_left_ EBB_GUARDED_BY(looking_) = false;      ///< some may be left alone, at this look
    std::map<std::pair<std::string, int>, std::shared_ptr<const Program>> programs_
        EBB_GUARDED_BY(looking_);
    Groups pass_ EBB_GUARDED_BY(looking_);  ///< of the pass that is being made

    mutable Mutex mutex_;
    Groups found_ EBB_GUARDED_BY(mutex_);  ///< by the last whole pass
    bool is_complete_ EBB_GUARDED_BY(mutex_) = false;
};

Json delayed_task_json(const DelayedTasks& tasks);

/// As `GET /delayed` answers.
Json delayed_json(const std::vector<DelayedTasks>& tasks, bool is_complete);

}  // namespace ebb::view
