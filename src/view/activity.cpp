#include "view/activity.h"

#include <algorithm>
#include <charconv>

#include <ebb/error.h>

#include "support/uuid.h"

namespace ebb::view {

namespace {

constexpr int kPage = 2'000;
/// An instance may become visible this long after the time in its id.
constexpr Duration kLate = std::chrono::minutes(1);
/// So many of the newest ids are read again at most, to find those that came late.
constexpr std::size_t kReadAgainMax = 1'000;

const std::vector<InstanceStatus>& live_statuses() {
    static const std::vector<InstanceStatus> statuses{
        InstanceStatus::Running,
        InstanceStatus::Paused,
        InstanceStatus::Compensating,
        InstanceStatus::DeadLetter,
        InstanceStatus::Moved,
    };
    return statuses;
}

/// The visits that an instance has made, from its state. That of one that has ended has no other
/// member of this name but in the records, which come after it.
std::int64_t visits_of(std::string_view state) {
    constexpr std::string_view kName = "\"visit\":";
    const std::size_t at = state.find(kName);
    if (at == std::string_view::npos) return 0;
    std::int64_t visits = 0;
    std::from_chars(state.data() + at + kName.size(), state.data() + state.size(), visits);
    return visits;
}

TimePoint time_of(const InstanceId& id) {
    constexpr std::size_t kTimeBytes = 6;
    std::int64_t millis = 0;
    for (std::size_t i = 0; i < kTimeBytes; ++i) millis = millis << 8 | id.bytes.at(i);
    return TimePoint(std::chrono::milliseconds(millis));
}

}  // namespace

struct Activity::Budget {
    const Clock& clock;
    SteadyPoint end;
    int rows = kRowsMax;

    bool is_over() const { return rows <= 0 || clock.steady_now() >= end; }
};

void Activity::look(Duration time_max, Duration pause) {
    if (!looking_.try_lock()) return;
    try {
        look_now(time_max, pause);
    } catch (...) {
        looking_.unlock();
        throw;
    }
    looking_.unlock();
}

void Activity::look_now(Duration time_max, Duration pause) {
    const SteadyPoint begun = clock_.steady_now();
    if (looked_ && begun < *looked_ + pause) return;
    looked_ = begun;
    now_ = store_.now();
    Budget budget{.clock = clock_, .end = begun + time_max};
    {
        const Lock lock(mutex_);
        for (auto each = workflows_.begin(); each != workflows_.end();) {
            each = each->second.forget_before(now_) ? std::next(each) : workflows_.erase(each);
        }
    }
    samples_.forget_before(now_);
    if (!live_.empty()) check_live(budget);
    read_new(budget);
    looked_ = clock_.steady_now();
}

bool Activity::is_complete() const {
    const Lock lock(mutex_);
    return is_complete_;
}

// The first gap is the whole longest window. Later ones are what is new since the last look; they
// are small, unless instances start faster than they are read.
void Activity::read_new(Budget& budget) {
    const InstanceId from = head_.value_or(lowest_id_of(now_ - ActivityQuery::kWindowMax));
    gaps_.push_front({.before = std::nullopt, .from = from});
    try {
        read_gaps(budget);
    } catch (...) {
        close_new();
        throw;
    }
    close_new();
}

void Activity::read_gaps(Budget& budget) {
    for (bool is_new = true; !gaps_.empty() && !budget.is_over(); is_new = false) {
        if (!read_gap(gaps_.front(), is_new, budget)) return;
        gaps_.pop_front();
        // From here on, `close_new` finds no gap without an end.
    }
}

/// Returns whether all of it is read.
bool Activity::read_gap(Gap& gap, bool is_new, Budget& budget) {
    while (!budget.is_over()) {
        const InstanceHits hits = store_.search(
            {.before = gap.before, .from = gap.from, .limit = kPage, .scan_max = kPage}
        );
        for (const InstanceRow& row : hits.rows) {
            budget.rows -= 1;
            // Noted only when it is counted: if the store fails, the next look takes it again.
            if (!recent_.contains(row.id)) count(row, budget);
            if (is_new) recent_.insert(row.id);
            gap.before = row.id;
            if (budget.is_over() && &row != &hits.rows.back()) return false;
        }
        if (!hits.next) return true;
        gap.before = hits.next;
    }
    return false;
}

/// Decides where the next look begins.
void Activity::close_new() {
    // Nothing of it was read: the next look takes the same again.
    if (!gaps_.empty() && !gaps_.front().before) gaps_.pop_front();
    if (!recent_.empty()) {
        InstanceId head = std::max(lowest_id_of(now_ - kLate), head_.value_or(InstanceId{}));
        if (recent_.size() > kReadAgainMax) {
            head = std::max(head, *std::next(recent_.rbegin(), kReadAgainMax - 1));
        }
        if (!gaps_.empty()) head = std::max(head, *gaps_.front().before);
        // A gap that is left may have ids that an earlier look has counted.
        const auto is_awaited = [&](const InstanceId& id) EBB_REQUIRES(looking_) {
            return std::any_of(gaps_.begin(), gaps_.end(), [&](const Gap& gap) {
                return id >= gap.from && id < gap.before;
            });
        };
        for (auto id = recent_.begin(); id != recent_.end() && *id < head;) {
            id = is_awaited(*id) ? std::next(id) : recent_.erase(id);
        }
        head_ = head;
    } else if (!head_ && gaps_.empty()) {
        head_ = lowest_id_of(now_ - kLate);
    }
    const Lock lock(mutex_);
    is_complete_ = head_ && gaps_.empty();
    if (!head_) {
        counted_from_ = now_;
    } else {
        counted_from_ = gaps_.empty() ? TimePoint{} : time_of(*gaps_.front().before);
    }
}

// The newest live instances are looked at each time, because most of them end soon, and the others
// in turn.
void Activity::check_live(Budget& budget) {
    std::optional<InstanceId> newest;
    if (check_live_page(newest, budget) || !newest) return;
    if (!live_before_ || *newest < *live_before_) live_before_ = newest;
    if (check_live_page(live_before_, budget)) live_before_.reset();
}

/// Moves `before` to the end of the page. Returns whether there is no other page.
bool Activity::check_live_page(std::optional<InstanceId>& before, Budget& budget) {
    const std::vector<InstanceRow> page =
        store_.list({.statuses = live_statuses(), .before = before, .limit = kPage});
    budget.rows -= static_cast<int>(page.size());
    std::set<InstanceId> is_live;
    for (const InstanceRow& row : page) {
        is_live.insert(row.id);
        note_live(row);
    }
    const bool is_last = static_cast<int>(page.size()) < kPage;
    const InstanceId low = is_last ? InstanceId{} : page.back().id;
    for (auto at = live_.lower_bound(low); at != live_.end() && (!before || at->first < *before);) {
        if (is_live.contains(at->first)) {
            ++at;
            continue;
        }
        if (budget.is_over()) return false;
        at = check_ended(at->first, budget) ? live_.erase(at) : std::next(at);
    }
    if (!is_last) before = low;
    return is_last;
}

/// Returns whether no more will happen to it.
bool Activity::check_ended(const InstanceId& id, Budget& budget) {
    budget.rows -= 1;
    std::optional<InstanceRow> row;
    try {
        row = store_.load(id);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::CorruptState) throw;
    }
    if (!row) return true;
    if (!is_terminal(row->status)) return false;
    count_end(*row, budget);
    return true;
}

void Activity::count(const InstanceRow& row, Budget& budget) {
    if (is_terminal(row.status)) {
        count_end(row, budget);
    } else {
        live_.try_emplace(row.id, Live{});
        note_live(row);
        if (live_.size() > kLiveMax) {
            live_.erase(live_.begin());
            const Lock lock(mutex_);
            has_left_ends_out_ = true;
        }
    }
    note(row.workflow, row.created_at, [](ActivityCell& cell) { cell.started += 1; });
}

void Activity::note_live(const InstanceRow& row) {
    const auto live = live_.find(row.id);
    if (live == live_.end()) return;
    const bool is_dead = row.status == InstanceStatus::DeadLetter;
    if (is_dead && !live->second.is_dead) {
        note(row.workflow, row.updated_at, [](ActivityCell& cell) { cell.dead_letters += 1; });
    }
    live->second.is_dead = is_dead;
}

void Activity::count_end(const InstanceRow& row, Budget& budget) {
    // All that the store may refuse comes first, so that nothing is counted twice.
    const bool was_undone = was_compensated(row, budget);
    const Delays delays = read_delays(row, budget);
    const std::int64_t visits = visits_of(row.state);
    note(row.workflow, row.finished_at, [&](ActivityCell& cell) {
        switch (row.status) {
            case InstanceStatus::Completed:
                cell.completed += 1;
                cell.durations.add(row.finished_at - row.created_at);
                break;
            case InstanceStatus::Failed:
                cell.failed += 1;
                break;
            case InstanceStatus::Cancelled:
                cell.cancelled += 1;
                break;
            default:
                cell.aborted += 1;
                break;
        }
        cell.compensated += was_undone ? 1 : 0;
        cell.steps += visits;
    });
    const Lock lock(mutex_);
    WorkflowActivity* const counts = counts_of(row.workflow);
    if (counts == nullptr) return;
    counts->note_sample(row.finished_at, delays.levels, [&](ActivityCell& cell) {
        for (const StartDelay& start : delays.starts) cell.delays.add(start.delay);
    });
}

Activity::Delays Activity::read_delays(const InstanceRow& row, Budget& budget) {
    Delays delays{.levels = samples_.missing(row.finished_at, now_), .starts = {}};
    const auto is_wanted = [](bool is_missing) { return is_missing; };
    if (std::none_of(delays.levels.begin(), delays.levels.end(), is_wanted)) return delays;
    const auto events = store_.history({.instance = row.id, .limit = kEventsMax});
    budget.rows -= static_cast<int>(events.size());
    delays.starts = start_delays(events);
    samples_.take(row.finished_at, delays.levels);
    return delays;
}

bool Activity::was_compensated(const InstanceRow& row, Budget& budget) {
    const bool may_be =
        row.status == InstanceStatus::Failed || row.status == InstanceStatus::Cancelled;
    if (!may_be) return false;
    budget.rows -= 1;
    HistoryQuery query{.instance = row.id, .limit = 1, .types = {HistoryType::StepCompensated}};
    return !store_.history(query).empty();
}

template <typename Change>
void Activity::note(const std::string& workflow, TimePoint at, const Change& change) {
    const Lock lock(mutex_);
    if (WorkflowActivity* const counts = counts_of(workflow)) counts->note(at, now_, change);
}

WorkflowActivity* Activity::counts_of(const std::string& workflow) {
    const auto found = workflows_.find(workflow);
    if (found != workflows_.end()) return &found->second;
    if (static_cast<int>(workflows_.size()) >= kWorkflowsMax) {
        if (static_cast<int>(beyond_.size()) < kWorkflowsMax) beyond_.insert(workflow);
        return nullptr;
    }
    return &workflows_.try_emplace(workflow).first->second;
}

ActivityReport Activity::report(
    const ActivityQuery& query, const std::function<bool(const std::string&)>& is_visible
) const {
    const TimePoint now = store_.now();
    ActivityReport report{.span = activity_span(query, now)};
    report.all.buckets.resize(static_cast<std::size_t>(report.span.buckets()));
    const Lock lock(mutex_);
    report.is_complete = is_complete_;
    report.counted_from = counted_from_;
    report.has_left_ends_out = has_left_ends_out_;
    const auto is_wanted = [&](const std::string& name) {
        return (query.workflow.empty() || name == query.workflow) && is_visible(name);
    };
    for (const auto& [name, activity] : workflows_) {
        if (!is_wanted(name)) continue;
        ActivitySeries series;
        series.workflow = name;
        series.buckets = activity.cells(report.span);
        for (std::size_t i = 0; i < series.buckets.size(); ++i) {
            series.total.add(series.buckets.at(i));
            report.all.buckets.at(i).add(series.buckets.at(i));
        }
        report.all.total.add(series.total);
        if (series.total.events() > 0) report.workflows.push_back(std::move(series));
    }
    for (const std::string& name : beyond_) report.left_out += is_wanted(name) ? 1 : 0;
    std::stable_sort(
        report.workflows.begin(),
        report.workflows.end(),
        [](const ActivitySeries& left, const ActivitySeries& right) {
            return left.total.events() > right.total.events();
        }
    );
    if (const auto count = static_cast<int>(report.workflows.size()); count > kSeriesMax) {
        report.left_out += count - kSeriesMax;
        report.workflows.resize(kSeriesMax);
    }
    return report;
}

}  // namespace ebb::view
