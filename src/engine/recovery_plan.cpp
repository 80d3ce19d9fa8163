#include "engine/recovery_plan.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "call/refusal.h"
#include "engine/core.h"
#include "engine/history_reader.h"

namespace ebb::engine {

namespace {

/// More compensations than one rollback can have: each undoes another event of the history.
constexpr int kDecisionsMax = 100'000;

/// An instance that the kernel takes back, without a store.
class Rehearsal {
 public:
    Rehearsal(Engine::Core& core, LivePtr live)
        : core_(core),
          live_(std::move(live)),
          state_(live_->state),
          reader_(core.environment.store, *live_, events_) {}

    RecoveryPlan play(const Event& request) {
        note_pending();
        step(request);
        for (int count = 0; count < kDecisionsMax; ++count) {
            const auto next = next_event();
            if (!next) break;
            step(*next);
        }
        return tell();
    }

 private:
    Engine::Core& core_;
    LivePtr live_;
    InstanceState state_;
    std::vector<HistoryEvent> events_;
    HistoryReader reader_;
    RecoveryPlan plan_;

    const Program& program() const { return *live_->program; }

    void note_pending() {
        for (const Token& token : state_.tokens) {
            if (token.compensates == 0) plan_.stopped.push_back(program().node(token.node).name);
        }
    }

    void step(const Event& event) {
        Decision decision =
            decide(program(), live_->identity(), state_, event, reader_, core_.environment.now());
        if (decision.verdict == Decision::Verdict::Refused) throw_refusal(decision.refusal);
        if (decision.verdict == Decision::Verdict::Ignored) {
            throw Error(ErrorCode::Internal, "The rehearsal of a rollback does not move.");
        }
        state_ = std::move(decision.state);
        std::move(decision.history.begin(), decision.history.end(), std::back_inserter(events_));
    }

    /// What handlers and workers would report: each stops, and each compensation succeeds.
    std::optional<Event> next_event() const {
        for (const Token& token : state_.tokens) {
            if (token.stopping) {
                return event::TokenStopped{
                    .token = token.id, .visit = token.visit, .was_called = token.attempt > 0
                };
            }
            const bool is_frozen = token.status == TokenStatus::Frozen;
            if (token.compensates == 0 || is_frozen) continue;
            return event::StepCompleted{
                .attempt = present_attempt(token), .output = "null", .worker = {}
            };
        }
        return std::nullopt;
    }

    RecoveryPlan tell() {
        for (const HistoryEvent& event : events_) read(event);
        if (state_.rules) plan_.attributes = program().rules()->state_text(*state_.rules);
        plan_.status = to_string(state_.status);
        return std::move(plan_);
    }

    RecoveryPlan::Undo& undo_of(Seq seq, const std::string& node) {
        const auto same =
            std::find_if(plan_.undone.begin(), plan_.undone.end(), [&](const auto& undo) {
                return undo.seq == seq;
            });
        if (same != plan_.undone.end()) return *same;
        return plan_.undone.emplace_back(
            RecoveryPlan::Undo{.seq = seq, .node = node, .handler = {}, .restored = {}}
        );
    }

    void read(const HistoryEvent& event) {
        const Json payload = Json::parse(event.payload, nullptr, false);
        if (event.type == HistoryType::StateRestored) {
            // The write comes right after the end of its transition.
            RecoveryPlan::Undo& undo = undo_of(event.ref - 1, event.node);
            // Empty: the transition only counts as fired no more.
            if (!payload.at("values").empty()) undo.restored = to_text(payload.at("values"));
        } else if (event.type == HistoryType::StepCompensated) {
            const NodeIndex node = program().find(event.node);
            undo_of(event.ref, event.node).handler = program().node(node).compensate->handler;
        } else if (event.type == HistoryType::AttributesWritten) {
            for (const Json& name : payload.at("fired"))
                plan_.fired.push_back(name.get<std::string>());
        }
    }
};

std::vector<std::int64_t> writes_from_outside(Store& store, const InstanceId& id, Seq after) {
    constexpr int kPage = 1'000;
    std::vector<std::int64_t> writes;
    for (Seq read = after;;) {
        const auto page = store.history(
            {.instance = id,
             .after = read,
             .limit = kPage,
             .types = {HistoryType::AttributesWritten},
             .node = {}}
        );
        for (const HistoryEvent& event : page) {
            if (event.node.empty() && event.ref == 0) writes.push_back(event.seq);
        }
        if (static_cast<int>(page.size()) < kPage) return writes;
        read = page.back().seq;
    }
}

}  // namespace

RecoveryPlan plan_recovery(
    Engine::Core& core,
    const InstanceId& id,
    const Event& request,
    std::optional<std::int64_t> expected_revision
) {
    LivePtr live = make_live(core.load(id), core.programs);
    if (expected_revision && *expected_revision != live->row.revision) {
        throw Error(
            ErrorCode::RevisionChanged,
            fmt::format(
                "The instance has revision {}, not {} as expected.",
                live->row.revision,
                *expected_revision
            )
        );
    }
    RecoveryPlan plan = Rehearsal(core, std::move(live)).play(request);
    const Seq to = std::get<event::RecoverRequested>(request).to;
    plan.kept = writes_from_outside(core.environment.store, id, to);
    return plan;
}

}  // namespace ebb::engine
