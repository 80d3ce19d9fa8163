#include "server/remote/remote_worker.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/live_instance.h"
#include "engine/lookout.h"
#include "server/api/problem.h"
#include "server/api/service.h"
#include "server/remote/desk.h"
#include "server/remote/poll_answer.h"

namespace ebb::server {

namespace {

constexpr Duration kClaimPauseMin = std::chrono::milliseconds(5);
constexpr Duration kClaimPauseMax = std::chrono::seconds(1);
constexpr Duration kTurnMax = std::chrono::milliseconds(250);
constexpr int kEventsMax = 256;

EngineOptions engine_options(const RemoteWorker::Parts& parts, const RemoteSession& session) {
    return {
        .worker_id = session.worker,
        .threads = session.slots,
        .in_flight_max = session.slots,
        .claim_batch_max = session.slots,
        .queues = session.queues,
        .lease = session.lease,
        .log = parts.log,
        .observers = {},
    };
}

bool ends_attempt(HistoryType type) {
    switch (type) {
        case HistoryType::StepCompleted:
        case HistoryType::StepRetried:
        case HistoryType::StepFailed:
        case HistoryType::StepStopped:
        case HistoryType::CompensationRetried:
        case HistoryType::StepCompensated:
        case HistoryType::CompensationFailed:
        case HistoryType::CompensationStopped:
        case HistoryType::SignalAwaited:
            return true;
        default:
            return false;
    }
}

/// If the lease is lost, the worker that has it now decides whether the call is to stop.
bool has_to_stop(const engine::Attempt& attempt) {
    return attempt.stop_token().stop_requested() &&
           attempt.stop_reason() != engine::Attempt::StopReason::LeaseLost;
}

}  // namespace

/// Hears what the engine has written: for each report one look into the store less.
class RemoteWorker::Confirmer : public Observer {
 public:
    explicit Confirmer(RemoteWorker& worker) : worker_(worker) {}

    void on_committed(const InstanceSummary& instance, std::span<const HistoryEntry> events)
        override {
        worker_.confirm(instance.id, events);
    }

 private:
    RemoteWorker& worker_;
};

std::string_view to_string(TaskResult::Outcome outcome) {
    switch (outcome) {
        case TaskResult::Outcome::Recorded:
            return "recorded";
        case TaskResult::Outcome::Stale:
            return "stale";
        case TaskResult::Outcome::Pending:
            return "pending";
        case TaskResult::Outcome::Refused:
            return "refused";
    }
    return "";
}

RemoteWorker::RemoteWorker(const Parts& parts, RemoteSession session, bool is_continued)
    : parts_(parts),
      session_(std::move(session)),
      heard_at_(parts.clock.steady_now()),
      pause_(kClaimPauseMin),
      core_(parts_.store, handlers_, engine_options(parts_, session_)) {
    for (const std::string& name : session_.handlers) {
        handlers_.add_async_raw(
            name,
            [this](const Payload& input, const detail::CompletionPtr& completion) {
                begin(input, completion);
            }
        );
    }
    core_.environment.observers.add(std::make_shared<Confirmer>(*this));
    for (const auto& observer : parts_.observers) core_.environment.observers.add(observer);
    core_.environment.worker.knows_calls = is_continued;
    core_.environment.worker.is_driven = true;
}

RemoteWorker::~RemoteWorker() {
    end_parked();
    // The leases stay: the worker continues with them at another server, or they end by themselves.
    core_.environment.worker.is_driven = false;
}

void RemoteWorker::begin(const Payload& input, const detail::CompletionPtr& completion) {
    const RemoteTask task{
        .instance = beginning_->task().instance,
        .attempt = beginning_->call().invocation.attempt,
        .worker = session_.worker
    };
    const std::string token = sign_task(parts_.signer, task);
    offered_.insert_or_assign(token, Offered{task, beginning_, completion, input});
}

int RemoteWorker::run_ready() {
    int count = 0;
    while (engine::AttemptPtr attempt = core_.ready.try_pop()) {
        beginning_ = attempt;
        core_.executor.run(attempt);
        beginning_ = nullptr;
        ++count;
    }
    return count;
}

/// As Engine::poll, but claims only what the worker can take.
void RemoteWorker::work(int room, bool has_news) {
    const engine::Environment& environment = core_.environment;
    while (true) {
        core_.keeper.tick(environment.steady_now());
        core_.watchdog.tick(environment.steady_now());
        core_.committer.combine(engine::Committer::Role::Owner);
        if (run_ready() > 0 || core_.ready.size() > 0) continue;
        const bool may_claim =
            !is_draining_ && environment.worker.may_hold(environment.steady_now());
        const int wanted = std::min(room - undelivered(), core_.committer.free_capacity());
        if (!may_claim || wanted <= 0 || core_.claimer.claim(wanted, has_news) == 0) break;
    }
    forget_given_up();
    core_.committer.combine(engine::Committer::Role::Owner);
}

int RemoteWorker::undelivered() const {
    return static_cast<int>(std::count_if(offered_.begin(), offered_.end(), [](const auto& entry) {
        return !entry.second.is_delivered;
    }));
}

/// The watchdog has given them up: what the worker reports about them is not taken any more. What
/// was never delivered ends as soon as it is asked to stop.
void RemoteWorker::forget_given_up() {
    for (auto at = offered_.begin(); at != offered_.end();) {
        const Offered& offered = at->second;
        const bool is_given_up = offered.attempt->phase() == engine::Attempt::Phase::GivenUp;
        const bool is_unneeded = !offered.is_delivered && has_to_stop(*offered.attempt);
        at = is_given_up || is_unneeded ? offered_.erase(at) : std::next(at);
    }
}

void RemoteWorker::take_notes(const std::vector<TaskNote>& notes) {
    for (const TaskNote& note : notes) {
        const auto found = offered_.find(note.token);
        if (found == offered_.end()) continue;
        const StepContext& context = detail::context_of(*found->second.completion);
        for (const auto& [level, line] : note.lines) context.log(level, line);
        if (note.progress) context.progress(*note.progress);
    }
}

/// What the worker holds and what it was given is compared. If it does not know a task, the answer
/// was lost, and the task is given to it again. If it has one that was new here, it got the task
/// from another server.
void RemoteWorker::take_held(const PollRequest& request) {
    if (!request.has_held) return;
    std::set<std::string_view> known(request.held.begin(), request.held.end());
    for (const TaskReport& report : request.done) known.insert(report.token);
    for (auto& [token, offered] : offered_) offered.is_delivered = known.contains(token);
}

void RemoteWorker::confirm(const InstanceId& instance, std::span<const HistoryEntry> events) {
    for (const auto& [token, attempt] : reported_) {
        const AttemptRef& ref = attempt->call().invocation.attempt;
        const bool is_written =
            attempt->task().instance == instance &&
            std::any_of(events.begin(), events.end(), [&](const HistoryEntry& event) {
                const auto type = parse_history_type(event.type);
                return type && ends_attempt(*type) && event.worker == session_.worker &&
                       event.visit == ref.visit && event.attempt == ref.attempt;
            });
        if (is_written) confirmed_.insert(token);
    }
}

bool RemoteWorker::post(const TaskReport& report) {
    const auto found = offered_.find(report.token);
    if (found == offered_.end()) return false;
    const Offered offered = std::move(found->second);
    offered_.erase(found);
    reported_.emplace(report.token, offered.attempt);
    if (report.kind == TaskReport::Kind::Failed) {
        return detail::settle(
            *offered.completion,
            std::make_exception_ptr(HandlerFailure(report.message, report.failure))
        );
    }
    StepResult result = report.result;
    result.choice.is_paused = report.kind == TaskReport::Kind::Paused;
    return detail::settle(*offered.completion, std::move(result));
}

TaskResult RemoteWorker::judge(const TaskReport& report) {
    using Outcome = TaskResult::Outcome;
    // Only what this server has made is in these tables, so its signature need not be checked.
    if (confirmed_.erase(report.token) > 0) {
        reported_.erase(report.token);
        return {report.token, Outcome::Recorded, {}, {}};
    }
    const auto task = read_task(parts_.signer, report.token);
    if (!task) {
        return {
            report.token, Outcome::Refused, "invalid_task", "This server has made no such task."
        };
    }
    if (task->worker != session_.worker) {
        return {
            report.token,
            Outcome::Refused,
            "not_allowed",
            fmt::format("The task was given to the worker {}.", task->worker)
        };
    }
    const Outcome outcome = look_up(report.token, *task);
    if (outcome != Outcome::Pending) reported_.erase(report.token);
    return {report.token, outcome, {}, {}};
}

bool RemoteWorker::is_leased(const TaskRef& task) {
    const auto leased = parts_.store.leased_tasks(session_.worker, {&task.instance, 1});
    return std::find(leased.begin(), leased.end(), task) != leased.end();
}

/// The truth is in the store: the report is written or not.
TaskResult::Outcome RemoteWorker::look_up(const std::string& token_text, const RemoteTask& task) {
    using Outcome = TaskResult::Outcome;
    const auto row = parts_.store.load(task.instance);
    if (!row) return Outcome::Stale;
    const auto events = parts_.store.history(
        {.instance = task.instance,
         .limit = kEventsMax,
         .order = HistoryQuery::Order::Backward,
         .types = {},
         .node = {}}
    );
    const AttemptRef& ref = task.attempt;
    const bool is_written =
        std::any_of(events.begin(), events.end(), [&](const HistoryEvent& event) {
            const bool is_ours =
                event.worker == session_.worker || event.type == HistoryType::SignalAwaited;
            return is_ours && event.token == ref.token && event.visit == ref.visit &&
                   event.attempt == ref.attempt && ends_attempt(event.type);
        });
    if (is_written) return Outcome::Recorded;
    const auto live = engine::make_live(*row, core_.programs);
    const Token* token = live->state.find_token(ref.token);
    const bool is_awaited =
        token != nullptr && present_attempt(*token) == ref && !is_terminal(live->state.status);
    if (!is_awaited) return Outcome::Stale;
    // What was handed to the engine is written even if the lease has ended since then. Anything
    // else is the worker's as long as the store leases it to the worker.
    const TaskRef task_ref{task.instance, ref.token};
    const bool is_ours = reported_.contains(token_text) || is_leased(task_ref);
    return is_ours ? Outcome::Pending : Outcome::Stale;
}

bool RemoteWorker::is_lost_task(const std::string& token) {
    if (offered_.contains(token) || reported_.contains(token)) return false;
    const auto task = read_task(parts_.signer, token);
    if (!task || task->worker != session_.worker) return true;
    return look_up(token, *task) != TaskResult::Outcome::Pending;
}

std::vector<std::string> RemoteWorker::lost_of(const PollRequest& request) {
    std::vector<std::string> lost;
    if (is_displaced()) return lost;
    for (const std::string& token : request.held) {
        if (is_lost_task(token)) lost.push_back(token);
    }
    return lost;
}

bool RemoteWorker::has_to_tell() const {
    return std::any_of(offered_.begin(), offered_.end(), [this](const auto& entry) {
        const Offered& offered = entry.second;
        if (!offered.is_delivered) return parked_->free > 0;
        return !offered.is_stop_told && has_to_stop(*offered.attempt);
    });
}

void RemoteWorker::answer(const Parked& poll, const std::vector<TaskResult>& results) {
    PollAnswer text;
    std::vector<std::string_view> stops;
    std::size_t bytes = 0;
    // What is held under this name is another server's now: the worker is served there.
    int room = is_displaced() ? 0 : std::min(poll.free, WorkerDesk::kTasksMax);
    for (auto& [token, offered] : offered_) {
        if (offered.is_delivered) {
            offered.is_stop_told = has_to_stop(*offered.attempt);
            if (offered.is_stop_told) stops.push_back(token);
            continue;
        }
        bytes += offered.input.size();
        const bool is_too_much = text.has_tasks() && bytes > WorkerDesk::kAnswerBytesMax;
        if (room == 0 || is_too_much) continue;
        --room;
        offered.is_delivered = true;
        text.add_task(token, detail::context_of(*offered.completion), offered.input);
    }
    auto response = json_response(
        200,
        text.take(
            {.results = results,
             .stops = stops,
             .lost = poll.lost,
             .lease_until = parts_.store.now() + session_.lease,
             .is_draining = is_draining_}
        )
    );
    response.set("Cache-Control", "no-store");
    poll.respond(std::move(response));
}

void RemoteWorker::park(Parked poll) {
    parked_ = std::move(poll);
    pause_ = kClaimPauseMin;
    is_waiting_ = true;
}

RemoteWorker::Parked RemoteWorker::take_parked() {
    is_waiting_ = false;
    Parked poll = std::move(*parked_);
    parked_.reset();
    return poll;
}

void RemoteWorker::answer_parked() {
    answer(take_parked(), {});
}

/// Without tasks, whatever there is: nothing more is given to this request.
void RemoteWorker::end_parked() {
    if (!parked_) return;
    parked_->free = 0;
    answer_parked();
}

SteadyPoint RemoteWorker::poll(PollRequest request, const http::Responder& respond) {
    const Lock lock(mutex_);
    if (request.has_held) end_parked();
    heard_at_ = parts_.clock.steady_now();
    // What another server gave to this worker has to be known here before it can be reported.
    if (!std::exchange(has_worked_, true)) work(0, false);
    take_held(request);
    take_notes(request.notes);
    for (const TaskReport& report : request.done) post(report);
    work(request.has_held ? request.free : 0, true);
    take_held(request);
    std::vector<TaskResult> results;
    for (const TaskReport& report : request.done) results.push_back(judge(report));
    if (!request.has_held) {
        answer_report(respond, results);
        return plan_turn();
    }
    Parked poll{respond, heard_at_ + request.wait, request.free, lost_of(request)};
    const bool is_over = request.wait <= Duration::zero() || is_draining_ || is_displaced() ||
                         !results.empty() || !poll.lost.empty();
    if (is_over) {
        answer(poll, results);
    } else {
        park(std::move(poll));
        if (has_to_tell()) answer_parked();
    }
    return plan_turn();
}

/// Each report makes room for another task, which the waiting poll may get.
void RemoteWorker::answer_report(
    const http::Responder& respond, const std::vector<TaskResult>& results
) {
    answer({respond, {}, 0, {}}, results);
    if (!parked_) return;
    parked_->free += static_cast<int>(results.size());
    if (has_to_tell()) answer_parked();
}

SteadyPoint RemoteWorker::turn(bool has_news) {
    const Lock lock(mutex_);
    // A poll may have come in the meantime.
    if (!has_news && parts_.clock.steady_now() < next_turn_) return next_turn_;
    if (parked_ && parked_->respond.is_gone()) take_parked();
    work(parked_ ? parked_->free : 0, has_news);
    const bool is_late = parked_ && parts_.clock.steady_now() >= parked_->until;
    if (parked_ && (has_to_tell() || is_late || is_displaced())) answer_parked();
    pause_ = has_news ? kClaimPauseMin : std::min(pause_ * 2, kClaimPauseMax);
    return plan_turn();
}

SteadyPoint RemoteWorker::plan_turn() {
    const SteadyPoint now = parts_.clock.steady_now();
    next_turn_ = std::min(now + kTurnMax, core_.watchdog.next_look());
    if (parked_) {
        const SteadyPoint due = core_.environment.moment().at(core_.signals.next_due());
        next_turn_ = std::min({next_turn_, parked_->until, now + pause_, due});
        next_turn_ = std::max(next_turn_, now + std::chrono::milliseconds(1));
    }
    return next_turn_;
}

bool RemoteWorker::is_lost() const {
    const Lock lock(mutex_);
    return parts_.clock.steady_now() - heard_at_ > session_.lease;
}

void RemoteWorker::drain() {
    const Lock lock(mutex_);
    is_draining_ = true;
    end_parked();
}

void RemoteWorker::refuse(const std::string& code, const std::string& detail) {
    const Lock lock(mutex_);
    if (!parked_) return;
    const Parked poll = take_parked();
    poll.respond(problem_response(Problem(code, detail), "/api/v1/worker/poll", "-"));
}

void RemoteWorker::close_lost() {
    close();
    const Lock lock(mutex_);
    engine::Lookout(core_.environment).tell_lost({session_.worker});
}

void RemoteWorker::close() {
    const Lock lock(mutex_);
    end_parked();
    if (std::exchange(is_closed_, true) || is_displaced()) return;
    std::vector<TaskRef> untouched;
    std::vector<TaskRef> called;
    for (const auto& [token, offered] : offered_) {
        (offered.is_delivered ? called : untouched).push_back(offered.attempt->task());
    }
    for (const auto& [token, attempt] : reported_) called.push_back(attempt->task());
    core_.environment.worker.is_driven = false;
    const WorkerProcess process = core_.environment.process();
    parts_.store.release(process, untouched);
    parts_.store.abandon(process, called);
    parts_.store.sign_off(process);
}

}  // namespace ebb::server
