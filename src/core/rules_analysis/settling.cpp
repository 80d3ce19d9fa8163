#include "core/rules_analysis/settling.h"

#include <algorithm>

namespace ebb::rules_analysis {

namespace {

using Kind = Happening::Kind;
using Phase = AbstractState::Phase;

void set(AbstractState& state, std::size_t trigger, std::uint8_t bits) {
    state.marks[trigger] = static_cast<char>(state.marks[trigger] | bits);
}

void clear(AbstractState& state, std::size_t trigger, int bits) {
    state.marks[trigger] = static_cast<char>(state.marks[trigger] & ~bits);
}

void disarm_all(AbstractState& state) {
    for (std::size_t i = 0; i < state.marks.size(); ++i) {
        if (state.has(i, Marks::kArmed)) clear(state, i, Marks::kArmed | Marks::kPending);
    }
}

bool has_running(const AbstractState& state) {
    for (std::size_t i = 0; i < state.marks.size(); ++i) {
        if (state.has(i, Marks::kPending) && !state.has(i, Marks::kArmed)) return true;
    }
    return false;
}

}  // namespace

bool is_once(const Subject& subject, std::size_t trigger) {
    return subject.program().triggers()[trigger].mode == Trigger::Mode::Once;
}

bool has_any(const AbstractState& state, std::uint8_t bits) {
    for (std::size_t i = 0; i < state.marks.size(); ++i) {
        if (state.has(i, bits)) return true;
    }
    return false;
}

void Settling::run() {
    for (const Truths truth : truth_.invariants) {
        if (truth == kFalse && how_.kind != Kind::Failed) return;
    }
    if (how_.kind == Kind::Handled || how_.kind == Kind::Resumed) {
        for (std::size_t i = 0; i < state_.marks.size(); ++i) clear(state_, i, Marks::kFailed);
    }
    if (how_.kind == Kind::Failed) return decide(state_);
    release(state_, 0);
}

bool Settling::may_release(std::size_t trigger) const {
    if (effect_ == nullptr) return false;
    const std::vector<bool>& reads = subject_.triggers()[trigger].when.reads();
    for (std::size_t i = 0; i < reads.size(); ++i) {
        if (reads[i] && effect_->writes(i)) return true;
    }
    return false;
}

/// Triggers that are held back may be released, if an attribute that they read may have changed.
void Settling::release(AbstractState state, std::size_t first) {
    for (std::size_t i = first; i < subject_.trigger_count(); ++i) {
        if (!state.has(i, Marks::kFailed) || !may_release(i)) continue;
        release(state, i + 1);
        clear(state, i, Marks::kFailed);
    }
    decide(state);
}

void Settling::decide(const AbstractState& state) {
    for (std::size_t i = 0; i < truth_.finals.size(); ++i) {
        if (can_hold(truth_.finals[i])) end(state, static_cast<int>(i));
        if (must_hold(truth_.finals[i])) return;
    }
    for (const Truths truth : truth_.exceptions) {
        if (can_hold(truth)) raise(state, false);
        if (must_hold(truth)) return;
    }
    if (how_.kind == Kind::Failed) return raise(state, false);
    reach_savepoints(state);
    AbstractState running = state;
    running.phase = Phase::Running;
    fire(running);
}

void Settling::end(const AbstractState& state, int final_condition) {
    using enum Rules::FinalWhilePending;
    AbstractState next = state;
    const auto reaction = subject_.rules().final_while_pending;
    if (has_running(state) && reaction == Refuse) {
        blocked_.push_back(final_condition);
        return;
    }
    disarm_all(next);
    if (has_running(state) && reaction == Wait) {
        next.phase = Phase::Finishing;
        settled_.push_back({.state = std::move(next)});
        return;
    }
    next.phase = Phase::Completed;
    std::fill(next.marks.begin(), next.marks.end(), '\0');
    settled_.push_back({.state = std::move(next), .final_condition = final_condition});
}

void Settling::raise(AbstractState state, bool is_stuck) {
    disarm_all(state);
    for (std::size_t i = 0; i < state.marks.size(); ++i) clear(state, i, Marks::kWasTrue);
    using enum Rules::OnException;
    const auto reaction = subject_.rules().on_exception;
    if (reaction == Compensate) {
        AbstractState over = state;
        over.phase = Phase::RolledBack;
        std::fill(over.marks.begin(), over.marks.end(), '\0');
        settled_.push_back({.state = std::move(over), .is_stuck = is_stuck});
        // With a dead letter before, an operator is awaited.
        if (subject_.definition().on_error != Definition::OnError::DeadLetter) return;
    }
    state.phase = Phase::Exception;
    if (reaction == Handle) set(state, subject_.trigger_count(), Marks::kPending);
    settled_.push_back({.state = std::move(state), .is_stuck = is_stuck});
}

/// A rollback to a savepoint restores what is now, except for writes from outside; then nothing is
/// pending, and all conditions are checked. What had fired once may fire again, or not.
void Settling::reach_savepoints(const AbstractState& state) {
    const auto& savepoints = subject_.rules().savepoints;
    bool resumes = false;
    for (std::size_t i = 0; i < savepoints.size(); ++i) {
        resumes = resumes || (savepoints[i].resumes && can_hold(truth_.savepoints[i]));
    }
    if (!resumes || how_.kind == Kind::Resumed) return;
    std::vector<std::size_t> once;
    AbstractState floor = state;
    floor.phase = Phase::Running;
    std::fill(floor.marks.begin(), floor.marks.end(), '\0');
    for (std::size_t i = 0; i < subject_.trigger_count(); ++i) {
        if (is_once(subject_, i)) once.push_back(i);
    }
    if (once.size() > kUncertainMax) {
        is_exhaustive_ = false;
        return;
    }
    for (std::size_t mask = 0; mask < std::size_t{1} << once.size(); ++mask) {
        AbstractState next = floor;
        for (std::size_t i = 0; i < once.size(); ++i) {
            if ((mask >> i & 1U) != 0) set(next, once[i], Marks::kFired);
        }
        resumed_.push_back(std::move(next));
    }
}

/// Whether it makes a difference if the trigger's condition is true.
bool Settling::matters(const AbstractState& state, std::size_t trigger) const {
    const rules::Program::Rule& rule = subject_.program().triggers()[trigger];
    if (!rule.is_enabled || state.has(trigger, Marks::kFailed)) return false;
    const bool is_running =
        state.has(trigger, Marks::kPending) && !state.has(trigger, Marks::kArmed);
    return !is_running || rule.mode == Trigger::Mode::Edge;
}

void Settling::fire(const AbstractState& state) {
    std::vector<bool> is_true(truth_.triggers.size());
    std::vector<std::size_t> uncertain;
    for (std::size_t i = 0; i < truth_.triggers.size(); ++i) {
        const Truths truth = truth_.triggers[i];
        is_true[i] = must_hold(truth);
        if (can_hold(truth) && !must_hold(truth) && matters(state, i)) uncertain.push_back(i);
    }
    if (uncertain.size() > kUncertainMax) {
        is_exhaustive_ = false;
        return;
    }
    for (std::size_t mask = 0; mask < std::size_t{1} << uncertain.size(); ++mask) {
        for (std::size_t i = 0; i < uncertain.size(); ++i) {
            is_true[uncertain[i]] = (mask >> i & 1U) != 0;
        }
        fire_with(state, is_true);
    }
}

/// As rules::write says; `next` remembers it.
bool Settling::may_fire(AbstractState& next, std::size_t trigger, bool is_true) const {
    const rules::Program::Rule& rule = subject_.program().triggers()[trigger];
    if (!rule.is_enabled || next.has(trigger, Marks::kFailed)) return false;
    const bool was_true = next.has(trigger, Marks::kWasTrue);
    if (rule.mode == Trigger::Mode::Edge) {
        clear(next, trigger, Marks::kWasTrue);
        if (is_true) set(next, trigger, Marks::kWasTrue);
    }
    if (!is_true && next.has(trigger, Marks::kArmed)) {
        clear(next, trigger, Marks::kArmed | Marks::kPending);
    }
    if (!is_true || next.has(trigger, Marks::kPending)) return false;
    if (rule.mode == Trigger::Mode::Edge) return !was_true;
    return rule.mode != Trigger::Mode::Once || !next.has(trigger, Marks::kFired);
}

void Settling::fire_with(const AbstractState& state, const std::vector<bool>& is_true) {
    AbstractState next = state;
    bool raises = false;
    for (std::size_t i = 0; i < is_true.size(); ++i) {
        if (!may_fire(next, i, is_true[i])) continue;
        const rules::Program::Rule& rule = subject_.program().triggers()[i];
        // One more than `max_fires` is an exception.
        raises = raises || rule.max_fires > 0;
        set(next, i, Marks::kPending);
        if (rule.is_delayed) {
            set(next, i, Marks::kArmed);
        } else if (is_once(subject_, i)) {
            set(next, i, Marks::kFired);
        }
        fired_.push_back(static_cast<int>(i));
        // A transition that only fires itself again is one, too, after a while.
        raises = raises || (how_.kind == Kind::Completed && how_.trigger == static_cast<int>(i) &&
                            subject_.rules().on_exception == Rules::OnException::Handle);
    }
    if (raises) raise(state, false);
    if (has_any(next, Marks::kPending)) {
        settled_.push_back({.state = std::move(next)});
        return;
    }
    if (has_any(next, Marks::kFailed)) return raise(state, false);
    if (subject_.rules().on_idle == Rules::OnIdle::Wait) {
        settled_.push_back({.state = std::move(next)});
        return;
    }
    if (how_.kind != Kind::Start) raise(state, true);
}

}  // namespace ebb::rules_analysis
