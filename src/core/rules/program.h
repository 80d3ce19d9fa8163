#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/rules.h>

#include "core/predicate/guard.h"
#include "core/predicate/predicate.h"
#include "core/rules/state.h"

namespace ebb::rules {

/// Rules made ready to run. Immutable, shared by threads.
class Program {
 public:
    struct Condition {
        std::string name;
        Predicate when;
    };

    struct Rule {
        std::string name;
        Predicate when;
        Trigger::Mode mode = Trigger::Mode::Level;
        std::int64_t max_fires = 0;
        bool is_delayed = false;  ///< its condition must be true for a while
        bool is_enabled = true;
        bool may_write_all = true;
        std::vector<bool> writes;  ///< by attribute; empty when it may write all
    };

    /// Compiles rules that `check_rules` found valid. Throws PredicateError otherwise. `names` are
    /// those of the transitions, in the order of the triggers.
    Program(const Rules& rules, const std::vector<std::string>& names);

    const Rules& rules() const { return rules_; }

    const std::vector<Rule>& triggers() const { return triggers_; }

    const std::vector<Condition>& finals() const { return finals_; }

    const std::vector<Condition>& exceptions() const { return exceptions_; }

    const std::vector<Condition>& invariants() const { return invariants_; }

    const std::vector<Condition>& savepoints() const { return savepoints_; }

    /// Which triggers read the attribute.
    const std::vector<int>& readers(std::size_t attribute) const { return readers_[attribute]; }

    /// What keeps a trigger from firing without a look at its condition, and from anything else
    /// that a condition that is not true means. They lie close together: with many triggers most
    /// of a write's time would be the way to their conditions.
    struct Guard {
        static constexpr std::uint32_t kNone = UINT32_MAX;
        std::uint32_t attribute = kNone;  ///< that the condition compares; kNone: no guard
        bool excludes_null = false;
        std::uint64_t key = 0;  ///< of the value that it must have
    };

    /// In the order of the triggers.
    const std::vector<Guard>& guards() const { return guards_; }

    /// Of the values in `row` that guards compare, by attribute; the others are 0.
    std::vector<std::uint64_t> keys_of(const predicate::Row& row) const;

    /// -1 when there is none of this name.
    int find_attribute(std::string_view name) const;
    /// The same, but the name may be one of an earlier version.
    int find_known_attribute(std::string_view name) const;

    /// All attributes at their defaults.
    State initial_state() const;

    /// The values as conditions see them. Attributes that are not enabled are NULL.
    predicate::Row row_of(const State& state) const;

    /// All attributes as one JSON object, in the definition's order.
    Payload state_text(const State& state) const;
    /// How many bytes that has.
    std::size_t state_size(const State& state) const;

 private:
    static Guard guard_of(const Rule& rule);

    Rules rules_;
    std::vector<Rule> triggers_;
    std::vector<Guard> guards_;
    std::vector<std::size_t> guarded_;  // the attributes that guards compare
    std::vector<std::string> keys_;     ///< of each attribute, as the text of a state has it
    std::vector<Condition> finals_;
    std::vector<Condition> exceptions_;
    std::vector<Condition> invariants_;
    std::vector<Condition> savepoints_;
    std::vector<std::vector<int>> readers_;
    std::vector<Payload> defaults_;
};

/// The attributes as conditions are compiled for them: one that is not enabled cannot be named.
std::vector<predicate::Column> columns_of(const Rules& rules);

}  // namespace ebb::rules
