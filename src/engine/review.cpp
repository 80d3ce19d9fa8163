#include "engine/review.h"

#include <algorithm>
#include <utility>

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

void Reviewer::look_again(SteadyPoint now) {
    if (!parts_.agenda.take_look(now)) return;
    parts_.open.end_delays();
    tasks().for_each([this](const Held& held) EBB_REQUIRES(kCommitter) {
        if (held.state.is_idle()) parts_.agenda.touch(held.task.instance);
    });
}

void Reviewer::review_touched(const Moment& now) {
    for (const InstanceId& id : parts_.agenda.take_touched()) {
        // What is pending is touched again when it is settled.
        if (!tasks().has_any_of(id) || parts_.flights.is_pending(id)) continue;
        try {
            review(id, now);
        } catch (const std::exception& error) {
            const auto* known = dynamic_cast<const Error*>(&error);
            if (known == nullptr || !may_pass(*known)) {
                Work work{.instance = id, .causes = {}, .rewrites = {}};
                parts_.settler.drop(work, Error(ErrorCode::CorruptState, error.what()));
                continue;
            }
            environment().report("review_delayed", error);
            parts_.agenda.look_at(now.steady + kReviewPause);
        }
    }
}

void Reviewer::review(const InstanceId& id, const Moment& now) {
    const LivePtr live = parts_.holdings.live_of(id);
    check_doubtful(id);
    const auto review_task = [&](const TaskRef& task) EBB_REQUIRES(kCommitter) {
        if (Held* held = tasks().find(task); held != nullptr && held->state.is_called()) {
            review_attempt(*held, *live);
        }
        Held* held = tasks().find(task);
        if (held != nullptr && held->state.is_idle()) review_idle(*held, *live, now);
    };
    const std::vector<Held>& all = tasks().of(id);
    if (all.empty()) return;
    if (all.size() == 1) return review_task(TaskRef(all.front().task));
    std::vector<TaskRef> tasks;
    for (const Held& held : all) tasks.push_back(held.task);
    for (const TaskRef& task : tasks) review_task(task);
}

void Reviewer::check_doubtful(const InstanceId& id) {
    const auto is_doubtful = [](const Held& held) { return held.is_doubtful; };
    const std::vector<Held>& all = tasks().of(id);
    if (std::none_of(all.begin(), all.end(), is_doubtful)) return;
    const std::vector<TokenId> own = leased_here(id);
    std::vector<TaskRef> lost;
    for (Held& held : tasks().of(id)) {
        const bool is_own = std::find(own.begin(), own.end(), held.task.token) != own.end();
        if (held.is_doubtful && !is_own) lost.push_back(held.task);
        held.is_doubtful = false;
    }
    for (const TaskRef& task : lost) {
        ++environment().statistics.leases_lost;
        parts_.holdings.let_go(task, Attempt::StopReason::LeaseLost);
    }
}

std::vector<TokenId> Reviewer::leased_here(const InstanceId& id) const {
    std::vector<TokenId> own;
    for (const TaskRow& row : environment().store.tasks(id)) {
        if (row.lease_owner == environment().options.worker_id) own.push_back(row.task.token);
    }
    return own;
}

void Reviewer::review_attempt(Held& held, const LiveInstance& live) {
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
            return parts_.holdings.let_go(held.task, Attempt::StopReason::Unwanted);
    }
}

void Reviewer::review_idle(Held& held, LiveInstance& live, const Moment& now) {
    if (now.steady < held.not_before) {
        parts_.agenda.look_at(held.not_before);
        return;
    }
    if (++held.fruitless > kFruitlessMax) {
        environment().log.error(
            "task_is_stuck",
            {{"instance", held.task.instance.to_string()}, {"token", held.task.token}}
        );
        return parts_.holdings.hand_back(held.task);
    }
    const bool is_sure = is_surely_held(held, environment(), now.steady);
    if (!is_sure) {
        held.fruitless = 0;
        if (environment().worker.may_come_back()) return;
        // The store must know that a call left no outcome before the task is handed back: the next
        // worker would call the same attempt once more.
        if (!held.is_called_in_vain) return parts_.holdings.hand_back(held.task);
    }
    if (held.task.token == kMailTask && is_sure) return review_mail(held, live);
    if (auto event = event_for(held, live)) {
        held.state.decide();
        parts_.open.work_of(held.task.instance)
            .causes.push_back({std::move(*event), held.task.token, {}, {}});
        return;
    }
    if (!is_sure) return parts_.holdings.hand_back(held.task);
    NextMove move = next_move(held, live, environment(), now);
    switch (move.kind) {
        case NextMove::Kind::Run:
            return start_attempt(held, live, std::move(*move.call));
        case NextMove::Kind::Rewrite:
            held.state.decide();
            parts_.open.work_of(held.task.instance).rewrites.push_back(std::move(move.row));
            return;
        case NextMove::Kind::Release:
            return parts_.holdings.hand_back(held.task);
        case NextMove::Kind::Wait:
            held.fruitless = 0;
            return;
    }
}

void Reviewer::review_mail(Held& held, const LiveInstance& live) {
    const bool is_unread = held.letters && is_unread_since(held.letters->revision, live);
    // The next claim knows what to do about an instance that has ended or moved.
    const InstanceStatus status = live.state.status;
    if (!is_unread || is_terminal(status) || status == InstanceStatus::Moved) {
        return parts_.settler.return_mail(held.task);
    }
    held.state.decide();
    Work& work = parts_.open.work_of(held.task.instance);
    // A wake without mail goes as one with mail does: there may be some by now.
    if (held.letters->all.empty()) held.letters->all.emplace_back();
    for (const Letter& letter : held.letters->all) {
        work.causes.push_back({
            .event = letter.event.value_or(event::TimerFired{.token = kMailTask}),
            .origin = kMailTask,
            .refusal = {},
            .postmark =
                Postmark{
                    .key = letter.key,
                    .kind = letter.kind,
                    .fault = letter.fault,
                    .revision = held.letters->revision
                },
        });
    }
}

void Reviewer::start_attempt(Held& held, LiveInstance& live, Invocation call) {
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

AttemptPtr Reviewer::hand_out(bool may_keep_one) {
    AttemptPtr mine;
    std::vector<AttemptPtr> started = std::exchange(started_, {});
    // Under load, the order of the queue is the fair one. Without load, passing the call to another
    // thread would cost more than the step.
    if (may_keep_one && !started.empty() && parts_.ready.size() == 0) {
        const auto first = std::min_element(
            started.begin(),
            started.end(),
            [](const AttemptPtr& one, const AttemptPtr& other) {
                return one->call().rank < other->call().rank;
            }
        );
        mine = std::move(*first);
        started.erase(first);
    }
    parts_.ready.push(std::move(started));
    return mine;
}

void Reviewer::hand_out_all() {
    parts_.ready.push(std::exchange(started_, {}));
}

}  // namespace ebb::engine
