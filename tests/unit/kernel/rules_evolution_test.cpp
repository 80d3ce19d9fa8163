// Goal: an instance with rules follows to a newer version of them, or stays and says why. Method:
// states that the kernel has reached are translated, and the kernel continues with them.

#include "core/kernel/rules_evolution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/kernel_world.h"

namespace ebb::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Verdict = Decision::Verdict;

Json first_rules() {
    return Json::parse(R"({
        "evolution": "follow",
        "on_idle": "wait",
        "attributes": {
            "phase": {"default": "none"},
            "hotel": "text",
            "nights": {"default": "2"}
        },
        "triggers": {
            "validate": {"when": "phase = 'received'", "writes": ["phase"], "mode": "once"},
            "book": {"when": "hotel = 'wanted'", "writes": ["hotel"], "compensate": "free"},
            "ask": {"when": "phase = 'asked'", "steps": [{"decision": "boss"}], "writes": []}
        }
    })");
}

Json second_rules() {
    Json rules = first_rules();
    rules["attributes"] = Json::parse(R"({
        "price": {"type": "integer", "default": 5},
        "room": {"renamed_from": ["hotel", "bed"]},
        "phase": {"default": "none"},
        "nights": {"type": "integer"}
    })");
    Json& triggers = rules["triggers"];
    triggers["book"]["when"] = "room = 'wanted'";
    triggers["book"]["writes"] = {"room"};
    triggers["audit"] = {{"when", "price = 5 and phase = 'valid'"}, {"mode", "once"}};
    return rules;
}

std::shared_ptr<const Program> version(int number, Json rules) {
    return Program::compile(
        definition_from_json({{"workflow", "w"}, {"version", number}, {"rules", std::move(rules)}})
    );
}

struct Evolving : KernelWorld {
    explicit Evolving(std::string_view input, const Json& rules = first_rules())
        : KernelWorld(version(1, rules)->definition(), Payload(input)) {}

    std::string obstacle(const Json& rules) const {
        return migrate(*program, *version(2, rules), state, now).obstacle;
    }

    void follow(const Json& rules) {
        const auto next = version(2, rules);
        RulesMigration migration = migrate(*program, *next, state, now);
        ASSERT_EQ(migration.obstacle, "");
        history.push_back(migration.event);
        state = std::move(migration.state);
        program = next;
        EXPECT_EQ(broken_invariant(), "");
    }

    Verdict write(std::string_view values, bool is_repair = true) {
        return apply(event::AttributesWritten{.values = Payload(values), .is_repair = is_repair});
    }

    Json attributes() const { return Json::parse(program->rules()->state_text(*state.rules)); }
};

TEST(RulesEvolution, keeps_values_under_new_names_and_types_and_adds_the_others) {
    Evolving world(R"({"hotel": "grand"})");
    world.follow(second_rules());
    const Json expected =
        Json::parse(R"({"price": 5, "room": "grand", "phase": "none", "nights": 2})");
    EXPECT_EQ(world.attributes(), expected);
    const HistoryEvent& event = world.history.back();
    EXPECT_EQ(event.type, HistoryType::Migrated);
    EXPECT_EQ(event.seq, world.state.last_seq);
    EXPECT_EQ(
        Json::parse(event.payload),
        Json::parse(R"({"from": 1, "to": 2, "values": {"price": 5, "room": "grand", "nights": 2}})")
    );
}

TEST(RulesEvolution, fires_nothing_itself_and_everything_that_holds_at_the_next_write) {
    Evolving world(R"({"phase": "received"})");
    world.script = [](const Invocation& call) {
        KernelWorld::Outcome outcome;
        if (call.handler == "validate") outcome.output = R"({"phase": "valid"})";
        return outcome;
    };
    world.run();
    world.follow(second_rules());
    EXPECT_THAT(world.state.tokens, IsEmpty());
    EXPECT_TRUE(world.state.rules->asks_all);
    EXPECT_EQ(world.write(R"({"nights": 3})", true), Verdict::Changed);
    ASSERT_EQ(world.state.tokens.size(), 1U) << "audit, although it reads no changed attribute";
    EXPECT_FALSE(world.state.rules->asks_all);
    world.run();
    EXPECT_EQ(world.calls_text(), "validate audit");
    EXPECT_EQ(world.write(R"({"phase": "received"})"), Verdict::Changed);
    EXPECT_THAT(world.state.tokens, IsEmpty()) << "validate has fired once, in the version before";
}

TEST(RulesEvolution, a_write_from_outside_asks_all_conditions_once) {
    Json rules = first_rules();
    rules["external_writes"] = "all";
    Json later = second_rules();
    later["external_writes"] = "all";
    Evolving world(R"({"phase": "valid"})", rules);
    world.follow(later);
    EXPECT_EQ(world.write("{}", false), Verdict::Changed) << "audit fires";
    EXPECT_EQ(world.write("{}", false), Verdict::Ignored);
}

TEST(RulesEvolution, a_new_final_condition_ends_it_when_conditions_are_asked_again) {
    Evolving world(R"({"phase": "valid"})");
    EXPECT_EQ(world.write("null"), Verdict::Ignored) << "nothing holds, and nothing has changed";
    Json later = first_rules();
    later["final"] = {{"checked", "phase = 'valid'"}};
    world.follow(later);
    EXPECT_EQ(world.write("null"), Verdict::Changed);
    EXPECT_EQ(world.status(), "completed");
}

TEST(RulesEvolution, what_is_pending_ends_with_the_names_that_it_knows) {
    Evolving world(R"({"hotel": "wanted"})");
    const auto call = world.claim(world.state.tokens.front().id);
    world.follow(second_rules());
    world.complete(*call, R"({"hotel": "booked", "phase": "none"})");
    EXPECT_EQ(world.attributes().at("room"), "booked");
    EXPECT_EQ(world.apply(event::CancelRequested{}), Verdict::Changed);
    EXPECT_EQ(world.attributes().at("room"), "wanted") << "restored under the new name";
    world.run();
    EXPECT_EQ(world.calls_text(), "book free");
    EXPECT_EQ(world.status(), "cancelled");
}

TEST(RulesEvolution, what_was_written_under_an_earlier_name_is_restored) {
    Evolving world(R"({"hotel": "wanted"})");
    world.script = [](const Invocation& call) {
        KernelWorld::Outcome outcome;
        if (call.handler == "book") outcome.output = R"({"hotel": "booked"})";
        return outcome;
    };
    world.run();
    world.follow(second_rules());
    EXPECT_EQ(world.attributes().at("room"), "booked");
    world.apply(event::CancelRequested{});
    EXPECT_EQ(world.attributes().at("room"), "wanted");
}

TEST(RulesEvolution, stays_while_something_is_in_the_way) {
    const Evolving booking(R"({"hotel": "wanted"})");
    const auto with_book = [](const char* key, const Json& value) {
        Json rules = second_rules();
        rules["triggers"]["book"][key] = value;
        return rules;
    };
    EXPECT_EQ(booking.obstacle(second_rules()), "");
    EXPECT_THAT(booking.obstacle(with_book("do", "other")), HasSubstr("another handler or queue"));
    EXPECT_THAT(booking.obstacle(with_book("queue", "other")), HasSubstr("handler or queue"));
    EXPECT_THAT(
        booking.obstacle(with_book("writes", {"phase"})),
        HasSubstr("may write \"hotel\", which it may not")
    );
    Json typed = second_rules();
    typed["attributes"]["room"]["type"] = "json";
    typed["triggers"]["book"]["when"] = "room is not null";
    EXPECT_THAT(booking.obstacle(typed), HasSubstr("whose type is another one"));
    Json without = second_rules();
    without["triggers"].erase("book");
    EXPECT_THAT(booking.obstacle(without), HasSubstr("cannot compensate \"book\""));

    const Evolving validating(R"({"phase": "received"})");
    Json gone = second_rules();
    gone["triggers"].erase("validate");
    EXPECT_THAT(
        validating.obstacle(gone), HasSubstr("\"validate\", which the newer version lacks")
    );
    Json disabled = second_rules();
    disabled["triggers"]["validate"]["enabled"] = false;
    EXPECT_EQ(validating.obstacle(disabled), "");
}

TEST(RulesEvolution, stays_while_its_values_do_not_fit) {
    const Evolving odd(R"({"hotel": "x", "nights": "two"})");
    EXPECT_THAT(
        odd.obstacle(second_rules()), HasSubstr("\"nights\" cannot be converted to integer")
    );
    const Evolving even(R"({"hotel": "x"})");
    Json strict = second_rules();
    strict["invariants"] = {{"long", "nights > 2"}};
    EXPECT_THAT(even.obstacle(strict), HasSubstr("break the invariant \"long\""));
    strict["invariants"] = {{"long", "10 / (nights - 2) > 1"}};
    EXPECT_THAT(even.obstacle(strict), HasSubstr("break the invariant")) << "it would fail";
    strict["invariants"] = {{"long", "nights = 2"}};
    EXPECT_EQ(even.obstacle(strict), "");
    Json idle = second_rules();
    idle["on_idle"] = "exception";
    EXPECT_THAT(even.obstacle(idle), HasSubstr("0 tokens")) << "it waits for a write";
}

TEST(RulesEvolution, a_pending_block_must_be_the_same) {
    const Evolving asking(R"({"phase": "asked"})");
    Json other = second_rules();
    EXPECT_EQ(asking.obstacle(other), "");
    other["triggers"]["ask"]["steps"][0]["roles"] = {"boss"};
    EXPECT_THAT(asking.obstacle(other), HasSubstr("has other steps"));
    Json plain = second_rules();
    plain["triggers"]["ask"].erase("steps");
    EXPECT_THAT(asking.obstacle(plain), HasSubstr("has other steps"));
}

TEST(RulesEvolution, never_moves_what_is_rolled_back_or_has_ended) {
    Evolving world(R"({"hotel": "wanted"})");
    const auto call = world.claim(world.state.tokens.front().id);
    world.apply(event::CancelRequested{});
    EXPECT_THAT(world.obstacle(second_rules()), HasSubstr("rolled back"));
    world.complete(*call, R"({"hotel": "booked"})");
    world.run();
    ASSERT_EQ(world.status(), "cancelled");
    EXPECT_THAT(world.obstacle(second_rules()), HasSubstr("has ended"));
}

/// A reminder that waits for a minute while its order is open.
Json reminding() {
    Json rules = first_rules();
    rules["triggers"]["remind"] = {{"when", "phase = 'open'"}, {"after", "1m"}, {"mode", "once"}};
    return rules;
}

void pass_a_minute(KernelWorld& world) {
    world.now += std::chrono::minutes(1);
    while (world.run_one()) {
    }
}

TEST(RulesEvolution, what_is_armed_fires_only_if_the_newer_condition_is_true) {
    const auto calls_after = [](std::string_view condition, bool is_enabled) {
        Evolving world(R"({"phase": "open"})", reminding());
        Json rules = reminding();
        rules["triggers"]["remind"]["when"] = condition;
        rules["triggers"]["remind"]["enabled"] = is_enabled;
        world.follow(rules);
        pass_a_minute(world);
        EXPECT_THAT(world.state.tokens, IsEmpty());
        EXPECT_EQ(world.broken_invariant(), "");
        return world.calls_text();
    };
    EXPECT_EQ(calls_after("phase = 'open'", true), "remind");
    EXPECT_EQ(calls_after("phase <> 'open'", true), "");
    EXPECT_EQ(calls_after("phase = 'open'", false), "") << "it is disabled";
    EXPECT_EQ(calls_after("phase::integer = 1", true), "") << "the condition fails";
}

TEST(RulesEvolution, a_write_disarms_what_the_newer_version_has_disabled) {
    Evolving world(R"({"phase": "open"})", reminding());
    Json rules = reminding();
    rules["triggers"]["remind"]["enabled"] = false;
    world.follow(rules);
    EXPECT_EQ(world.write(R"({"nights": "3"})"), Verdict::Changed);
    EXPECT_THAT(world.state.tokens, IsEmpty());
    pass_a_minute(world);
    EXPECT_EQ(world.calls_text(), "");
}

TEST(RulesEvolution, what_is_no_longer_armed_leaves_the_rest_to_the_conditions) {
    Json rules = reminding();
    rules["on_idle"] = "exception";
    Evolving world(R"({"phase": "open"})", rules);
    rules["triggers"]["remind"]["when"] = "phase = 'closed'";
    world.follow(rules);
    pass_a_minute(world);
    EXPECT_EQ(world.status(), "dead_letter");

    rules["triggers"]["audit"] = {{"when", "phase = 'open'"}, {"mode", "once"}};
    Evolving next(R"({"phase": "open"})", reminding());
    next.follow(rules);
    pass_a_minute(next);
    EXPECT_EQ(next.calls_text(), "audit");
}

TEST(RulesEvolution, of_two_versions_is_impossible_for_all_or_for_none) {
    const auto from = version(1, first_rules());
    EXPECT_TRUE(is_followed(*from));
    Json pinned = first_rules();
    pinned.erase("evolution");
    EXPECT_FALSE(is_followed(*version(1, pinned)));
    EXPECT_THAT(obstacles_between(*from, *version(2, second_rules())), IsEmpty());
    const auto steps = Program::compile(
        parse_definition_json(R"({"workflow": "w", "version": 2, "steps": [{"step": "a"}]})")
    );
    EXPECT_THAT(
        obstacles_between(*from, *steps),
        ElementsAre("The newer version has steps instead of rules.")
    );
}

}  // namespace
}  // namespace ebb::test
