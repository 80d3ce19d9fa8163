#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/clock.h>
#include <ebb/id.h>

#include "store/store.h"
#include "support/sync.h"
#include "view/activity_counts.h"
#include "view/payload_json.h"
#include "view/start_delay.h"

namespace ebb::view {

/// The activity of one workflow, or of all.
struct ActivitySeries {
    std::string workflow{};  ///< empty = all
    ActivityCell total{};
    std::vector<ActivityCell> buckets{};
};

struct ActivityReport {
    ActivitySpan span{};
    ActivitySeries all{};
    std::vector<ActivitySeries> workflows{};  ///< the busiest first
    int left_out = 0;  ///< workflows that had activity, but are not in `workflows`
    /// All instances of the longest window are counted. If not, `counted_from` says since when:
    /// of the instances that were started before, not all are counted yet.
    bool is_complete = true;
    TimePoint counted_from{};
    /// There were more live instances than kLiveMax, and the ends of the oldest are not counted.
    bool has_left_ends_out = false;
};

/// How many instances started and ended, how, and how long they took, by spans of time.
///
/// No one writes this down: no commit, no table, no index. It is counted from the instances that
/// the store has, when someone asks. Ids begin with the time of the start, so what is new since the
/// last look is one short range of the primary key; what was live then and is live no more is found
/// in the index of live instances. The first looks also count back through the last 30 days, a
/// budget at a time. The counts are kept in memory: they cost nothing as long as no one asks, and
/// do not survive the process. What was purged before the first look is not in them, and an
/// instance that was started in a transaction counts only if that committed within a minute.
///
/// How long due tasks waited for a worker is in the histories only, so it is read of a sample of
/// the instances that have ended, of all workflows together: ActivitySamples says of which.
///
/// Thread-safe. One thread looks at a time; the others answer with what is counted so far.
class Activity {
 public:
    static constexpr int kRowsMax = 20'000;    ///< that one look reads
    static constexpr int kWorkflowsMax = 200;  ///< that are counted
    static constexpr int kLiveMax = 50'000;    ///< live instances whose end is awaited
    static constexpr int kSeriesMax = 50;      ///< workflows in one report
    /// Of the history of an instance in the sample of start delays. It counts as so many rows as
    /// it has events.
    static constexpr int kEventsMax = 200;

    /// Both must outlive it. It only reads.
    Activity(Store& store, const Clock& clock) : store_(store), clock_(clock) {}

    /// Counts what has happened since the last look, and goes on counting back. Reads at most
    /// kRowsMax instances, and starts no other read after `time_max`. Does nothing if another
    /// thread looks at this moment, or if the last look was less than `pause` ago. Throws Error of
    /// the store; the next look goes on.
    void look(Duration time_max, Duration pause = Duration::zero());

    /// Whether all instances of the longest window are counted.
    bool is_complete() const;

    /// Throws Error with InvalidArgument as activity_span. `is_visible` says which workflows are
    /// counted.
    ActivityReport report(
        const ActivityQuery& query, const std::function<bool(const std::string&)>& is_visible
    ) const;

 private:
    /// Ids from `from` on, below `before`, that are still to be read.
    struct Gap {
        std::optional<InstanceId> before;
        InstanceId from{};
    };

    /// An instance that had not ended when it was last seen.
    struct Live {
        bool is_dead = false;  ///< counted as a dead letter
    };

    /// What an instance adds to the sample of start delays, and to which widths.
    struct Delays {
        ActivityLevels levels{};
        std::vector<StartDelay> starts;
    };

    struct Budget;

    void look_now(Duration time_max, Duration pause) EBB_REQUIRES(looking_);
    void read_new(Budget& budget) EBB_REQUIRES(looking_);
    void read_gaps(Budget& budget) EBB_REQUIRES(looking_);
    bool read_gap(Gap& gap, bool is_new, Budget& budget) EBB_REQUIRES(looking_);
    void close_new() EBB_REQUIRES(looking_);
    void check_live(Budget& budget) EBB_REQUIRES(looking_);
    bool check_live_page(std::optional<InstanceId>& before, Budget& budget) EBB_REQUIRES(looking_);
    bool check_ended(const InstanceId& id, Budget& budget) EBB_REQUIRES(looking_);
    void count(const InstanceRow& row, Budget& budget) EBB_REQUIRES(looking_);
    void count_end(const InstanceRow& row, Budget& budget) EBB_REQUIRES(looking_);
    Delays read_delays(const InstanceRow& row, Budget& budget) EBB_REQUIRES(looking_);
    void note_live(const InstanceRow& row) EBB_REQUIRES(looking_);
    bool was_compensated(const InstanceRow& row, Budget& budget) EBB_REQUIRES(looking_);
    template <typename Change>
    void note(const std::string& workflow, TimePoint at, const Change& change)
        EBB_REQUIRES(looking_);
    /// The counts of a workflow; null beyond kWorkflowsMax.
    WorkflowActivity* counts_of(const std::string& workflow) EBB_REQUIRES(looking_, mutex_);

    Store& store_;
    const Clock& clock_;

    Mutex looking_;  ///< held for a whole look; before mutex_
    TimePoint now_ EBB_GUARDED_BY(looking_){};
    std::optional<SteadyPoint> looked_ EBB_GUARDED_BY(looking_);
    std::deque<Gap> gaps_ EBB_GUARDED_BY(looking_);  ///< the newest first
    std::optional<InstanceId> head_ EBB_GUARDED_BY(looking_
    );                                                      ///< all below it is in a gap or counted
    std::set<InstanceId> recent_ EBB_GUARDED_BY(looking_);  ///< counted, from head_ on
    std::map<InstanceId, Live> live_ EBB_GUARDED_BY(looking_);
    std::optional<InstanceId> live_before_ EBB_GUARDED_BY(looking_);
    ActivitySamples samples_ EBB_GUARDED_BY(looking_);

    mutable Mutex mutex_;
    std::map<std::string, WorkflowActivity> workflows_ EBB_GUARDED_BY(mutex_);
    std::set<std::string> beyond_ EBB_GUARDED_BY(mutex_);  ///< workflows beyond kWorkflowsMax
    bool is_complete_ EBB_GUARDED_BY(mutex_) = false;
    bool has_left_ends_out_ EBB_GUARDED_BY(mutex_) = false;
    TimePoint counted_from_ EBB_GUARDED_BY(mutex_){};
};

/// As `GET /stats/activity` answers.
Json activity_json(const ActivityReport& report);

}  // namespace ebb::view
