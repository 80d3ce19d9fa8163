#include "support/kernel_world.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "store/side_rows.h"

namespace ebb::test {

KernelWorld::KernelWorld(const Definition& definition, Payload input)
    : program(Program::compile(definition)) {
    identity.id = *InstanceId::parse("01900000-0000-7000-8000-000000000001");
    apply(event::Started{.input = std::move(input)});
}

Decision::Verdict KernelWorld::apply(const Event& event) {
    Decision decision = decide(*program, identity, state, event, *this, now);
    refusal_ = decision.refusal;
    if (decision.verdict != Decision::Verdict::Changed) return decision.verdict;
    for (HistoryEvent& row : decision.history) {
        EXPECT_EQ(row.seq, static_cast<Seq>(history.size()) + 1);
        history.push_back(std::move(row));
    }
    state = std::move(decision.state);
    apply_tasks(decision.tasks);
    apply_effects(decision.effects);
    if (is_terminal(state.status)) tasks.clear();
    const std::string text = encode_state(state, *program);
    const InstanceState read = decode_state(text, *program);
    EXPECT_TRUE(read == state) << "not kept by its text: " << text;
    EXPECT_EQ(broken_invariant(), "") << text << "\n" << history_text();
    return decision.verdict;
}

void KernelWorld::apply_effects(const Effects& effects) {
    std::set<TokenId> seen;
    for (const WaitChange& change : effects.waits) {
        EXPECT_TRUE(seen.insert(change.token).second) << "two changes of one wait";
        if (change.is_over) {
            EXPECT_EQ(waits.erase(change.token), 1U) << "the end of a wait that was none";
            continue;
        }
        waits[change.token] = change.wait;
    }
    EXPECT_LE(effects.failures.size(), 1U);
    for (const FailureChange& change : effects.failures) {
        failure = change.is_over ? std::nullopt : std::optional(change.note);
    }
    Effects have;
    for (const auto& [token, wait] : waits) have.waits.push_back({.token = token, .wait = wait});
    if (failure) have.failures.push_back({.note = *failure});
    const Effects want = side_rows_of(*program, state, this, now);
    EXPECT_EQ(side_rows_text(have), side_rows_text(want)) << "the side rows are not the state's";
    if (failure && !want.failures.empty()) {
        EXPECT_EQ(failure->group, want.failures[0].note.group);
    }
}

void KernelWorld::apply_tasks(const std::vector<TaskChange>& changes) {
    std::set<TokenId> seen;
    for (const TaskChange& change : changes) {
        EXPECT_TRUE(seen.insert(change.token).second) << "two changes of one task";
        switch (change.kind) {
            case TaskChange::Kind::Put:
                tasks[change.token] = {.handler = change.handler, .due = change.due};
                break;
            case TaskChange::Kind::Remove:
                tasks.erase(change.token);
                break;
            case TaskChange::Kind::Park:
            case TaskChange::Kind::Unpark: {
                const auto row = tasks.find(change.token);
                if (row != tasks.end())
                    row->second.is_parked = change.kind == TaskChange::Kind::Park;
                break;
            }
            case TaskChange::Kind::Stop: {
                const auto row = tasks.find(change.token);
                if (row == tasks.end()) break;
                row->second.is_stop = true;
                row->second.is_parked = false;
                row->second.handler.clear();
                row->second.due = now;
                break;
            }
        }
    }
}

std::vector<TokenId> KernelWorld::due_tasks() const {
    std::vector<TokenId> due;
    for (const auto& [token, row] : tasks) {
        if (!row.is_parked && !row.is_leased && row.due <= now) due.push_back(token);
    }
    return due;
}

bool KernelWorld::skip_to_next_due() {
    TimePoint next = kNever;
    for (const auto& [token, row] : tasks) {
        if (!row.is_parked && !row.is_leased) next = std::min(next, row.due);
    }
    if (next == kNever) return false;
    now = std::max(now, next);
    return true;
}

std::optional<Invocation> KernelWorld::claim(TokenId token) {
    auto call = invocation(*program, identity, state, token);
    if (call) tasks.at(token).is_leased = true;
    return call;
}

void KernelWorld::complete(const Invocation& call, Payload output) {
    calls.push_back(call.handler);
    const event::StepCompleted event{.attempt = call.attempt, .output = std::move(output)};
    if (apply(event) == Decision::Verdict::Ignored) calls.pop_back();
}

void KernelWorld::fail(const Invocation& call, bool is_permanent) {
    calls.push_back(call.handler + "!");
    const event::StepFailed event{
        .attempt = call.attempt, .failure = {.message = "boom", .is_permanent = is_permanent}
    };
    if (apply(event) == Decision::Verdict::Ignored) calls.pop_back();
}

void KernelWorld::end(const Invocation& call, const Outcome& outcome) {
    switch (outcome.kind) {
        case Outcome::Kind::Complete:
            return complete(call, outcome.output);
        case Outcome::Kind::Fail:
            return fail(call, false);
        case Outcome::Kind::FailForGood:
            return fail(call, true);
        case Outcome::Kind::Hang:
            hanging_.push_back(call);
            return;
        case Outcome::Kind::LoseLease: {
            calls.push_back(call.handler + "?");
            const auto row = tasks.find(call.attempt.token);
            if (row == tasks.end()) return;
            row->second.is_leased = false;
            row->second.was_lost = true;
        }
    }
}

void KernelWorld::do_task(TokenId token, const Outcome* forced) {
    Row& row = tasks.at(token);
    const bool was_lost = std::exchange(row.was_lost, false);
    const Token* live = state.find_token(token);
    if (row.is_stop) {
        apply(event::TokenStopped{.token = token, .visit = live->visit, .was_called = was_lost});
        return;
    }
    if (row.handler.empty()) {
        apply(event::TimerFired{.token = token, .visit = live == nullptr ? 0 : live->visit});
        return;
    }
    if (was_lost) {
        apply(event::LeaseLost{.attempt = present_attempt(*live)});
        return;
    }
    const auto call = claim(token);
    ASSERT_TRUE(call.has_value()) << "a claimable task without a call: token " << token;
    Outcome outcome{.output = payload(call->input)};
    if (script) outcome = script(*call);
    if (outcome.kind == Outcome::Kind::Complete && outcome.output == "null")
        outcome.output = payload(call->input);
    end(*call, forced != nullptr ? *forced : outcome);
}

bool KernelWorld::run_one() {
    const auto due = due_tasks();
    if (due.empty()) return false;
    do_task(due.front(), nullptr);
    return true;
}

void KernelWorld::run(int steps) {
    for (int i = 0; i < steps; ++i) {
        if (!run_one() && !skip_to_next_due()) return;
    }
}

void KernelWorld::run_randomly(std::mt19937_64& random, int steps) {
    static const Outcome kHang{.kind = Outcome::Kind::Hang};
    for (int i = 0; i < steps && !is_terminal(state.status); ++i) {
        const auto due = due_tasks();
        const std::size_t choices = due.size() + hanging_.size();
        if (choices == 0) {
            if (!skip_to_next_due()) return;
            continue;
        }
        const std::size_t choice = random() % choices;
        if (choice < due.size()) {
            do_task(due[choice], &kHang);
            continue;
        }
        const Invocation call = hanging_[choice - due.size()];
        const bool is_repeated = random() % 16 == 0;
        if (!is_repeated)
            hanging_.erase(hanging_.begin() + static_cast<std::ptrdiff_t>(choice - due.size()));
        Outcome outcome = script ? script(call) : Outcome{};
        if (outcome.output == "null") outcome.output = payload(call.input);
        if (outcome.kind == Outcome::Kind::Hang) outcome.kind = Outcome::Kind::Complete;
        end(call, outcome);
    }
}

std::string KernelWorld::calls_text() const {
    std::string text;
    for (const std::string& call : calls) text += (text.empty() ? "" : " ") + call;
    return text;
}

std::string KernelWorld::history_text() const {
    std::string text;
    for (const HistoryEvent& event : history) {
        text += (text.empty() ? "" : " ") + std::string(to_string(event.type));
        if (!event.node.empty()) text += ":" + event.node;
    }
    return text;
}

Payload KernelWorld::result() const {
    return state.result == 0 ? Payload() : payload(state.result);
}

std::string KernelWorld::broken_invariant() const {
    if (is_terminal(state.status)) {
        if (!state.tokens.empty() || !tasks.empty())
            return "a terminal instance has live tokens or tasks";
        return {};
    }
    int compensations = 0;
    bool has_instance_rollback = false;
    for (const Rollback& rollback : state.rollbacks) has_instance_rollback |= rollback.scope == 0;
    const bool is_in_exception = state.rules && state.rules->exception != 0;
    const bool may_wait =
        program->rules() != nullptr && program->rules()->rules().on_idle == Rules::OnIdle::Wait;
    if (state.tokens.empty() && !is_in_exception && !may_wait)
        return "a live instance has no token";
    for (const Token& token : state.tokens) {
        const bool has_task = tasks.contains(token.id);
        compensations += token.compensates != 0 ? 1 : 0;
        const bool needs_task = !token.is_parked && token.status != TokenStatus::Forked &&
                                token.status != TokenStatus::Frozen &&
                                (token.status == TokenStatus::Ready || token.due != kNever);
        if (needs_task != has_task)
            return "token " + std::to_string(token.id) +
                   " has a wait without a wake, or the reverse";
        if (has_instance_rollback && token.compensates == 0 && !token.stopping &&
            token.status != TokenStatus::Forked) {
            return "a forward token lives on during a rollback";
        }
    }
    for (const auto& [id, row] : tasks) {
        if (id > 0 && state.find_token(id) == nullptr) return "a task without a token";
    }
    if (has_instance_rollback && compensations > 1) {
        // Several loser rollbacks may each have had one under way when the instance's began.
        const auto started =
            std::count_if(history.begin(), history.end(), [](const HistoryEvent& event) {
                return event.type == HistoryType::RollbackStarted;
            });
        if (started < 2) return "two compensations at once";
    }
    return {};
}

}  // namespace ebb::test
