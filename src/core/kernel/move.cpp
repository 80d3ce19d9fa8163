#include <type_traits>
#include <utility>

#include "core/kernel/transition.h"
#include "support/json.h"

namespace ebb::kernel {

namespace {

template <typename E>
constexpr bool kIsOfWorker =
    std::is_same_v<E, event::Started> || std::is_same_v<E, event::StepCompleted> ||
    std::is_same_v<E, event::StepFailed> || std::is_same_v<E, event::StepPaused> ||
    std::is_same_v<E, event::TimerFired> || std::is_same_v<E, event::LeaseLost> ||
    std::is_same_v<E, event::TokenStopped> || std::is_same_v<E, event::StepProgressed>;

bool can_run(InstanceStatus status) {
    return status == InstanceStatus::Running || status == InstanceStatus::Compensating;
}

void remove_tasks(Transition& t) {
    for (const Token& token : t.state.tokens) {
        t.remove_task(token.id);
        if (token.deadline != kNever) t.remove_task(deadline_task(token.id));
    }
    if (t.state.deadline != kNever) t.remove_task(kInstanceToken);
}

void make_tasks(Transition& t) {
    for (Token& token : t.state.tokens) {
        if (token.stopping) {
            // Its handler runs nowhere; the worker that claims this finds that out.
            t.set_task(
                {.kind = TaskChange::Kind::Put, .token = token.id, .handler = {}, .due = t.now}
            );
            continue;
        }
        if (token.deadline != kNever) schedule_step_timeout(t, token);
        t.schedule(token);
        if (TaskChange* task = t.find_task(token.id)) task->is_continued = false;
    }
    set_instance_deadline(t, t.state.deadline);
}

}  // namespace

bool is_answered_by_move(Transition& t, const Event& event) {
    if (t.state.status != InstanceStatus::Moved) return false;
    return std::visit(
        [&](const auto& e) {
            using E = std::decay_t<decltype(e)>;
            if constexpr (std::is_same_v<E, event::Arrived>) return false;
            if constexpr (kIsOfWorker<E> || std::is_same_v<E, event::MoveRequested>) {
                t.ignore();
            } else {
                t.refuse(
                    "invalid_state",
                    "The instance was moved: it continues elsewhere, from its snapshot."
                );
            }
            return true;
        },
        event
    );
}

void on_move_requested(Transition& t, const event::MoveRequested& e) {
    if (t.is_over()) {
        return refuse_finished(t, "moved");
    }
    if (e.seen != t.state.last_seq) {
        return t.refuse("invalid_state", "The instance has changed since it was read.");
    }
    const bool ends_pause = e.ends_pause && t.state.status == InstanceStatus::Paused;
    const InstanceStatus from = ends_pause ? t.state.paused_from : t.state.status;
    HistoryEvent moved{.type = HistoryType::Moved, .payload = "{\"by\":"};
    append_json_string(moved.payload, e.by);
    moved.payload += ",\"from\":\"" + std::string(to_string(from)) + "\"}";
    t.append(std::move(moved));
    if (ends_pause) t.state.paused_from = InstanceStatus::Running;
    t.state.moved_from = from;
    t.state.status = InstanceStatus::Moved;
    remove_tasks(t);
    if (!can_run(from)) return;
    for (Token& token : t.state.tokens) token.is_parked = false;
}

void on_arrived(Transition& t, const event::Arrived& e) {
    if (t.state.status != InstanceStatus::Moved) return t.ignore();
    t.append({.type = HistoryType::Arrived, .payload = e.details});
    t.state.status = t.state.moved_from;
    t.state.moved_from = InstanceStatus::Running;
    make_tasks(t);
}

}  // namespace ebb::kernel
