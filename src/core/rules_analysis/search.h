#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/rules_analysis/subject.h"

// All states that instances of a workflow with rules can be in, with regions instead of values.

namespace ebb::rules_analysis {

/// What is remembered of each trigger in a state, as bits.
struct Marks {
    static constexpr std::uint8_t kPending = 1;  ///< fired, or armed
    static constexpr std::uint8_t kArmed = 2;    ///< waits for its time
    static constexpr std::uint8_t kFired = 4;    ///< `once`: it has fired
    static constexpr std::uint8_t kWasTrue = 8;  ///< `edge`
    static constexpr std::uint8_t kFailed = 16;  ///< held back
};

/// An abstract state of an instance.
struct AbstractState {
    enum class Phase : std::uint8_t {
        Running,
        Finishing,  ///< a final condition holds; what is pending is awaited
        Exception,
        Completed,
        RolledBack,
    };

    Values values{};
    std::string marks{};  ///< one byte for each trigger, and one for the handler of exceptions
    Phase phase = Phase::Running;

    bool has(std::size_t trigger, std::uint8_t bits) const {
        return (static_cast<std::uint8_t>(marks[trigger]) & bits) != 0;
    }
};

/// What leads from one state to another.
struct Happening {
    enum class Kind : std::uint8_t {
        Start,
        Completed,  ///< a transition
        Failed,     ///< a transition, for good
        Outside,    ///< an application writes
        Handled,    ///< the handler of exceptions
        Time,       ///< an armed transition begins
        Resumed,    ///< a rollback has ended at a savepoint
    };

    Kind kind = Kind::Start;
    std::int16_t trigger = -1;
};

/// The truths of all conditions for some values.
struct Truth {
    std::vector<Truths> triggers{};
    std::vector<Truths> finals{};
    std::vector<Truths> exceptions{};
    std::vector<Truths> invariants{};
    std::vector<Truths> savepoints{};
};

struct SearchLimits {
    std::size_t states_max = 1'000'000;
    std::size_t work_max = 8'000'000;  ///< steps from one state to another
    std::size_t starts_max = 100'000;  ///< inputs
};

/// Breadth-first search over abstract states from all starts that the kernel accepts. It includes
/// every behavior of the kernel except what operators do (repairs, recoveries), so what it does not
/// reach cannot be reached.
class Search {
 public:
    /// `starts`: the inputs that instances start with; none = any that the schema allows.
    Search(const Subject& subject, const std::vector<Payload>& starts, SearchLimits limits);

    /// What kept it from reaching all states.
    enum class Gap {
        None,
        Regions,   ///< an attribute has more than Subject::kRegionsMax
        Starts,    ///< more inputs than starts_max: it began with a part of them
        States,    ///< states_max
        Work,      ///< work_max
        Outcomes,  ///< one write can lead to too many states
    };

    Gap gap() const { return gap_; }

    bool is_complete() const { return gap_ == Gap::None; }

    /// Without the nodes of the graph that are not states.
    std::size_t state_count() const { return state_count_; }

    /// States, and the events between them that several states share.
    std::size_t node_count() const { return keys_.size(); }

    bool is_state(std::size_t node) const;

    AbstractState state(std::size_t index) const;

    /// From the start to the state: what happened, and the state after it.
    struct Step {
        Happening how;
        std::size_t state = 0;
    };

    std::vector<Step> path_to(std::size_t index) const;

    struct Edge {
        std::int32_t from = 0;
        std::int32_t to = 0;
        Happening how;
    };

    const std::vector<Edge>& edges() const { return edges_; }

    /// The trigger fires, or is armed, in some state.
    bool fires(std::size_t trigger) const { return fires_[trigger]; }

    /// The two are pending, and not only armed, in the same state; -1 = never, else the state.
    std::int32_t together(std::size_t a, std::size_t b) const {
        return together_[a * subject_.trigger_count() + b];
    }

    /// Instances end by the final condition.
    bool completes(std::size_t final_condition) const { return completes_[final_condition]; }

    /// It holds while others are pending, which `refuse` does not allow.
    bool is_blocked(std::size_t final_condition) const { return blocked_[final_condition]; }

    /// The exceptions `no_condition` after a transition has ended: the state, and the transition.
    struct Stuck {
        std::int32_t state = 0;
        std::int16_t trigger = -1;
    };

    const std::vector<Stuck>& stuck() const { return stuck_; }

    /// States that no start leads to in fewer steps: where the search began.
    std::size_t start_count() const { return start_count_; }

    bool contains(const AbstractState& state) const;

 private:
    const Subject& subject_;
    SearchLimits limits_;
    Gap gap_ = Gap::None;
    std::size_t work_ = 0;
    std::size_t state_count_ = 0;
    std::size_t start_count_ = 0;
    std::unordered_map<std::string, std::int32_t> known_;
    std::vector<const std::string*> keys_;
    std::vector<std::int32_t> parents_;
    std::vector<Happening> hows_;
    std::vector<Edge> edges_;
    std::unordered_map<std::string, Truth> truths_;
    std::vector<bool> fires_;
    std::vector<std::int32_t> together_;
    std::vector<bool> completes_;
    std::vector<bool> blocked_;
    std::vector<Stuck> stuck_;

    bool may_work();
    void note(Gap gap);

    /// Nothing more is looked for. A part of the inputs is followed to its end all the same.
    bool has_stopped() const { return gap_ != Gap::None && gap_ != Gap::Starts; }

    const Truth& truth_of(const Values& values);
    void begin(const std::vector<Payload>& starts);
    void begin_anywhere();
    void expand(std::int32_t index);
    void end_transition(std::int32_t from, const AbstractState& state, std::size_t trigger);
    void fail(std::int32_t from, AbstractState state, std::size_t trigger);
    void happen(std::int32_t from, const AbstractState& state, const Effect& effect, Happening how);
    void write_all(
        std::int32_t event, const AbstractState& state, const Effect& effect, Happening how
    );
    void settle(std::int32_t from, AbstractState state, const Effect* effect, Happening how);
    std::int32_t add(std::int32_t from, const AbstractState& state, Happening how);
    std::int32_t add_node(std::string key, std::int32_t from, Happening how);
    void note_together(std::int32_t index, const AbstractState& state);
};

}  // namespace ebb::rules_analysis
