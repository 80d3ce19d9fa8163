#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/kernel/decide.h"
#include "support/plain_history.h"

namespace ebb::test {

/// One instance driven by `decide` alone: history, tasks and workers are plain containers, time is
/// a number, and the test chooses what happens next. The smallest possible shell around the kernel.
class KernelWorld : public PlainHistory {
 public:
    /// What the handler of one call does.
    struct Outcome {
        enum class Kind { Complete, Fail, FailForGood, LoseLease, Hang } kind = Kind::Complete;
        Payload output = "null";
        std::string message = "boom";
    };

    using Script = std::function<Outcome(const Invocation& call)>;

    struct Row {
        std::string handler;
        TimePoint due{};
        bool is_parked = false;
        bool is_stop = false;
        bool is_leased = false;
        bool was_lost = false;
    };

    explicit KernelWorld(const Definition& definition, Payload input = "{}");

    /// Every handler completes with its input unless the script says otherwise.
    Script script;

    /// Applies an event; returns its verdict. Checks the state's round trip through its text form
    /// each time.
    Decision::Verdict apply(const Event& event);

    const Decision::Refusal& last_refusal() const { return refusal_; }

    /// Claims the tasks that are due, in order of token, and lets their handlers end; moves the
    /// time on to the next due task when none is. Stops when nothing is left, or after `steps`
    /// handler calls or wakes.
    void run(int steps = 100'000);
    /// The same in an order, and with lost leases and late results, that `random` chooses.
    void run_randomly(std::mt19937_64& random, int steps = 10'000);
    /// Does one due task; false when none is due.
    bool run_one();
    /// Claims a task without ending it, as a worker that is busy.
    std::optional<Invocation> claim(TokenId token);
    void complete(const Invocation& call, Payload output = "null");
    void fail(const Invocation& call, bool is_permanent = true);

    InstanceState state;
    std::map<TokenId, Row> tasks;
    std::map<TokenId, Wait> waits;       ///< as the effects of all decisions have left them
    std::optional<FailureNote> failure;  ///< the same
    TimePoint now{std::chrono::seconds(1'000'000)};
    /// `pay`, `pay!` (failed), `refund` ...: the handlers in the order in which their calls ended.
    std::vector<std::string> calls;
    std::shared_ptr<const Program> program;
    InstanceIdentity identity;

    std::string status() const { return std::string(to_string(state.status)); }

    std::string calls_text() const;
    /// The types of the history, with node: `started step_completed:pay ...`
    std::string history_text() const;
    Payload result() const;
    /// What must hold in every state. Empty = all is well; else what is broken.
    std::string broken_invariant() const;

 private:
    void apply_tasks(const std::vector<TaskChange>& changes);
    void apply_effects(const Effects& effects);
    std::vector<TokenId> due_tasks() const;
    bool skip_to_next_due();
    void do_task(TokenId token, const Outcome* forced);
    void end(const Invocation& call, const Outcome& outcome);

    Decision::Refusal refusal_;
    std::vector<Invocation> hanging_;
};

}  // namespace ebb::test
