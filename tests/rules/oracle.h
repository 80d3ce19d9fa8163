#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/rules/write.h"
#include "support/dice.h"

// An oracle of the WED-SQL draft's Algorithm 1, which shares no code with Ebb, and random rules and
// writes for it. Final conditions refuse while others are pending, and an exception has one job,
// whose completion asks all conditions again: that is what WED-SQL does.

namespace ebb::test {

using OracleState = std::vector<std::optional<std::string>>;

/// A condition as the oracle has it: true 1, false 0, unknown -1.
struct Formula {
    enum class Kind { Equal, Unequal, IsNull, IsNotNull, And, Or };

    Kind kind = Kind::Equal;
    int attribute = 0;
    std::string value{};
    std::vector<Formula> parts{};

    int value_on(const OracleState& state) const {
        const auto& held = state[static_cast<std::size_t>(attribute)];
        switch (kind) {
            case Kind::Equal:
                return held ? static_cast<int>(*held == value) : -1;
            case Kind::Unequal:
                return held ? static_cast<int>(*held != value) : -1;
            case Kind::IsNull:
                return static_cast<int>(!held);
            case Kind::IsNotNull:
                return static_cast<int>(held.has_value());
            default:
                break;
        }
        const int a = parts[0].value_on(state);
        const int b = parts[1].value_on(state);
        const int decisive = kind == Kind::Or ? 1 : 0;
        if (a == decisive || b == decisive) return decisive;
        return a == -1 || b == -1 ? -1 : 1 - decisive;
    }

    std::string sql() const {
        switch (kind) {
            case Kind::Equal:
                return fmt::format("a{} = '{}'", attribute, value);
            case Kind::Unequal:
                return fmt::format("a{} <> '{}'", attribute, value);
            case Kind::IsNull:
                return fmt::format("a{} is null", attribute);
            case Kind::IsNotNull:
                return fmt::format("a{} is not null", attribute);
            case Kind::And:
                return fmt::format("({} and {})", parts[0].sql(), parts[1].sql());
            default:
                return fmt::format("({} or {})", parts[0].sql(), parts[1].sql());
        }
    }
};

inline Formula random_formula(Dice& dice, int attributes, int depth) {
    Formula made;
    made.attribute = dice.below(attributes);
    if (depth > 0 && dice.chance(50)) {
        made.kind = dice.chance(60) ? Formula::Kind::And : Formula::Kind::Or;
        made.parts = {
            random_formula(dice, attributes, depth - 1), random_formula(dice, attributes, depth - 1)
        };
        return made;
    }
    made.kind = static_cast<Formula::Kind>(dice.below(4));
    made.value = std::string(1, static_cast<char>('x' + dice.below(3)));
    return made;
}

/// The job of an exception; others are triggers.
inline constexpr int kException = -1;

/// Algorithm 1, as the reference implementation of 2016 runs it.
struct Oracle {
    std::vector<Formula> triggers;
    std::optional<Formula> final_condition;
    OracleState state;
    std::set<int> jobs;
    char status = '-';

    bool is_final(const OracleState& at) const {
        return final_condition && final_condition->value_on(at) == 1;
    }

    std::set<int> match(const OracleState& at) const {
        std::set<int> matched;
        for (std::size_t i = 0; i < triggers.size(); ++i) {
            if (triggers[i].value_on(at) == 1) matched.insert(static_cast<int>(i));
        }
        return matched;
    }

    /// What fired, or nothing when the write is refused.
    std::optional<std::set<int>> insert(const OracleState& at) {
        const std::set<int> matched = match(at);
        if (matched.empty() && !is_final(at)) return std::nullopt;
        state = at;
        status = is_final(at) ? 'F' : 'R';
        jobs = is_final(at) ? std::set<int>() : matched;
        return jobs;
    }

    std::optional<std::set<int>> update(int job, const OracleState& at) {
        if (status == 'F' || !jobs.contains(job)) return std::nullopt;
        std::set<int> others = jobs;
        others.erase(job);
        if (is_final(at) && !others.empty()) return std::nullopt;
        std::set<int> fired;
        if (!is_final(at)) {
            for (const int trigger : match(at)) {
                if (!others.contains(trigger)) fired.insert(trigger);
            }
        }
        state = at;
        jobs = others;
        jobs.insert(fired.begin(), fired.end());
        status = is_final(at) ? 'F' : 'R';
        if (jobs.empty() && status == 'R') {
            status = 'E';
            jobs.insert(kException);
        }
        return fired;
    }
};

struct Flow {
    std::vector<Formula> triggers;
    std::optional<Formula> final_condition;
    Rules rules;
    std::vector<std::string> names;
};

inline Flow random_rules(Dice& dice) {
    Flow flow;
    const int attributes = dice.between(2, 4);
    const int triggers = dice.between(1, 5);
    flow.rules.final_while_pending = Rules::FinalWhilePending::Refuse;
    for (int i = 0; i < attributes; ++i) {
        flow.rules.attributes.push_back({.name = fmt::format("a{}", i)});
    }
    for (int i = 0; i < triggers; ++i) {
        flow.triggers.push_back(random_formula(dice, attributes, 2));
        flow.rules.triggers.push_back({.when = flow.triggers.back().sql()});
        flow.names.push_back(fmt::format("t{}", i));
    }
    if (dice.chance(80)) {
        flow.final_condition = random_formula(dice, attributes, 1);
        flow.rules.finals.push_back({.name = "end", .when = flow.final_condition->sql()});
    }
    return flow;
}

inline std::optional<std::string> random_value(Dice& dice) {
    if (dice.chance(15)) return std::nullopt;
    return std::string(1, static_cast<char>('x' + dice.below(3)));
}

/// A write of some attributes: as a delta, and what it makes of the state.
struct RandomWrite {
    Payload delta;
    OracleState after;
};

inline RandomWrite random_write(Dice& dice, const OracleState& before) {
    RandomWrite made{.delta = {}, .after = before};
    nlohmann::json delta = nlohmann::json::object();
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (!dice.chance(40)) continue;
        made.after[i] = random_value(dice);
        // An expression writes its value even when it equals the one that the job was given.
        nlohmann::json value =
            made.after[i] ? nlohmann::json("'" + *made.after[i] + "'") : nlohmann::json("null");
        delta[fmt::format("a{}", i)] = {{"$expr", value}};
    }
    made.delta = delta.empty() ? "null" : delta.dump();
    return made;
}

/// Gives random writes to the oracle and to a subject.
template <typename Subject>
class Comparison {
 public:
    Comparison(Flow flow, Dice dice)
        : flow_(std::move(flow)), dice_(dice), program_(flow_.rules, flow_.names) {}

    /// How many steps it took; less than `steps` when the two differ.
    int run(int steps, std::array<int, 256>& seen) {
        Oracle oracle{flow_.triggers, flow_.final_condition, {}, {}, '-'};
        Subject subject(program_, flow_);
        oracle.state.resize(flow_.rules.attributes.size());
        const RandomWrite start = random_write(dice_, oracle.state);
        const auto wanted = oracle.insert(start.after);
        rules::Write first{.source = rules::Write::Source::Start, .values = start.delta};
        compare(wanted, subject.write(first), oracle, subject);
        if (!wanted) {
            EXPECT_EQ(subject.code, "no_condition");
            return 1;
        }
        int step = 1;
        for (; step < steps && oracle.status != 'F' && !::testing::Test::HasFailure(); ++step) {
            const std::vector<int> jobs(oracle.jobs.begin(), oracle.jobs.end());
            const int job = dice_.pick(jobs);
            const RandomWrite next = random_write(dice_, oracle.state);
            rules::Write write{.values = next.delta, .trigger = job};
            write.source =
                job == kException ? rules::Write::Source::Repair : rules::Write::Source::Transition;
            const auto fired = oracle.update(job, next.after);
            compare(fired, subject.write(write), oracle, subject);
            ++seen[static_cast<unsigned char>(fired ? oracle.status : 'x')];
        }
        return step;
    }

 private:
    Flow flow_;
    Dice dice_;
    rules::Program program_;

    void compare(
        const std::optional<std::set<int>>& wanted,
        const std::optional<std::set<int>>& found,
        const Oracle& oracle,
        const Subject& subject
    ) const {
        EXPECT_EQ(found, wanted);
        EXPECT_EQ(subject.jobs, oracle.jobs);
        EXPECT_EQ(subject.status, oracle.status);
        if (oracle.status == '-') return;
        nlohmann::json state = nlohmann::json::object();
        for (std::size_t i = 0; i < oracle.state.size(); ++i) {
            state[fmt::format("a{}", i)] =
                oracle.state[i] ? nlohmann::json(*oracle.state[i]) : nlohmann::json();
        }
        EXPECT_EQ(nlohmann::json::parse(subject.attributes()), state);
    }
};

/// Compares until so many steps were taken, and says how they ended.
template <typename Subject>
void compare_with_oracle(int steps) {
    constexpr int kStepsPerInstance = 40;
    std::array<int, 256> seen{};
    int done = 0;
    for (std::uint64_t number = 1; done < steps && !::testing::Test::HasFailure(); ++number) {
        Dice dice(2016, number);
        Flow flow = random_rules(dice);
        Comparison<Subject> comparison(std::move(flow), dice);
        done += comparison.run(kStepsPerInstance, seen);
        EXPECT_FALSE(::testing::Test::HasFailure()) << "number " << number;
    }
    fmt::print(
        "{} steps: {} regular, {} final, {} exceptions, {} refused\n",
        done,
        seen['R'],
        seen['F'],
        seen['E'],
        seen['x']
    );
    EXPECT_GT(seen['R'], done / 10);
    EXPECT_GT(seen['F'], done / 200);
    EXPECT_GT(seen['E'], done / 200);
    EXPECT_GT(seen['x'], done / 200);
}

}  // namespace ebb::test
