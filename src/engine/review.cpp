// What the committer does next with the tasks it holds.

#include <algorithm>
#include <utility>

#include "engine/committer.h"

namespace ebb::engine {

namespace {

/// A task that was looked at this often without coming any further is given back: only a bug of
/// ours can do that, and it must not spin.
constexpr int kFruitlessMax = 8;
constexpr Duration kReviewPause = std::chrono::seconds(1);

/// The payload of an event, as far as it is remembered.
std::optional<Payload> remembered_payload(const LiveInstance& live, Seq seq) {
    const HistoryEvent* event = live.recent.find(seq);
    while (event != nullptr && event->payload.empty() && event->ref != 0) {
        event = live.recent.find(event->ref);
    }
    if (event == nullptr) return std::nullopt;
    return event->payload.empty() ? Payload("null") : event->payload;
}

/// As the row of its task has it, or would have it: the state is the truth.
TimePoint due_of_ready(const Held& held, const LiveInstance& live) {
    const Token* token = live.state.find_token(held.task.token);
    const bool has_waited = token != nullptr && token->status == TokenStatus::Retrying;
    return has_waited ? token->due : live.row.updated_at;
}

}  // namespace

void Committer::review_touched(const Moment& now) {
    std::vector<InstanceId> touched = std::exchange(touched_, {});
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const InstanceId& id : touched) {
        // What is pending is touched again when it is settled.
        if (!held_.has_any_of(id) || pending_.contains(id)) continue;
        try {
            review(id, now);
        } catch (const std::exception& error) {
            const auto* known = dynamic_cast<const Error*>(&error);
            if (known == nullptr || !may_pass(*known)) {
                Work work{.instance = id, .causes = {}, .rewrites = {}};
                drop(work, Error(ErrorCode::CorruptState, error.what()));
                continue;
            }
            environment().report("review_delayed", error);
            look_again_at_ = std::min(look_again_at_, now.steady + kReviewPause);
        }
    }
}

void Committer::review(const InstanceId& id, const Moment& now) {
    const LivePtr live = live_of(id);
    check_doubtful(id);
    const auto review_task = [&](const TaskRef& task) {
        if (Held* held = held_.find(task); held != nullptr && held->state.is_called()) {
            review_attempt(*held, *live);
        }
        Held* held = held_.find(task);
        if (held != nullptr && held->state.is_idle()) review_idle(*held, *live, now);
    };
    const std::vector<Held>& all = held_.of(id);
    if (all.empty()) return;
    if (all.size() == 1) return review_task(TaskRef(all.front().task));
    std::vector<TaskRef> tasks;
    for (const Held& held : all) tasks.push_back(held.task);
    for (const TaskRef& task : tasks) review_task(task);
}

void Committer::check_doubtful(const InstanceId& id) {
    const auto is_doubtful = [](const Held& held) { return held.is_doubtful; };
    const std::vector<Held>& all = held_.of(id);
    if (std::none_of(all.begin(), all.end(), is_doubtful)) return;
    const std::vector<TokenId> own = leased_here(id);
    std::vector<TaskRef> lost;
    for (Held& held : held_.of(id)) {
        const bool is_own = std::find(own.begin(), own.end(), held.task.token) != own.end();
        if (held.is_doubtful && !is_own) lost.push_back(held.task);
        held.is_doubtful = false;
    }
    for (const TaskRef& task : lost) {
        ++environment().statistics.leases_lost;
        let_go(task, Attempt::StopReason::LeaseLost);
    }
}

std::vector<TokenId> Committer::leased_here(const InstanceId& id) {
    std::vector<TokenId> own;
    for (const TaskRow& row : environment().store.tasks(id)) {
        if (row.lease_owner == environment().options.worker_id) own.push_back(row.task.token);
    }
    return own;
}

void Committer::review_attempt(Held& held, const LiveInstance& live) {
    switch (standing_of(*held.state.attempt(), live)) {
        case Standing::Wanted: {
            const bool may_start = live.state.status == InstanceStatus::Running ||
                                   live.state.status == InstanceStatus::Compensating;
            if (!may_start) held.state.withdraw();
            return;
        }
        case Standing::Unwanted:
            if (!held.state.withdraw() && !std::exchange(held.was_asked_to_stop, true)) {
                parts_.watchdog.stop(held.state.attempt(), Attempt::StopReason::Unwanted);
            }
            return;
        case Standing::Orphaned:
            return let_go(held.task, Attempt::StopReason::Unwanted);
    }
}

void Committer::review_idle(Held& held, LiveInstance& live, const Moment& now) {
    if (now.steady < held.not_before) {
        look_again_at_ = std::min(look_again_at_, held.not_before);
        return;
    }
    if (++held.fruitless > kFruitlessMax) {
        environment().log.error(
            "task_is_stuck",
            {{"instance", held.task.instance.to_string()}, {"token", held.task.token}}
        );
        return hand_back(held.task);
    }
    const bool is_sure = is_surely_held(held, environment(), now.steady);
    if (!is_sure) {
        held.fruitless = 0;
        if (environment().worker.may_come_back()) return;
        // The store must know that a call left no outcome before the task is handed back: the next
        // worker would call the same attempt once more.
        if (!held.is_called_in_vain) return hand_back(held.task);
    }
    if (auto event = event_for(held, live)) {
        held.state.decide();
        work_of(held.task.instance).causes.push_back({std::move(*event), held.task.token, {}, {}});
        return;
    }
    if (!is_sure) return hand_back(held.task);
    NextMove move = next_move(held, live, environment(), now);
    switch (move.kind) {
        case NextMove::Kind::Run:
            return start_attempt(held, live, std::move(*move.call));
        case NextMove::Kind::Rewrite:
            held.state.decide();
            work_of(held.task.instance).rewrites.push_back(std::move(move.row));
            return;
        case NextMove::Kind::Release:
            return hand_back(held.task);
        case NextMove::Kind::Wait:
            held.fruitless = 0;
            return;
    }
}

void Committer::start_attempt(Held& held, LiveInstance& live, Invocation call) {
    const TimePoint due = due_of_ready(held, live);
    Attempt::Call made{
        .instance = live.row.id,
        .invocation = std::move(call),
        .program = live.program,
        .input = {},
        .compensated = {},
        .rank = rank_of(due, live.row.priority),
        .due = due,
    };
    if (made.invocation.is_compensation) {
        const HistoryEvent* event = live.recent.find(made.invocation.compensated);
        if (event != nullptr) {
            made.compensated = *event;
            made.input = remembered_payload(live, event->ref);
        }
    } else {
        made.input = remembered_payload(live, made.invocation.input);
    }
    held.state.call(std::make_shared<Attempt>(std::move(made)));
    held.was_asked_to_stop = false;
    held.fruitless = 0;
    started_.push_back(held.state.attempt());
}

void Committer::hand_back(const TaskRef& task) {
    if (Held* held = held_.find(task); held != nullptr) {
        const bool was_called = (held->state.is_called() && !held->state.withdraw()) ||
                                held->state.returned() || held->is_called_in_vain;
        (was_called ? abandoned_ : releases_).push_back(task);
        let_go(task, Attempt::StopReason::Unwanted);
    }
}

void Committer::flush_releases() {
    if (releases_.empty() && abandoned_.empty()) return;
    std::vector<TaskRef> abandoned = std::exchange(abandoned_, {});
    std::vector<TaskRef> released = std::exchange(releases_, {});
    // A commit that landed since may have kept one of them: it is held, and being worked on.
    const auto is_held = [this](const TaskRef& task) { return held_.find(task) != nullptr; };
    // What is leased to its name is the other process's.
    if (environment().worker.is_displaced) return;
    std::erase_if(abandoned, is_held);
    std::erase_if(released, is_held);
    const WorkerProcess worker = environment().process();
    bool is_told = false;  // of what was abandoned
    try {
        if (!abandoned.empty()) environment().store.abandon(worker, abandoned);
        is_told = true;
        if (!released.empty()) environment().store.release(worker, released);
        parts_.hints.note_any_work();
    } catch (const std::exception& error) {
        // The next heartbeats find them held in the store but not here.
        environment().report("release_failed", error);
    }
    if (is_told) return;
    for (const TaskRef& task : abandoned) doubts_.push_back({task, heartbeats_});
}

}  // namespace ebb::engine
