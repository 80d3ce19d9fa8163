// The search over abstract states includes whatever the kernel can do. Random small rules run in
// the kernel with random values, and every state that comes up must be one that the search has
// reached: so what the search calls unreachable is.

#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/rules/values.h"
#include "core/rules_analysis/search.h"
#include "support/dice.h"
#include "support/drawn.h"
#include "support/kernel_world.h"

namespace ebb::rules_analysis {
namespace {

using Phase = AbstractState::Phase;
using test::Dice;
using test::Drawn;
using test::KernelWorld;

const std::vector<std::string>& text_values() {
    static const std::vector<std::string> values{
        "null", "\"a\"", "\"b\"", "\"A\"", "\"c\"", "\"zz\"", "\"\""
    };
    return values;
}

/// Values on both sides of all constants of the conditions below.
Payload random_value(Dice& dice, AttributeType type) {
    switch (type) {
        case AttributeType::Boolean:
            return dice.pick(std::vector<std::string>{"null", "true", "false"});
        case AttributeType::Integer:
            return dice.chance(20) ? "null" : fmt::format("{}", dice.between(-2, 6));
        case AttributeType::Numeric:
            return dice.chance(20) ? "null" : fmt::format("\"{}.5\"", dice.between(-2, 6));
        default:
            return dice.pick(text_values());
    }
}

std::string random_atom(Dice& dice, const std::vector<Attribute>& attributes) {
    const Attribute& a = dice.pick(attributes);
    const std::string& n = a.name;
    if (dice.chance(15)) return fmt::format("{} is {}null", n, dice.chance(50) ? "not " : "");
    switch (a.type) {
        case AttributeType::Boolean:
            return dice.pick(std::vector<std::string>{n, "not " + n, n + " is not true"});
        case AttributeType::Integer:
        case AttributeType::Numeric:
            return dice.pick(std::vector<std::string>{
                fmt::format("{} > {}", n, dice.between(0, 3)),
                fmt::format("{} <= {}", n, dice.between(0, 3)),
                fmt::format("{} = {}", n, dice.between(0, 3)),
                fmt::format("{} between 1 and 3", n),
                fmt::format("{} + 1 > 2", n),
                fmt::format("coalesce({}, 2) = 2", n),
            });
        default:
            return dice.pick(std::vector<std::string>{
                fmt::format("{} = 'a'", n),
                fmt::format("{} <> 'b'", n),
                fmt::format("lower({}) = 'a'", n),
                fmt::format("{} in ('a', 'c')", n),
                fmt::format("{} like 'a%'", n),
                fmt::format("{} is distinct from 'b'", n),
                fmt::format("{} < 'b'", n),
                fmt::format("length({}) = 1", n),
                fmt::format("{} = {}", n, "t0"),
            });
    }
}

std::string random_condition(Dice& dice, const std::vector<Attribute>& attributes) {
    std::string text = random_atom(dice, attributes);
    const int more = dice.below(3);
    for (int i = 0; i < more; ++i) {
        text = Drawn{
            "({} {} {})", text, dice.chance(70) ? "and" : "or", random_atom(dice, attributes)
        };
    }
    return text;
}

Definition random_rules(Dice& dice) {
    Definition made{.name = "w"};
    made.rules.emplace();
    Rules& rules = *made.rules;
    const std::vector<AttributeType> types{
        AttributeType::Text, AttributeType::Boolean, AttributeType::Integer, AttributeType::Numeric
    };
    rules.attributes.push_back({.name = "t0", .is_external = dice.chance(15)});
    for (int i = 0; i < 2; ++i) {
        const AttributeType type = dice.pick(types);
        rules.attributes.push_back(
            {.name = fmt::format("x{}", i),
             .type = type,
             .initial = random_value(dice, type),
             .is_external = dice.chance(15)}
        );
    }
    const int triggers = dice.between(1, 3);
    for (int i = 0; i < triggers; ++i) {
        Trigger trigger{.when = random_condition(dice, rules.attributes)};
        if (dice.chance(70)) {
            trigger.writes.emplace();
            for (const Attribute& attribute : rules.attributes) {
                if (dice.chance(50)) continue;
                DeclaredWrite write{.attribute = attribute.name};
                if (dice.chance(70)) write.values.push_back(random_value(dice, attribute.type));
                if (dice.chance(20)) write.values.push_back(random_value(dice, attribute.type));
                trigger.writes->push_back(write);
            }
        }
        if (dice.chance(20)) trigger.mode = Trigger::Mode::Edge;
        if (dice.chance(20)) trigger.mode = Trigger::Mode::Once;
        if (dice.chance(15)) trigger.after = std::chrono::seconds(60);
        if (dice.chance(10)) trigger.max_fires = 2;
        if (dice.chance(5)) trigger.is_enabled = false;
        rules.triggers.push_back(trigger);
        made.steps.push_back(
            {.name = fmt::format("s{}", i),
             .description = {},
             .kind = Step{.attempts = {.max_attempts = 1}}}
        );
    }
    if (dice.chance(80)) {
        rules.finals.push_back({"f", random_condition(dice, rules.attributes)});
    }
    if (dice.chance(30)) {
        rules.exceptions.push_back({"e", random_condition(dice, rules.attributes)});
    }
    if (dice.chance(20)) {
        rules.invariants.push_back({"i", random_condition(dice, rules.attributes)});
    }
    if (dice.chance(30)) rules.on_idle = Rules::OnIdle::Wait;
    rules.final_while_pending = static_cast<Rules::FinalWhilePending>(dice.below(3));
    rules.on_exception = static_cast<Rules::OnException>(dice.below(3));
    made.on_error = static_cast<Definition::OnError>(dice.below(3));
    if (dice.chance(25)) {
        made.on_error = Definition::OnError::Compensate;
        rules.savepoints.push_back(
            {.name = "p", .when = random_condition(dice, rules.attributes), .resumes = true}
        );
    }
    if (rules.on_exception == Rules::OnException::Handle) {
        made.steps.push_back(
            {.name = std::string(kExceptionStep),
             .description = {},
             .kind = Step{.attempts = {.max_attempts = 1}}}
        );
    }
    return made;
}

/// What can be seen of a state from outside.
std::string seen(const AbstractState& state) {
    std::string text(1, static_cast<char>(state.phase));
    for (std::size_t i = 0; i < state.marks.size(); ++i) {
        text += static_cast<char>(state.marks[i] & (Marks::kPending | Marks::kArmed));
    }
    text.append(state.values.begin(), state.values.end());
    return text;
}

class Walk {
 public:
    Walk(const Definition& definition, const Subject& subject, Payload input)
        : subject_(subject), world_(definition, std::move(input)) {}

    bool is_over() const { return is_terminal(world_.state.status) || world_.state.tokens.empty(); }

    bool is_rolled_back() const {
        return !world_.state.rollbacks.empty() || world_.state.status == InstanceStatus::Failed ||
               world_.state.status == InstanceStatus::Compensating;
    }

    bool has_begun() const { return world_.state.rules.has_value() && world_.state.last_seq > 0; }

    AbstractState state() const {
        const rules::State& now = *world_.state.rules;
        AbstractState made{
            .values = subject_.values_of(subject_.program().row_of(now)),
            .marks = std::string(subject_.trigger_count() + 1, '\0'),
        };
        if (world_.state.status == InstanceStatus::Completed) {
            made.phase = Phase::Completed;
            return made;
        }
        for (const Token& token : world_.state.tokens) {
            auto& mark = made.marks[static_cast<std::size_t>(token.branch)];
            mark = static_cast<char>(Marks::kPending);
            if (token.status == TokenStatus::WaitingTimer) {
                mark = static_cast<char>(Marks::kPending | Marks::kArmed);
            }
        }
        if (now.is_finishing) made.phase = Phase::Finishing;
        if (now.exception != 0) made.phase = Phase::Exception;
        return made;
    }

    std::string history() const { return world_.history_text(); }

    /// Something random happens.
    void step(Dice& dice) {
        if (dice.chance(15)) return write(dice);
        std::vector<const Token*> able;
        for (const Token& token : world_.state.tokens) {
            if (token.status != TokenStatus::Frozen) able.push_back(&token);
        }
        if (able.empty()) return write(dice);
        const Token token = *dice.pick(able);
        if (token.compensates != 0) return world_.run(1);
        if (token.status == TokenStatus::WaitingTimer) {
            world_.now = std::max(world_.now, token.due);
            world_.apply(event::TimerFired{.token = token.id, .visit = token.visit});
            return;
        }
        const AttemptRef attempt = present_attempt(token);
        if (dice.chance(10)) {
            world_.apply(event::StepFailed{
                .attempt = attempt, .failure = {.message = "boom", .is_permanent = true}
            });
            return;
        }
        world_.apply(event::StepCompleted{
            .attempt = attempt, .output = output(dice, static_cast<std::size_t>(token.branch))
        });
    }

 private:
    const Subject& subject_;
    KernelWorld world_;

    void write(Dice& dice) {
        Payload values = "{";
        for (const Attribute& attribute : subject_.rules().attributes) {
            if (!attribute.is_external || dice.chance(40)) continue;
            if (values.size() > 1) values += ',';
            values += fmt::format(
                "\"{}\":{}", attribute.name, std::string_view(random_value(dice, attribute.type))
            );
        }
        world_.apply(event::AttributesWritten{.values = values + "}"});
    }

    Payload output(Dice& dice, std::size_t branch) const {
        const bool is_handler = branch == subject_.trigger_count();
        const Rules& rules = subject_.rules();
        Payload values = "{";
        for (const Attribute& attribute : rules.attributes) {
            if (dice.chance(30)) continue;
            Payload value = random_value(dice, attribute.type);
            if (!is_handler && rules.triggers[branch].writes) {
                const DeclaredWrite* declared = nullptr;
                for (const DeclaredWrite& write : *rules.triggers[branch].writes) {
                    if (write.attribute == attribute.name) declared = &write;
                }
                if (declared == nullptr) continue;
                if (!declared->values.empty()) value = dice.pick(declared->values);
            }
            if (values.size() > 1) values += ',';
            values += fmt::format("\"{}\":{}", attribute.name, std::string_view(value));
        }
        return values + "}";
    }
};

Payload random_input(Dice& dice, const Rules& rules) {
    Payload values = "{";
    for (const Attribute& attribute : rules.attributes) {
        if (dice.chance(30)) continue;
        if (values.size() > 1) values += ',';
        values += fmt::format(
            "\"{}\":{}", attribute.name, std::string_view(random_value(dice, attribute.type))
        );
    }
    return values + "}";
}

TEST(RulesAnalysisProperty, the_search_reaches_whatever_the_kernel_does) {
    constexpr std::uint64_t kSeed = 20;
    constexpr int kRules = 400;
    constexpr int kWalks = 12;
    int complete = 0;
    int states = 0;
    for (int number = 0; number < kRules; ++number) {
        Dice dice(kSeed, static_cast<std::uint64_t>(number));
        const Definition definition = random_rules(dice);
        const Subject subject(definition);
        const Search search(subject, {}, {.states_max = 20'000, .work_max = 400'000});
        if (!search.is_complete()) continue;
        ++complete;
        std::set<std::string> reached;
        for (std::size_t i = 0; i < search.node_count(); ++i) {
            if (search.is_state(i)) reached.insert(seen(search.state(i)));
        }
        for (int w = 0; w < kWalks; ++w) {
            const Payload input = random_input(dice, *definition.rules);
            Walk walk(definition, subject, input);
            for (int i = 0; i < 25 && walk.has_begun(); ++i) {
                if (!walk.is_rolled_back()) {
                    ++states;
                    ASSERT_TRUE(reached.contains(seen(walk.state())))
                        << "rules " << number << ", walk " << w << ", step " << i << ": "
                        << subject.text_of(walk.state().values, subject.defaults()) << "\n"
                        << walk.history() << "\n"
                        << definition_to_json(definition);
                }
                if (walk.is_over()) break;
                walk.step(dice);
            }
        }
    }
    EXPECT_GT(complete, kRules * 9 / 10) << "nearly all are small enough to be searched to the end";
    EXPECT_GT(states, 5'000);
}

}  // namespace
}  // namespace ebb::rules_analysis
