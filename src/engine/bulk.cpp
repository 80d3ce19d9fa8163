// The turns of a bulk operation.

#include "engine/bulk.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <span>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>

#include "call/request.h"
#include "core/filter/filter.h"
#include "engine/core.h"
#include "engine/rerun.h"
#include "store/names.h"
#include "support/json.h"
#include "support/sync.h"
#include "support/uuid.h"

namespace ebb::engine {

namespace {

/// How many threads act at the same time.
constexpr int kActors = 8;
/// How many instances a thread acts on at once: their changes are committed together.
constexpr std::size_t kActsTogether = 64;
/// A turn ends after this time, so that a bulk that is paused or canceled stops, and its progress
/// is seen.
constexpr Duration kTurnTime = std::chrono::seconds(2);
constexpr Duration kCanaryLook = std::chrono::seconds(2);
/// An instance that changes all the time is left alone after so many tries.
constexpr int kTriesMax = 50;
constexpr int kCountPage = 2'000;
constexpr int kActsPage = 50;
constexpr std::size_t kMessageBytesMax = 256;
/// Processes of a SQLite store have clocks of their own.
constexpr Duration kClockMargin = std::chrono::seconds(5);

using Steady = std::chrono::steady_clock;

enum class ActOutcome { None, Done, Unchanged, Skipped, Failed };

struct Act {
    InstanceId id;
    std::optional<InstanceRow> row{};     ///< as it was found; none: it is read first
    std::optional<InstanceId> watched{};  ///< by the canary; none: the instance itself
    ActOutcome outcome = ActOutcome::None;
    std::string code{};
    std::string message{};
};

/// Whether the next instance may nevertheless do it; the store's troubles end the turn.
std::optional<ActOutcome> outcome_of_error(const Error& error) {
    switch (error.code()) {
        case ErrorCode::InstanceNotFound:
        case ErrorCode::InvalidState:
        case ErrorCode::NotWaiting:
        case ErrorCode::NotAllowed:
        case ErrorCode::LimitExceeded:
        case ErrorCode::InvalidPayload:
        case ErrorCode::PayloadTooLarge:
        case ErrorCode::InvalidArgument:
        case ErrorCode::WorkflowNotFound:
            return ActOutcome::Skipped;
        case ErrorCode::RevisionChanged:
        case ErrorCode::CorruptState:
            return ActOutcome::Failed;
        default:
            return std::nullopt;
    }
}

/// Why an act on an instance has changed nothing.
std::string_view reason_of(BulkAction action) {
    switch (action) {
        case BulkAction::Cancel:
            return "It is already cancelled.";
        case BulkAction::Abort:
            return "It is already aborted.";
        case BulkAction::Pause:
            return "It is already paused.";
        case BulkAction::Resume:
            return "It is not paused.";
        case BulkAction::Requeue:
            return "It is not dead-lettered.";
        case BulkAction::Rerun:
            return "It was rerun before.";
    }
    return {};
}

/// Acts on a part of the instances.
class BulkTurn {
 public:
    BulkTurn(
        Store& store,
        Engine& engine,
        const BulkJob& job,
        const InstanceId& bulk,
        const StepContext& context
    )
        : store_(store),
          engine_(engine),
          core_(Engine::Core::of(engine)),
          job_(job),
          author_(bulk_author(job, bulk)),
          context_(context),
          until_(Steady::now() + kTurnTime) {}

    BulkProgress run(BulkProgress progress) {
        progress.pause = 0;
        std::int64_t wanted = kBulkTurnMax;
        if (job_.rate) wanted = std::min(wanted, job_.rate->count);
        const bool is_canary = has_canary(progress) && progress.canaries.empty();
        if (is_canary) wanted = std::min(wanted, job_.canary->count);
        const Steady::time_point begun = Steady::now();
        const std::int64_t seen = progress.seen();
        read(progress, static_cast<int>(wanted));
        act_on_all();
        note(progress);
        if (is_canary) watch(progress);
        if (job_.rate && !progress.is_done) {
            const Duration due = job_.rate->period * (progress.seen() - seen) / job_.rate->count;
            add_pause(progress, due - std::chrono::duration_cast<Duration>(Steady::now() - begun));
        }
        return progress;
    }

    bool has_canary(const BulkProgress& progress) const {
        return job_.canary && !progress.has_passed_canary &&
               progress.matched.value_or(0) >= BulkCanary::kMatchedMin;
    }

    static void add_pause(BulkProgress& progress, Duration pause) {
        const double seconds = std::chrono::duration<double>(pause).count();
        progress.pause = std::max({progress.pause, seconds, 0.0});
    }

 private:
    /// What the turn acts on, and where the next one begins if it gets through all of it.
    void read(const BulkProgress& progress, int wanted) {
        if (!job_.ids.empty()) {
            const std::size_t end =
                std::min(job_.ids.size(), progress.next + static_cast<std::size_t>(wanted));
            for (std::size_t at = progress.next; at < end; ++at) acts_.push_back({job_.ids[at]});
            is_last_ = end == job_.ids.size();
            return;
        }
        InstanceSearch search = bulk_search(job_);
        if (progress.before) search.before = progress.before;
        search.limit = wanted;
        InstanceHits hits = store_.search(search);
        for (InstanceRow& row : hits.rows) {
            const InstanceId id = row.id;
            acts_.push_back({id, std::move(row)});
        }
        next_ = hits.next;
        is_last_ = !hits.next;
    }

    void act_on_all() {
        std::vector<std::jthread> others;
        const std::size_t parts = (acts_.size() + kActsTogether - 1) / kActsTogether;
        const auto count = std::min<std::size_t>(kActors, parts);
        for (std::size_t i = 1; i < count; ++i) others.emplace_back([this] { act_on_parts(); });
        act_on_parts();
        others.clear();
        const Lock lock(mutex_);
        if (trouble_) std::rethrow_exception(trouble_);
    }

    /// The acts that are begun are the first ones.
    void act_on_parts() {
        try {
            while (!is_over()) {
                const std::size_t at = taken_.fetch_add(kActsTogether);
                if (at >= acts_.size()) return;
                act_on(std::span(acts_).subspan(at, std::min(kActsTogether, acts_.size() - at)));
            }
        } catch (...) {
            const Lock lock(mutex_);
            if (!trouble_) trouble_ = std::current_exception();
            has_trouble_ = true;
        }
    }

    bool is_over() const {
        return has_trouble_ || context_.stop.stop_requested() || Steady::now() >= until_;
    }

    void act_on(std::span<Act> acts) {
        std::vector<Act*> left;
        for (Act& act : acts) left.push_back(&act);
        for (int tries = 0; !left.empty(); ++tries) left = try_all(left, tries < kTriesMax);
    }

    /// Returns the acts whose instance has changed since it was read.
    std::vector<Act*> try_all(const std::vector<Act*>& acts, bool may_repeat) {
        std::vector<Act*> again;
        const auto attempt = [&](Act& act, const auto& part) {
            if (!do_part(act, part, may_repeat)) again.push_back(&act);
        };
        std::vector<Act*> asking;
        std::vector<Engine::Core::Asked> asked;
        for (Act* act : acts) {
            attempt(*act, [&] {
                auto request = prepare(*act);
                if (!request) return;
                asked.push_back(std::move(*request));
                asking.push_back(act);
            });
        }
        const auto answers = core_.ask_all(std::move(asked));
        for (std::size_t i = 0; i < answers.size(); ++i) {
            attempt(*asking[i], [&] { conclude(*asking[i], answers[i]); });
        }
        return again;
    }

    /// False: the instance has changed since it was read, and the act may be repeated.
    template <class Part>
    static bool do_part(Act& act, const Part& part, bool may_repeat) {
        try {
            part();
        } catch (const Error& error) {
            if (error.code() == ErrorCode::RevisionChanged && may_repeat) {
                act.row.reset();
                return false;
            }
            note_error(act, error);
        }
        return true;
    }

    /// Throws `error` again if it is about the store and not about the instance.
    static void note_error(Act& act, const Error& error) {
        const auto outcome = outcome_of_error(error);
        if (!outcome) throw;
        act.outcome = *outcome;
        act.code = ebb::to_string(error.code());
        act.message = clean_text(error.what(), kMessageBytesMax);
    }

    /// Returns the request, or nothing if there is nothing to ask. No other call of this turn acted
    /// before the revision that the request names, and none can act after it.
    std::optional<Engine::Core::Asked> prepare(Act& act) {
        if (!act.row) act.row = store_.load(act.id);
        if (!act.row || !is_in_bulk(job_, act.row->workflow) || act.id >= job_.before) {
            act.row.reset();  // not even its key is shown
            throw Error(ErrorCode::InstanceNotFound, "There is no such instance.");
        }
        if (job_.action == BulkAction::Rerun) {
            rerun(act);
            return std::nullopt;
        }
        const bool is_untouched = act.row->updated_at < job_.at - kClockMargin;
        if (!is_untouched && was_acted_on(act.id)) {
            act.outcome = ActOutcome::Done;
            return std::nullopt;
        }
        return Engine::Core::Asked{
            .instance = make_live(*act.row, core_.programs),
            .event = event(),
            .expected_revision = act.row->revision
        };
    }

    void conclude(Act& act, const Reply::Answer& answer) {
        Engine::Core::check(answer);
        if (answer.has_stopping_token) core_.end_stopped(act.id);
        const bool has_changed = answer.verdict == Decision::Verdict::Changed;
        act.outcome = has_changed ? ActOutcome::Done : ActOutcome::Unchanged;
    }

    /// The key makes it safe to repeat: what an earlier call of this turn has started is found.
    void rerun(Act& act) {
        check_rerun(act.row->status, RerunScope::Many);
        // The clock of the process that has started it may be behind.
        if (act.row->key.starts_with(kRerunKey) && is_started_here(act.id)) {
            throw Error(ErrorCode::InvalidState, "This operation has started it.");
        }
        const StartedInstance started =
            engine::rerun(engine_, store_, *act.row, {.key = rerun_key(act.id), .by = author_});
        act.watched = started.id;
        act.outcome = started.is_new || is_started_here(started.id) ? ActOutcome::Done
                                                                    : ActOutcome::Unchanged;
        act.message = fmt::format("It was rerun before, as {}.", started.id.to_string());
    }

    bool is_started_here(const InstanceId& id) const {
        const auto events = store_.history({.instance = id, .limit = 1});
        return !events.empty() && events.front().worker == author_;
    }

    bool was_acted_on(const InstanceId& id) const {
        HistoryQuery query{
            .instance = id,
            .limit = kActsPage,
            .order = HistoryQuery::Order::Backward,
            .types =
                {HistoryType::CancelRequested,
                 HistoryType::AbortRequested,
                 HistoryType::Paused,
                 HistoryType::Unpaused,
                 HistoryType::Requeued},
        };
        while (true) {
            const std::vector<HistoryEvent> events = store_.history(query);
            for (const HistoryEvent& event : events) {
                if (event.at < job_.at - kClockMargin) return false;
                if (is_ours(event.payload)) return true;
            }
            if (std::ssize(events) < kActsPage) return false;
            query.before = events.back().seq;
        }
    }

    bool is_ours(const Payload& payload) const {
        const Json json = Json::parse(payload, nullptr, false);
        return json.is_object() && json.value("by", Json()) == Json(author_);
    }

    Event event() const {
        switch (job_.action) {
            case BulkAction::Cancel:
                return make_cancel(author_, job_.reason);
            case BulkAction::Abort:
                return make_abort(author_, job_.reason);
            case BulkAction::Pause:
                return make_pause(author_, job_.reason);
            case BulkAction::Resume:
                return make_resume(author_);
            case BulkAction::Requeue:
                return make_requeue({.by = author_}, core_.environment.limits());
            case BulkAction::Rerun:
                break;  // it starts others, and leaves this one as it is
        }
        throw Error(
            ErrorCode::InvalidArgument, "A rerun does not change the instance that it repeats."
        );
    }

    /// Takes over what was done, and where the next turn begins.
    void note(BulkProgress& progress) {
        std::size_t finished = 0;
        for (Act& act : acts_) {
            if (act.outcome == ActOutcome::None) break;
            ++finished;
            switch (act.outcome) {
                case ActOutcome::Done:
                    ++progress.done;
                    break;
                case ActOutcome::Unchanged:
                    ++progress.unchanged;
                    act.code = "invalid_state";
                    if (act.message.empty()) act.message = reason_of(job_.action);
                    break;
                case ActOutcome::Skipped:
                    ++progress.skipped;
                    break;
                default:
                    ++progress.failed;
            }
            const bool is_told =
                act.outcome != ActOutcome::Done && progress.skips.size() < BulkProgress::kSkipsMax;
            if (!is_told) continue;
            progress.skips.push_back(
                {act.id, act.row ? act.row->key : std::string(), act.code, act.message}
            );
        }
        const bool is_through = finished == acts_.size();
        progress.is_done = is_through && is_last_;
        if (!job_.ids.empty()) {
            progress.next += finished;
        } else if (is_through) {
            progress.before = next_;
        } else if (finished > 0) {
            progress.before = acts_[finished - 1].id;
        }
        acts_.resize(finished);
    }

    void watch(BulkProgress& progress) const {
        for (const Act& act : acts_) {
            if (act.outcome != ActOutcome::Done) continue;
            progress.canaries.push_back(act.watched.value_or(act.id));
        }
        progress.canaries_until = store_.now() + job_.canary->wait;
    }

    Store& store_;
    Engine& engine_;
    Engine::Core& core_;
    const BulkJob& job_;
    const std::string author_;
    const StepContext& context_;
    const Steady::time_point until_;
    std::vector<Act> acts_;
    std::optional<InstanceId> next_;
    bool is_last_ = false;
    std::atomic<std::size_t> taken_{0};
    std::atomic<bool> has_trouble_{false};
    Mutex mutex_;
    std::exception_ptr trouble_ EBB_GUARDED_BY(mutex_);
};

/// How the instances that were requeued or started first have fared.
enum class Canaries { Running, Passed, Failed };

Canaries look_at_canaries(Store& store, const BulkProgress& progress) {
    bool is_running = false;
    for (const InstanceId& id : progress.canaries) {
        const auto row = store.load(id);
        if (!row) continue;
        const bool has_failed =
            row->status == InstanceStatus::DeadLetter || row->status == InstanceStatus::Failed;
        if (has_failed) return Canaries::Failed;
        is_running = is_running || !is_terminal(row->status);
    }
    if (is_running && store.now() < progress.canaries_until) return Canaries::Running;
    return Canaries::Passed;
}

Payload take_turn(Store& store, Engine& engine, const Payload& input, const StepContext& context) {
    const auto events = store.history({.instance = context.instance, .limit = 1});
    if (events.empty()) throw Error(ErrorCode::CorruptState, "The bulk has no history.");
    const BulkJob job = parse_bulk_job(events.front().payload);
    if (context.step != kBulkTurn) {
        return to_payload(BulkProgress{.matched = count_bulk(store, job, context.stop)});
    }
    BulkProgress progress = parse_bulk_progress(input);
    BulkTurn turn(store, engine, job, context.instance, context);
    if (turn.has_canary(progress) && !progress.canaries.empty()) {
        const Canaries canaries =
            context.payload ? Canaries::Passed : look_at_canaries(store, progress);
        if (canaries == Canaries::Failed) {
            context.pause();
            return "null";
        }
        if (canaries == Canaries::Running) {
            progress.pause = 0;
            BulkTurn::add_pause(
                progress, std::min(kCanaryLook, progress.canaries_until - store.now())
            );
            return to_payload(progress);
        }
        progress.has_passed_canary = true;
    }
    return to_payload(turn.run(std::move(progress)));
}

/// What an operator may change, in a store that has had no bulk.
void prepare(Store& store) {
    store.register_workflow(bulk_workflow(store.now()));
    const std::vector<RetentionRule> rules = store.retention();
    const bool has_rule = std::any_of(rules.begin(), rules.end(), [](const RetentionRule& rule) {
        return rule.workflow == kBulkWorkflow;
    });
    if (!has_rule) {
        store.set_retention(
            {.workflow = std::string(kBulkWorkflow),
             .keep = {.completed = kBulksKept, .failed = kBulksKept},
             .updated_at = store.now()}
        );
    }
    if (store.queues({.name = std::string(kBulkQueue), .counts_tasks = false}).empty()) {
        store.set_queue(
            {.name = std::string(kBulkQueue),
             .limits = {.concurrency = kBulksAtOnce},
             .updated_at = store.now()}
        );
    }
}

}  // namespace

InstanceId bulk_limit(const Clock& clock, TimePoint at) {
    return make_instance_id(clock, at + std::chrono::milliseconds(1));
}

InstanceSearch bulk_search(const BulkJob& job) {
    InstanceSearch search{.workflow = job.workflows, .before = job.before};
    if (!job.where.empty()) search.where = filter::compile(job.where, job.at);
    return search;
}

bool is_in_bulk(const BulkJob& job, const std::string& workflow) {
    return !is_system_workflow(workflow) && passes_names(job.workflows, workflow);
}

std::optional<std::int64_t> count_bulk(
    Store& store, const BulkJob& job, const std::stop_token& stop
) {
    if (!job.ids.empty()) return std::ssize(job.ids);
    InstanceSearch search = bulk_search(job);
    search.scan_max = kCountPage;
    std::int64_t count = 0;
    while (!stop.stop_requested()) {
        const InstanceTally tally = store.tally(search);
        for (const StatusCount& each : tally.counts) count += each.count;
        if (!tally.next) return count;
        search.before = tally.next;
    }
    return std::nullopt;
}

void add_bulk_handler(HandlerRegistry& registry, Store& store, std::function<Engine&()> engine) {
    registry.add_raw(
        std::string(kBulkHandler),
        [&store, engine = std::move(engine)](const Payload& input, const StepContext& context) {
            return take_turn(store, engine(), input, context);
        }
    );
}

StartedInstance start_bulk(
    Store& store, const BulkJob& job, const std::string& key, const std::optional<InstanceId>& id
) {
    prepare(store);
    // An engine that only starts: who runs the bulk is for the workers to say.
    const HandlerRegistry none;
    Engine::Core starter(store, none, {});
    return starter.start_system(
        kBulkWorkflow,
        to_payload(job),
        {.key = key,
         .by = job.by,
         .labels =
             {{"action", LabelValue(to_string(job.action))}, {"by", LabelValue(bulk_owner(job.by))}}
        },
        id
    );
}

}  // namespace ebb::engine
