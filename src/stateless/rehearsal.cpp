#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <ebb/clock.h>
#include <ebb/error.h>
#include <ebb/rehearsal.h>
#include <ebb/stateless.h>

#include "core/kernel/program.h"
#include "support/json.h"

namespace ebb {

namespace {

using Kind = RehearsedOutcome::Kind;

constexpr Duration kStepTakes = std::chrono::seconds(1);
constexpr Duration kAnswerTakes = std::chrono::minutes(1);
/// A step that never answers and has no timeout is given up after this time.
constexpr Duration kNeverTakes = std::chrono::hours(24);
constexpr std::array<std::string_view, 4> kKindNames{"complete", "fail", "fail_for_good", "never"};

/// The outcomes of one kind of nodes, and how often each was used.
class Outcomes {
 public:
    explicit Outcomes(const std::map<std::string, RehearsedOutcome>& given) : given_(given) {}

    /// What happens at the node now.
    RehearsedOutcome next(const std::string& node) {
        const auto found = given_.find(node);
        if (found == given_.end()) return {};
        const int used = used_[node]++;
        if (found->second.times == 0 || used < found->second.times) return found->second;
        return {};
    }

 private:
    const std::map<std::string, RehearsedOutcome>& given_;
    std::map<std::string, int> used_;
};

/// A decision or a signal that the instance waits for, and when the answer comes.
struct Answer {
    WaitingFor wait;
    RehearsedOutcome outcome;
    TimePoint at = kNever;
};

/// Makes InstanceIds that are the same in each rehearsal.
InstanceId fixed_id() {
    return InstanceId::parse("01940000-0000-7000-8000-000000000000").value();
}

class Stage {
 public:
    Stage(const Definition& definition, const RehearsalOptions& options)
        : options_(options),
          program_(Program::compile(definition)),
          clock_(options.start),
          outcomes_(options.outcomes),
          compensations_(options.compensations) {
        check_names();
        for (const std::string& handler : program_->handlers()) {
            handlers_.add_raw(handler, [this](const Payload& input, const StepContext& context) {
                return call(input, context);
            });
        }
        stateless::EngineOptions engine;
        engine.clock = &clock_;
        engine.payload_bytes_max = Rehearsal::kPayloadBytesMax;
        engine.history = {stateless::HistoryPolicy::Keep::Last};
        engine.observers = {make_observer([this](const auto&, const auto& events) {
            for (const HistoryEntry& event : events) note(event);
        })};
        engine_ = std::make_unique<stateless::Engine>(handlers_, engine);
        engine_->add(definition);
    }

    Rehearsal play() {
        stateless::StartOptions start;
        start.run_id = fixed_id();
        auto snapshot = engine_->start(program_->definition().name, options_.input, start);
        int turns = 0;
        while (!snapshot.is_finished() && turn(snapshot)) {
            ++turns;
            played_.is_cut = turns >= Rehearsal::kTurnsMax || bytes_ > Rehearsal::kBytesMax;
            if (played_.is_cut) break;
        }
        played_.status = snapshot.instance_status();
        played_.output = snapshot.output();
        played_.error = snapshot.error();
        played_.took = clock_.now() - options_.start;
        if (!snapshot.is_finished()) played_.waiting_for = snapshot.waiting_for();
        if (played_.status != InstanceStatus::Completed) played_.left = left();
        return std::move(played_);
    }

 private:
    /// Throws if an outcome is for no node, or for one that cannot have it.
    void check_names() const {
        if (program_->rules() != nullptr) {
            throw Error(
                ErrorCode::InvalidDefinition,
                fmt::format(
                    "The workflow \"{}\" has rules. Only workflows with steps can be rehearsed.",
                    program_->definition().name
                )
            );
        }
        for (const auto& [name, outcome] : options_.outcomes) {
            const ProgramNode& node = find(name, "outcomes");
            const bool is_fit = node.op == Op::Step ||
                                (node.op == Op::Decision && outcome.kind != Kind::Fail) ||
                                (node.op == Op::Signal &&
                                 (outcome.kind == Kind::Complete || outcome.kind == Kind::Never));
            if (!is_fit) refuse(name, outcome, node.op);
        }
        for (const auto& [name, outcome] : options_.compensations) {
            if (find(name, "compensations").compensate) continue;
            throw Error(
                ErrorCode::InvalidArgument,
                fmt::format("The node \"{}\" has no compensation.", name)
            );
        }
        if (!options_.cancel_after.empty()) find(options_.cancel_after, "cancel_after");
    }

    const ProgramNode& find(const std::string& name, std::string_view where) const {
        const NodeIndex index = program_->find(name);
        if (index != kNoNode) return program_->node(index);
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "The workflow \"{}\" has no node \"{}\", which {} names.",
                program_->definition().name,
                clean_text(name, DefinitionLimits::kNameBytesMax),
                where
            )
        );
    }

    [[noreturn]] static void refuse(
        const std::string& name, const RehearsedOutcome& outcome, Op op
    ) {
        const std::string_view allowed = op == Op::Decision ? "complete, fail_for_good (a person "
                                                              "rejects it) or never"
                                         : op == Op::Signal ? "complete or never"
                                                            : "none: it has no outcome";
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "\"{}\" is not an outcome of the {} \"{}\". Allowed: {}.",
                to_string(outcome.kind),
                to_string(op),
                name,
                allowed
            )
        );
    }

    void note(const HistoryEntry& event) {
        bytes_ += event.payload.size();
        played_.events.push_back(event);
    }

    /// Stands in for each handler.
    Payload call(const Payload& input, const StepContext& context) {
        const bool is_undo = context.compensates.has_value();
        const RehearsedOutcome outcome = (is_undo ? compensations_ : outcomes_).next(context.step);
        const bool is_never = outcome.kind == Kind::Never;
        const Duration takes = outcome.takes.value_or(is_never ? kNeverTakes : kStepTakes);
        const Duration left =
            context.deadline == kNever ? Duration::max() : context.deadline - clock_.now();
        clock_.advance(std::min(takes, std::max(left, Duration::zero())));
        if (is_never || takes >= left) {
            throw HandlerFailure(
                "There is no answer in time.",
                {.code = "timeout", .is_permanent = false, .retry_after = {}, .details = {}}
            );
        }
        if (outcome.kind != Kind::Complete) {
            throw HandlerFailure(
                outcome.message,
                {.code = outcome.code,
                 .is_permanent = outcome.kind == Kind::FailForGood,
                 .retry_after = {},
                 .details = {}}
            );
        }
        if (!outcome.output.empty()) return outcome.output;
        return is_undo ? Payload("null") : input;
    }

    /// Does what comes next, and lets time pass until then. False: nothing more happens.
    bool turn(stateless::Snapshot& snapshot) {
        if (may_cancel()) {
            snapshot = engine_->cancel(std::move(snapshot), "operator", "rehearsed");
            is_cancelled_ = true;
            return true;
        }
        expect_answers(snapshot);
        const auto answer =
            std::min_element(answers_.begin(), answers_.end(), [](const auto& a, const auto& b) {
                return a.at < b.at;
            });
        const TimePoint due = snapshot.next_due();
        const bool is_answer = answer != answers_.end() && answer->at < due;
        const TimePoint next = is_answer ? answer->at : due;
        if (next == kNever) return false;
        if (next > clock_.now()) clock_.set(next);
        if (is_answer) {
            give(snapshot, *answer);
            answers_.erase(answer);
            return true;
        }
        const std::int64_t before = snapshot.version();
        snapshot = engine_->step(std::move(snapshot));
        return snapshot.version() != before;
    }

    bool may_cancel() const {
        if (is_cancelled_ || options_.cancel_after.empty()) return false;
        return std::any_of(played_.events.begin(), played_.events.end(), [this](const auto& event) {
            return event.node == options_.cancel_after && event.type.ends_with("_completed");
        });
    }

    /// Plans the answers of what is waited for since the last turn, and drops those of what is not
    /// waited for any more.
    void expect_answers(const stateless::Snapshot& snapshot) {
        const std::vector<WaitingFor> waits = snapshot.waiting_for();
        const auto is_same = [](const WaitingFor& a, const WaitingFor& b) {
            return a.kind == b.kind && a.node == b.node;
        };
        std::erase_if(answers_, [&](const Answer& answer) {
            return std::none_of(waits.begin(), waits.end(), [&](const WaitingFor& wait) {
                return is_same(wait, answer.wait);
            });
        });
        for (const WaitingFor& wait : waits) {
            if (wait.kind != "decision" && wait.kind != "signal") continue;
            const bool is_known =
                std::any_of(answers_.begin(), answers_.end(), [&](const Answer& answer) {
                    return is_same(wait, answer.wait);
                });
            if (is_known) continue;
            const RehearsedOutcome outcome = outcomes_.next(wait.node);
            const TimePoint at = outcome.kind == Kind::Never
                                     ? kNever
                                     : clock_.now() + outcome.takes.value_or(kAnswerTakes);
            answers_.push_back({wait, outcome, at});
        }
    }

    void give(stateless::Snapshot& snapshot, const Answer& answer) {
        const ProgramNode& node = find(answer.wait.node, "the wait");
        if (answer.wait.kind == "signal") {
            const Payload payload =
                answer.outcome.output.empty() ? Payload("null") : answer.outcome.output;
            snapshot = engine_->signal(std::move(snapshot), node.signal, payload);
            return;
        }
        PersonalDecision decision;
        decision.verdict = answer.outcome.kind == Kind::FailForGood
                               ? PersonalDecision::Verdict::Reject
                               : PersonalDecision::Verdict::Confirm;
        decision.node = node.name;
        decision.by = fmt::format("person-{}", ++people_);
        if (!node.human.roles.empty()) decision.role = node.human.roles.front();
        snapshot = engine_->decide(std::move(snapshot), decision);
    }

    /// Steps that completed and were not undone, in order.
    std::vector<std::string> left() const {
        std::set<std::int64_t> undone;
        for (const HistoryEntry& event : played_.events) {
            if (event.type == "step_compensated") undone.insert(event.ref);
        }
        std::vector<std::string> names;
        for (const HistoryEntry& event : played_.events) {
            const bool is_done = event.type == "step_completed" && !undone.contains(event.seq);
            if (is_done) names.push_back(event.node);
        }
        return names;
    }

    const RehearsalOptions& options_;
    std::shared_ptr<const Program> program_;
    ManualClock clock_;
    Outcomes outcomes_;
    Outcomes compensations_;
    HandlerRegistry handlers_;
    std::unique_ptr<stateless::Engine> engine_;
    Rehearsal played_;
    std::vector<Answer> answers_;
    std::size_t bytes_ = 0;
    int people_ = 0;
    bool is_cancelled_ = false;
};

}  // namespace

std::string_view to_string(RehearsedOutcome::Kind kind) {
    return kKindNames.at(static_cast<std::size_t>(kind));
}

std::optional<RehearsedOutcome::Kind> parse_rehearsed_kind(std::string_view text) {
    for (std::size_t i = 0; i < kKindNames.size(); ++i) {
        if (kKindNames.at(i) == text) return static_cast<Kind>(i);
    }
    return std::nullopt;
}

Rehearsal rehearse(const Definition& definition, const RehearsalOptions& options) {
    return Stage(definition, options).play();
}

}  // namespace ebb
