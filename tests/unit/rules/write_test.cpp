// What one write of attributes means. That it agrees with WED-SQL's own algorithm is shown by
// tests/rules/oracle_test.cpp.

#include "core/rules/write.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ebb::rules {
namespace {

using Verdict = Outcome::Verdict;

Rules travel() {
    Rules rules;
    rules.attributes = {
        {.name = "order_status", .initial = "\"Not Requested\"", .is_external = true},
        {.name = "hotel_status"},
        {.name = "seats", .type = AttributeType::Integer, .initial = "0"},
        {.name = "price", .type = AttributeType::Numeric, .initial = "\"0\""},
    };
    rules.triggers = {
        {.when = "order_status = 'Received'"},
        {.when = "hotel_status = 'Requested'"},
        {.when = "seats > 0"},
    };
    rules.finals = {{.name = "booked", .when = "hotel_status = 'reserved'"}};
    rules.invariants = {{.name = "price", .when = "price >= 0"}};
    return rules;
}

/// Writes one after another, with the bookkeeping that an instance would do.
class World {
 public:
    explicit World(const Rules& rules)
        : program_(rules, names(rules)),
          state_(program_.initial_state()),
          pending_(rules.triggers.size(), false) {}

    Outcome start(const Payload& values) {
        return commit({.source = Write::Source::Start, .values = values});
    }

    Outcome complete(int trigger, const Payload& values) {
        Write write{.source = Write::Source::Transition, .values = values, .trigger = trigger};
        write.given = given_[static_cast<std::size_t>(trigger)];
        write.fired = fired_[static_cast<std::size_t>(trigger)];
        return commit(write);
    }

    Outcome from_outside(const Payload& values) {
        return commit({.source = Write::Source::Outside, .values = values});
    }

    Outcome repair(const Payload& values) {
        return commit({.source = Write::Source::Repair, .values = values});
    }

    Payload text() const { return program_.state_text(state_); }

    std::vector<int> pending() const {
        std::vector<int> made;
        for (std::size_t i = 0; i < pending_.size(); ++i) {
            if (pending_[i]) made.push_back(static_cast<int>(i));
        }
        return made;
    }

    const State& state() const { return state_; }

 private:
    static std::vector<std::string> names(const Rules& rules) {
        std::vector<std::string> made;
        for (std::size_t i = 0; i < rules.triggers.size(); ++i) {
            made.push_back("t" + std::to_string(i + 1));
        }
        return made;
    }

    Outcome commit(Write write) {
        write.seq = ++seq_;
        write.pending = pending_;
        if (write.trigger >= 0) write.pending[static_cast<std::size_t>(write.trigger)] = false;
        Outcome outcome = rules::write(program_, state_, write);
        if (outcome.verdict == Verdict::Refused) return outcome;
        state_ = outcome.state;
        pending_ = write.pending;
        for (const int trigger : outcome.fired) {
            pending_[static_cast<std::size_t>(trigger)] = true;
            given_[static_cast<std::size_t>(trigger)] = text();
            fired_[static_cast<std::size_t>(trigger)] = seq_;
        }
        return outcome;
    }

    Program program_;
    State state_;
    std::vector<bool> pending_;
    std::vector<Payload> given_ = std::vector<Payload>(RulesLimits::kTriggersMax);
    std::vector<std::int64_t> fired_ = std::vector<std::int64_t>(RulesLimits::kTriggersMax);
    std::int64_t seq_ = 0;
};

using Fired = std::vector<int>;

TEST(RulesWrite, fires_what_is_true_and_not_pending) {
    World world(travel());
    EXPECT_EQ(world.start(R"({"order_status": "Received", "seats": 2})").fired, (Fired{0, 2}));
    EXPECT_EQ(
        world.complete(0, R"({"order_status": "ok", "hotel_status": "Requested"})").fired,
        (Fired{1})
    );
    EXPECT_EQ(world.complete(2, "null").fired, (Fired{2})) << "still true, so it fires itself";
    EXPECT_EQ(world.pending(), (Fired{1, 2}));
}

TEST(RulesWrite, refuses_a_start_that_leads_nowhere) {
    World world(travel());
    const Outcome outcome = world.start("{}");
    EXPECT_EQ(outcome.verdict, Verdict::Refused);
    EXPECT_EQ(outcome.code, "no_condition");
}

TEST(RulesWrite, completes_at_once_in_a_final_state) {
    World world(travel());
    const Outcome outcome = world.start(R"({"hotel_status": "reserved", "seats": 1})");
    EXPECT_EQ(outcome.verdict, Verdict::Completed);
    EXPECT_EQ(outcome.final_condition, 0);
    EXPECT_TRUE(outcome.fired.empty());
}

TEST(RulesWrite, a_final_condition_waits_for_what_is_pending) {
    World world(travel());
    world.start(R"({"order_status": "Received", "seats": 1})");
    Outcome outcome = world.complete(0, R"({"hotel_status": "reserved"})");
    EXPECT_EQ(outcome.verdict, Verdict::Finishes);
    EXPECT_TRUE(world.state().is_finishing);
    outcome = world.complete(2, "null");
    EXPECT_EQ(outcome.verdict, Verdict::Completed) << "order_status is Received, but it is final";
}

TEST(RulesWrite, what_did_not_fire_because_of_a_final_condition_fires_when_it_is_false_again) {
    World world(travel());
    world.start(R"({"order_status": "Received", "seats": 1})");
    world.complete(0, R"({"hotel_status": "reserved"})");
    const Outcome outcome = world.complete(2, R"({"hotel_status": {"$expr": "null"}, "seats": 0})");
    EXPECT_EQ(outcome.verdict, Verdict::Goes);
    EXPECT_EQ(outcome.fired, (Fired{0}));
}

TEST(RulesWrite, a_final_condition_may_refuse_while_others_are_pending) {
    Rules rules = travel();
    rules.final_while_pending = Rules::FinalWhilePending::Refuse;
    World world(rules);
    world.start(R"({"order_status": "Received", "seats": 1})");
    const Outcome outcome = world.complete(0, R"({"hotel_status": "reserved"})");
    EXPECT_EQ(outcome.code, "final_while_pending");
    EXPECT_EQ(world.pending(), (Fired{0, 2}));
}

TEST(RulesWrite, two_transitions_that_end_together_are_merged_attribute_by_attribute) {
    Rules rules = travel();
    rules.finals = {{.name = "end", .when = "seats = 3 and price = 5"}};
    World world(rules);
    world.start(R"({"order_status": "Received", "seats": 1})");
    // Both give back the whole state that they saw, with one value changed.
    EXPECT_EQ(
        world
            .complete(0, R"({"order_status": "Received", "hotel_status": null, "seats": 1,
                              "price": "5"})")
            .verdict,
        Verdict::Goes
    );
    const Outcome outcome = world.complete(2, R"({"order_status": "Received", "seats": 3,
                                                  "price": "0"})");
    EXPECT_EQ(
        world.text(), R"({"order_status":"Received","hotel_status":null,"seats":3,"price":"5"})"
    );
    EXPECT_EQ(outcome.verdict, Verdict::Finishes);
    EXPECT_TRUE(outcome.overwrote.empty());
}

TEST(RulesWrite, a_value_that_equals_the_one_that_was_given_is_not_a_write) {
    World world(travel());
    world.start(R"({"order_status": "Received", "seats": 1})");
    world.complete(0, R"({"order_status": "ok"})");
    EXPECT_TRUE(world.complete(2, R"({"order_status": "Received"})").changes.empty());
    EXPECT_EQ(world.state().values[0].json, "\"ok\"");
}

// Members that look canonical are read without a tree of JSON: each form of the same write must
// mean the same.
TEST(RulesWrite, means_the_same_however_its_json_is_written) {
    const std::vector<std::string> forms{
        R"({"seats":7,"hotel_status":"a"})",
        R"({"hotel_status":"a","seats":7})",
        R"(  { "seats" : 7 , "hotel_status" : "a" }  )",
        R"({"seats":7.0,"hotel_status":"a"})",
        R"({"seats":3,"seats":7,"hotel_status":"a"})",
        R"({"seats":7,"hotel_status":"\u0061"})",
        R"({"\u0073eats":7,"hotel_status":"a"})",
        R"({"seats":{"$expr":"3 + 4"},"hotel_status":"a"})",
        R"({"seats":7,"hotel_status":"a","price":"0"})",
        R"({"seats":7,"hotel_status":"a","price":0})",
    };
    for (const std::string& form : forms) {
        World world(travel());
        world.start(R"({"order_status": "Received"})");
        const Outcome outcome = world.complete(0, form);
        EXPECT_EQ(outcome.message, "") << form;
        EXPECT_EQ(
            world.text(), R"({"order_status":"Received","hotel_status":"a","seats":7,"price":"0"})"
        ) << form;
        EXPECT_EQ(outcome.changes.size(), 2U) << form;
    }
}

TEST(RulesWrite, compares_with_what_was_given_however_that_is_written) {
    const Program program(travel(), {"t1", "t2", "t3"});
    State state = program.initial_state();
    state.values[2] = {.json = "5", .written = 9};
    const std::vector<Payload> forms{
        R"({"seats":2})", R"({ "seats" : 2 })", R"({"seats":1,"seats":2})"
    };
    for (const Payload& given : forms) {
        Write write{.source = Write::Source::Transition, .values = R"({"seats":2})", .trigger = 0};
        write.given = given;
        EXPECT_TRUE(rules::write(program, state, write).changes.empty()) << given;
        write.values = R"({"seats":3})";
        EXPECT_EQ(rules::write(program, state, write).changes.size(), 1U) << given;
    }
}

TEST(RulesWrite, is_refused_with_the_same_reason_however_its_json_is_written) {
    const auto code_of = [](const Payload& values) {
        World world(travel());
        world.start(R"({"order_status": "Received"})");
        return world.complete(0, values).code;
    };
    EXPECT_EQ(code_of(R"({"seats":01})"), "invalid_output");
    EXPECT_EQ(code_of(R"({"seats":1}x)"), "invalid_output");
    EXPECT_EQ(code_of(R"({"seats":9223372036854775808})"), "invalid_value");
    EXPECT_EQ(code_of(R"({"seats":"1"})"), "invalid_value");
    EXPECT_EQ(code_of(R"({"hotel_status":1})"), "invalid_value");
    EXPECT_EQ(code_of(R"({"seat":1})"), "unknown_attribute");
    EXPECT_EQ(code_of(R"([1])"), "invalid_output");
}

TEST(RulesWrite, names_what_it_overwrote_and_adds_without_losing_anything) {
    World world(travel());
    world.start(R"({"order_status": "Received", "seats": 1})");
    EXPECT_TRUE(world.complete(0, R"({"order_status": "ok", "seats": 7})").overwrote.empty());
    EXPECT_EQ(
        world.complete(2, R"({"seats": {"$expr": "state.seats + 1"}})").overwrote, (Fired{2})
    );
    EXPECT_EQ(world.state().values[2].json, "8");
}

TEST(RulesWrite, an_invariant_that_would_be_false_refuses_the_write) {
    World world(travel());
    world.start(R"({"seats": 1})");
    const Payload before = world.text();
    const Outcome outcome = world.complete(2, R"({"price": "-1"})");
    EXPECT_EQ(outcome.code, "invariant_violated");
    EXPECT_EQ(outcome.message, "The invariant \"price\" would be false: price >= 0.");
    EXPECT_EQ(world.text(), before);
    EXPECT_EQ(
        world.complete(2, R"({"price": null, "seats": 0, "hotel_status": "reserved"})").code, ""
    ) << "an unknown invariant is not false";
}

TEST(RulesWrite, nothing_true_and_nothing_pending_is_an_exception_that_a_repair_ends) {
    World world(travel());
    world.start(R"({"seats": 1})");
    const Outcome outcome = world.complete(2, R"({"seats": 0})");
    EXPECT_EQ(outcome.verdict, Verdict::Exception);
    EXPECT_EQ(outcome.cause, "no_condition");
    EXPECT_EQ(world.repair(R"({"hotel_status": "Requested"})").fired, (Fired{1}));
}

TEST(RulesWrite, a_named_exception_fires_nothing) {
    Rules rules = travel();
    rules.exceptions = {{.name = "overbooked", .when = "hotel_status = 'none left'"}};
    World world(rules);
    world.start(R"({"seats": 1})");
    const Outcome outcome = world.complete(2, R"({"hotel_status": "none left"})");
    EXPECT_EQ(outcome.cause, "overbooked");
    EXPECT_TRUE(outcome.fired.empty());
    EXPECT_EQ(world.repair(R"({"hotel_status": null})").fired, (Fired{2}));
}

TEST(RulesWrite, edge_and_once_and_max_fires) {
    Rules rules = travel();
    rules.triggers[0].mode = Trigger::Mode::Once;
    rules.triggers[1].mode = Trigger::Mode::Edge;
    rules.triggers[2].max_fires = 2;
    World world(rules);
    world.start(R"({"order_status": "Received", "hotel_status": "Requested", "seats": 1})");
    EXPECT_TRUE(world.complete(0, "null").fired.empty()) << "once";
    EXPECT_TRUE(world.complete(1, "null").fired.empty()) << "still true: no edge";
    EXPECT_EQ(world.complete(2, R"({"hotel_status": null})").fired, (Fired{2}));
    const Outcome outcome = world.complete(2, R"({"hotel_status": "Requested"})");
    EXPECT_EQ(outcome.verdict, Verdict::Exception);
    EXPECT_EQ(outcome.cause, "max_fires");
}

TEST(RulesWrite, a_trigger_that_becomes_true_again_fires_by_its_edge) {
    Rules rules = travel();
    rules.triggers[1].mode = Trigger::Mode::Edge;
    World world(rules);
    world.start(R"({"hotel_status": "Requested", "seats": 1})");
    EXPECT_TRUE(world.complete(1, R"({"hotel_status": null})").fired.empty());
    EXPECT_EQ(
        world.complete(2, R"({"hotel_status": {"$expr": "'Requested'"}})").fired, (Fired{1, 2})
    );
}

TEST(RulesWrite, firing_itself_without_a_change_ends_as_an_exception) {
    World world(travel());
    world.start(R"({"seats": 1})");
    for (int i = 1; i < RulesLimits::kIdleFiresMax; ++i) {
        EXPECT_EQ(world.complete(2, "null").verdict, Verdict::Goes);
    }
    EXPECT_EQ(world.complete(2, "null").cause, "no_progress");
}

TEST(RulesWrite, says_what_may_be_written_and_by_whom) {
    Rules rules = travel();
    rules.triggers[2].writes = {{.attribute = "price"}};
    World world(rules);
    world.start(R"({"seats": 1})");
    EXPECT_EQ(world.complete(2, R"({"seats": 4})").code, "undeclared_write");
    EXPECT_EQ(
        world.complete(2, R"({"hotel_statu": "x"})").message,
        "There is no attribute \"hotel_statu\"; there are order_status, hotel_status, seats and "
        "price. "
        "Did you mean \"hotel_status\"?"
    );
    EXPECT_EQ(
        world.complete(2, R"({"price": "much"})").message,
        "The attribute \"price\" (numeric) cannot be \"much\"; allowed is a decimal number of at "
        "most 1,000 digits before and after the point."
    );
    EXPECT_EQ(world.complete(2, "[1]").code, "invalid_output");
    EXPECT_EQ(world.from_outside(R"({"order_status": "Received"})").fired, (Fired{0}));
    EXPECT_EQ(world.from_outside(R"({"seats": 9})").code, "not_allowed");
}

TEST(RulesWrite, a_condition_that_fails_refuses_the_write) {
    Rules rules = travel();
    rules.triggers[1].when = "10 / seats > 1";
    World world(rules);
    world.start(R"({"seats": 1})");
    const Outcome outcome = world.complete(2, R"({"seats": 0})");
    EXPECT_EQ(outcome.code, "predicate_error");
    EXPECT_TRUE(
        outcome.message.starts_with("The condition of the trigger \"t2\" fails: Division by zero.")
    ) << outcome.message;
}

TEST(RulesWrite, values_have_one_canonical_form) {
    Rules rules = travel();
    rules.attributes.push_back({.name = "at", .type = AttributeType::Timestamp});
    rules.attributes.push_back({.name = "id", .type = AttributeType::Uuid});
    World world(rules);
    world.start(R"({"seats": 1.0, "price": 12.50, "at": "2026-11-21T09:30:00+01:00",
                    "id": "0192D4A6-7C3E-7B5A-9F00-2F4E6A8B0C1D"})");
    EXPECT_EQ(
        world.text(),
        R"({"order_status":"Not Requested","hotel_status":null,"seats":1,"price":"12.5",)"
        R"("at":"2026-11-21T08:30:00.000000Z","id":"0192d4a6-7c3e-7b5a-9f00-2f4e6a8b0c1d"})"
    );
}

TEST(RulesLimits, hold) {
    Rules rules;
    rules.attributes = {{.name = "a"}};
    rules.triggers = {{.when = "a is not null"}};
    const std::size_t frame = std::string(R"({"a":""})").size();
    World world(rules);
    const std::string most(RulesLimits::kStateBytesMax - frame, 'x');
    EXPECT_EQ(world.start("{\"a\":\"" + most + "x\"}").code, "payload_too_large");
    EXPECT_EQ(world.start("{\"a\":\"" + most + "\"}").code, "");
}

}  // namespace
}  // namespace ebb::rules
