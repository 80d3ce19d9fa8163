// Rules in definitions: what is written can be read again, the shorter forms, every problem with
// its place, and the limits.

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ebb/definition.h>
#include <ebb/rules_builder.h>

#include "core/model/reader.h"
#include "core/model/writer.h"
#include "support/json.h"

namespace ebb::test {
namespace {

const std::string kTravel = R"({
    "workflow": "travel",
    "rules": {
        "attributes": [
            {"attribute": "order_status", "default": "Not Requested", "external": true},
            {"attribute": "hotel_status"},
            {"attribute": "price", "type": "numeric", "default": "0"},
            {"attribute": "old", "type": "date", "enabled": false}
        ],
        "triggers": [
            {"trigger": "validate", "when": "order_status = 'Received'", "do": "validate_order",
             "writes": ["order_status", {"attribute": "hotel_status", "values": ["Requested"]}],
             "compensate": "unvalidate", "timeout": "10s", "max_attempts": 5, "mode": "once"},
            {"trigger": "hotel", "when": "hotel_status = 'Requested'",
             "set": {"hotel_status": "${ output.status }"}, "max_fires": 7, "enabled": false}
        ],
        "final": [{"final": "booked", "when": "hotel_status = 'reserved'"}],
        "exceptions": [{"exception": "overbooked", "when": "hotel_status = 'none left'"}],
        "invariants": [{"invariant": "price", "when": "price >= 0"}],
        "on_exception": "compensate",
        "final_while_pending": "refuse",
        "external_writes": "all"
    }
})";

TEST(RulesDefinition, round_trip_of_everything_is_exact) {
    const Definition definition = parse_definition_json(kTravel);
    ASSERT_TRUE(definition.rules.has_value());
    EXPECT_EQ(definition.rules->attributes.size(), 4U);
    EXPECT_EQ(definition.rules->triggers[0].mode, Trigger::Mode::Once);
    EXPECT_EQ(std::get<Step>(definition.steps[0].kind).handler, "validate_order");
    EXPECT_EQ(std::get<Step>(definition.steps[0].kind).attempts.max_attempts, 5);
    EXPECT_EQ(definition_to_json(definition), Json::parse(kTravel));
    EXPECT_EQ(definition_from_json(definition_to_json(definition)), definition);
}

TEST(RulesDefinition, maps_of_names_and_texts_are_the_shorter_form) {
    const Definition expected = parse_definition_json(R"({"workflow": "w", "rules": {
        "attributes": [{"attribute": "a"}, {"attribute": "n", "type": "integer", "default": 1}],
        "triggers": [{"trigger": "t", "when": "a is null", "writes": [
            {"attribute": "a", "values": ["x"]}, "n"]}],
        "final": [{"final": "f", "when": "a = 'x'"}]}})");
    EXPECT_EQ(
        parse_definition_json(R"({"workflow": "w", "rules": {
            "attributes": {"a": "text", "n": {"type": "integer", "default": 1}},
            "triggers": {"t": {"when": "a is null", "writes": {"a": ["x"], "n": "any"}}},
            "final": {"f": "a = 'x'"}}})"),
        expected
    );
}

std::string problems_of(std::string_view rules, std::string_view head = "") {
    try {
        parse_definition_json(fmt::format(R"({{"workflow": "w", {} "rules": {}}})", head, rules));
    } catch (const DefinitionError& error) {
        std::string text;
        for (const Diagnostic& d : error.diagnostics()) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", d.path, d.code);
        }
        return text;
    }
    return "";
}

/// The messages for rules with the attributes `a` and `n`.
std::string messages_of(std::string_view rules) {
    try {
        parse_definition_json(fmt::format(R"({{"workflow": "w", "rules": {}}})", rules));
    } catch (const DefinitionError& error) {
        std::string text;
        for (const Diagnostic& d : error.diagnostics()) text += d.message + "\n";
        return text;
    }
    return "";
}

TEST(RulesDefinition, a_number_as_a_condition_gets_an_example_in_sql) {
    const std::string_view attributes = R"("attributes": {"a": "text"})";
    const std::string_view triggers = R"("triggers": {"t": {"when": "a is null"}})";
    const std::string sql = "a condition over attributes in SQL, such as `amount > 100`, but here";
    const std::string of_trigger =
        messages_of(fmt::format(R"({{{}, "triggers": {{"t": {{"when": 3}}}}}})", attributes));
    EXPECT_NE(of_trigger.find("\"when\" must be " + sql), std::string::npos) << of_trigger;
    EXPECT_EQ(of_trigger.find("input.amount"), std::string::npos) << of_trigger;
    for (const char* rest : {R"("final": {"f": 3})", R"("final": [{"final": "f", "when": 3}])"}) {
        const std::string text =
            messages_of(fmt::format("{{{}, {}, {}}}", attributes, triggers, rest));
        EXPECT_NE(text.find("must be " + sql), std::string::npos) << text;
    }
}

TEST(RulesDefinition, parts_of_rules_in_the_wrong_place_belong_below_rules) {
    for (const char* part : {"attributes", "triggers", "final"}) {
        std::string text;
        try {
            parse_definition_json(fmt::format(R"({{"workflow": "w", "{}": {{}}}})", part));
        } catch (const DefinitionError& error) {
            for (const Diagnostic& d : error.diagnostics()) text += d.message + "\n";
        }
        EXPECT_NE(
            text.find(fmt::format("no key \"{}\" here. Did you mean \"rules\"?", part)),
            std::string::npos
        ) << text;
    }
}

TEST(RulesDefinition, says_what_is_meant_by_words_of_other_systems) {
    const auto of_trigger = [](std::string_view trigger) {
        return messages_of(fmt::format(
            R"({{"attributes": {{"a": "text", "n": "integer"}}, "triggers": {{"t": {}}}}})", trigger
        ));
    };
    const auto of_rest = [](std::string_view rest) {
        return messages_of(fmt::format(
            R"({{"attributes": {{"a": "text"}}, "triggers": {{"t": {{"when": "a = 'x'"}}}}, {}}})",
            rest
        ));
    };
    EXPECT_EQ(
        of_trigger(R"({"when": "a = 'x'", "handler": "h"})"),
        "There is no key \"handler\" here. Did you mean \"do\"?\n"
    );
    EXPECT_NE(
        of_trigger(R"({"if": "a = 'x'"})").find("no key \"if\" here. Did you mean \"when\"?"),
        std::string::npos
    );
    EXPECT_NE(
        messages_of(R"({"attributes": {"a": "string"}, "triggers": {"t": {"when": "a = 'x'"}}})")
            .find("here is the text \"string\". Did you mean \"text\"?"),
        std::string::npos
    );
    EXPECT_NE(
        messages_of(R"({"attributes": {"a": "long"}, "triggers": {"t": {"when": "a = 1"}}})")
            .find("here is the text \"long\". Did you mean \"integer\"?"),
        std::string::npos
    );
    EXPECT_NE(of_trigger(R"({"when": "a == 'x'"})").find("Did you mean =?"), std::string::npos);
    EXPECT_NE(
        of_trigger(R"({"when": "a = 'x' && n = 1"})").find("Did you mean AND?"), std::string::npos
    );
    EXPECT_NE(
        of_trigger(R"({"when": "a = \"placed\""})").find("A text stands in single quotes."),
        std::string::npos
    );
    EXPECT_EQ(
        of_trigger(R"({"when": "a = 'x'", "writes": "a"})"),
        "\"writes\" must be a list of attributes, but here is the text \"a\". Write [a].\n"
    );
    EXPECT_EQ(
        of_rest(R"("on_exception": "retry")"),
        "\"on_exception\" must be dead_letter, compensate, or a map with \"do\" and the handler of "
        "exceptions, but here is the text \"retry\".\n"
    );
    EXPECT_EQ(
        messages_of(R"({"attributes": {"n": {"type": "integer", "default": "abc"}},
                        "triggers": {"t": {"when": "n = 1"}}})"),
        "\"abc\" cannot be the default of the attribute \"n\" (integer); allowed is a whole "
        "number.\n"
    );
}

TEST(RulesDefinition, says_what_is_wrong_with_a_condition) {
    const auto of = [](std::string_view when) {
        return messages_of(fmt::format(
            R"({{"attributes": {{"a": "text", "old": {{"enabled": false}}, "n": "integer"}},
                 "triggers": {{"t": {{"when": "{}"}}}}}})",
            when
        ));
    };
    EXPECT_TRUE(of("aa = 'x'").starts_with("There is no attribute \"aa\""));
    EXPECT_TRUE(of("other = 'x'").starts_with("There is no attribute \"other\"; there are a and n.")
    ) << of("other = 'x'");
    EXPECT_TRUE(
        of("old = 'x'")
            .starts_with("The attribute \"old\" is disabled, so no condition can read it: enable it"
            )
    ) << of("old = 'x'");
    EXPECT_TRUE(of("n % 0 = 1").starts_with("Division by zero."));
    EXPECT_TRUE(
        of("n + 1 is not unknown")
            .starts_with("IS UNKNOWN needs a boolean, but n + 1 is integer: write IS NOT NULL.")
    ) << of("n + 1 is not unknown");
}

/// What was registered before Ebb looked for it stays valid.
TEST(RulesDefinition, a_stored_condition_that_a_later_check_refuses_can_be_read) {
    Definition definition = parse_definition_json(
        R"({"workflow": "w", "rules": {"attributes": {"n": "integer"},
            "triggers": {"t": {"when": "n = 1"}}}})"
    );
    definition.rules->triggers[0].when = "n / 0 = 1 or n is unknown";
    const std::string text = to_text(definition_to_json(definition));
    EXPECT_THROW(parse_definition_json(text), DefinitionError);
    EXPECT_EQ(model::read_stored(text), definition);
}

constexpr std::string_view kAttributes = R"("attributes": {"a": "text", "n": "integer"})";

std::string with_trigger(std::string_view trigger, std::string_view more = "") {
    return problems_of(
        fmt::format(R"({{{}, "triggers": {{"t": {}}} {}}})", kAttributes, trigger, more)
    );
}

TEST(RulesDefinition, says_where_it_is_wrong) {
    EXPECT_EQ(with_trigger(R"({"when": "a = 'x'"})"), "");
    EXPECT_EQ(with_trigger(R"({"when": "b = 'x'"})"), "/rules/triggers/t/when invalid_condition");
    EXPECT_EQ(with_trigger(R"({"when": "n / 0 = 1"})"), "/rules/triggers/t/when invalid_condition");
    EXPECT_EQ(
        with_trigger(R"({"when": "n is unknown"})"), "/rules/triggers/t/when invalid_condition"
    );
    EXPECT_EQ(with_trigger(R"({"when": "(n = 1) is unknown and n / 1 = 1"})"), "");
    EXPECT_EQ(with_trigger(R"({"do": "x"})"), "/rules/triggers/t/when missing_key");
    EXPECT_EQ(
        with_trigger(R"({"when": "a = 'x'", "writes": ["b"]})"),
        "/rules/triggers/t/writes/0 unknown_attribute"
    );
    EXPECT_EQ(
        with_trigger(R"({"when": "a = 'x'", "writes": {"n": ["x"]}})"),
        "/rules/triggers/t/writes/n invalid_value"
    );
    EXPECT_EQ(
        with_trigger(R"({"when": "a = 'x'", "then": []})"), "/rules/triggers/t/then unknown_key"
    );
    EXPECT_EQ(
        with_trigger(R"({"when": "a = 'x'"})", R"(, "final": {"f": "n"})"),
        "/rules/final/f invalid_condition"
    );
    EXPECT_EQ(
        problems_of(R"({"attributes": {"A": "text"}, "triggers": {"t": {"when": "true"}}})"),
        "/rules/attributes/A invalid_name"
    );
    EXPECT_EQ(
        problems_of(R"({"attributes": {"a": {"type": "date", "default": "soon"}},
                        "triggers": {"t": {"when": "true"}}})"),
        "/rules/attributes/a/default invalid_default"
    );
    EXPECT_EQ(
        problems_of(R"({"attributes": {"a": "string"}, "triggers": {"t": {"when": "true"}}})"),
        "/rules/attributes/a/type invalid_value"
    );
    EXPECT_EQ(problems_of(R"({"attributes": {}, "triggers": {}})"), "/rules/triggers empty_block");
    EXPECT_EQ(
        problems_of(
            R"({"attributes": {}, "triggers": {"t": {"when": "true"}}})", R"("steps": ["a"],)"
        ),
        "/steps steps_and_rules"
    );
}

TEST(RulesDefinition, says_what_is_wrong_in_a_condition) {
    try {
        parse_definition_json(R"({"workflow": "w", "rules": {"attributes": {"a": "text"},
            "triggers": {"t": {"when": "a = 1"}}}})");
        FAIL();
    } catch (const DefinitionError& error) {
        ASSERT_EQ(error.diagnostics().size(), 1U);
        EXPECT_TRUE(error.diagnostics()[0].message.starts_with(
            "The comparison cannot take a (text) and 1 (integer) together"
        )) << error.diagnostics()[0].message;
    }
}

Definition with_attributes(std::size_t count) {
    Definition definition{.name = "w"};
    definition.rules.emplace();
    for (std::size_t i = 0; i < count; ++i) {
        definition.rules->attributes.push_back({.name = fmt::format("a{}", i)});
    }
    definition.rules->triggers.push_back({.when = "true"});
    definition.steps.push_back({.name = "t"});
    return definition;
}

TEST(RulesLimits, of_definitions_hold) {
    EXPECT_TRUE(validate(with_attributes(RulesLimits::kAttributesMax)).empty());
    EXPECT_EQ(validate(with_attributes(RulesLimits::kAttributesMax + 1)).at(0).code, "too_many");
    Definition definition = with_attributes(1);
    definition.rules->finals.assign(RulesLimits::kFinalsMax + 1, {.name = "f", .when = "true"});
    EXPECT_EQ(validate(definition).at(0).code, "too_many");
    definition = with_attributes(1);
    definition.rules->triggers[0].max_fires = RulesLimits::kFiresMax + 1;
    EXPECT_EQ(validate(definition).at(0).code, "out_of_range");
    definition = with_attributes(1);
    definition.steps.push_back({.name = "u"});
    EXPECT_EQ(validate(definition).at(0).code, "trigger_without_step");
    definition = with_attributes(1);
    definition.rules->attributes[0].name =
        std::string(RulesLimits::kAttributeNameBytesMax + 1, 'a');
    EXPECT_EQ(validate(definition).at(0).code, "invalid_name");
}

TEST(RulesBuilder, makes_what_a_file_says) {
    const Definition built =
        RulesBuilder("travel", 2)
            .on_error(Definition::OnError::DeadLetter)
            .output(R"({"price": "${ input.price }"})")
            .defaults({.attempts = {.max_attempts = 2}, .queue = "slow"})
            .attribute("hotel")
            .attribute("price", AttributeType::Numeric, {.initial = R"("0")", .is_external = true})
            .trigger(
                "book",
                "hotel is null",
                {.step = {.handler = "book_hotel", .compensate = "free_hotel"},
                 .set = R"({"hotel": "${ output.name }"})",
                 .writes = {{{.attribute = "hotel", .values = {R"("Ritz")"}}}},
                 .mode = Trigger::Mode::Once,
                 .max_fires = 3}
            )
            .trigger(
                "pay", "price > 0", {.writes = std::vector<DeclaredWrite>{}, .is_enabled = false}
            )
            .final_condition("booked", "hotel is not null")
            .exception("dear", "price > 1000")
            .invariant("price", "price >= 0")
            .on_exception(Rules::OnException::Compensate)
            .final_while_pending(Rules::FinalWhilePending::Refuse)
            .external_writes(Rules::ExternalWrites::All)
            .build();
    const Definition read = parse_definition_json(R"({
        "workflow": "travel", "version": 2, "on_error": "dead_letter",
        "output": {"price": "${ input.price }"},
        "defaults": {"max_attempts": 2, "queue": "slow"},
        "rules": {
            "attributes": {
                "hotel": "text", "price": {"type": "numeric", "default": "0", "external": true}
            },
            "triggers": {
                "book": {"when": "hotel is null", "do": "book_hotel", "compensate": "free_hotel",
                         "set": {"hotel": "${ output.name }"}, "writes": {"hotel": ["Ritz"]},
                         "mode": "once", "max_fires": 3},
                "pay": {"when": "price > 0", "writes": [], "enabled": false}
            },
            "final": {"booked": "hotel is not null"},
            "exceptions": {"dear": "price > 1000"},
            "invariants": {"price": "price >= 0"},
            "on_exception": "compensate", "final_while_pending": "refuse", "external_writes": "all"
        }})");
    EXPECT_EQ(definition_to_json(built), definition_to_json(read));
}

TEST(RulesBuilder, makes_the_handler_of_exceptions_wherever_it_is_named) {
    const Definition built =
        RulesBuilder("travel")
            .on_error(Definition::OnError::Exception)
            .attribute("a")
            .trigger("s", "a is null")
            .on_exception(
                {.handler = "repair", .compensate = "unrepair", .attempts = {.max_attempts = 5}}
            )
            .trigger("t", "a = 'x'")
            .on_idle(Rules::OnIdle::Wait)
            .final_while_pending(Rules::FinalWhilePending::Stop)
            .build();
    EXPECT_EQ(built.steps.back().name, kExceptionStep);
    const Definition read = parse_definition_json(R"({
        "workflow": "travel", "on_error": "exception",
        "rules": {
            "attributes": {"a": "text"},
            "triggers": {"s": {"when": "a is null"}, "t": {"when": "a = 'x'"}},
            "on_exception": {"do": "repair", "compensate": "unrepair", "max_attempts": 5},
            "on_idle": "wait", "final_while_pending": "stop"
        }})");
    EXPECT_EQ(definition_to_json(built), definition_to_json(read));
    EXPECT_EQ(definition_from_json(definition_to_json(read)), read);
}

TEST(RulesBuilder, may_change_its_mind_about_exceptions) {
    RulesBuilder builder("travel");
    builder.attribute("a").trigger("s", "a is null").on_exception({.handler = "repair"});
    EXPECT_THROW(builder.on_exception(Rules::OnException::Handle), Error);
    const Definition built = builder.on_exception(Rules::OnException::Compensate).build();
    EXPECT_EQ(built.steps.size(), 1U);
}

TEST(RulesDefinition, says_what_is_wrong_with_a_handler_of_exceptions) {
    const auto with = [](std::string_view handler) {
        return problems_of(fmt::format(
            R"({{"attributes": {{"a": "text"}}, "triggers": {{"t": {{"when": "true"}}}},
                            "on_exception": {}}})",
            handler
        ));
    };
    EXPECT_EQ(
        with(R"({"do": "h", "max_attempts": 0})"), "/rules/on_exception/max_attempts out_of_range"
    );
    EXPECT_EQ(with(R"({"do": "h", "when": "true"})"), "/rules/on_exception/when unknown_key");
    EXPECT_EQ(with(R"("handle")"), "/rules/on_exception invalid_value");
    EXPECT_EQ(
        problems_of(R"({"attributes": {}, "triggers": {"_EXCPT": {"when": "true"}}})"),
        "/rules/triggers/_EXCPT invalid_name"
    );
}

TEST(RulesBuilder, tells_all_problems_at_once) {
    try {
        RulesBuilder("travel")
            .attribute("Hotel")
            .trigger("book", "hotels is null")
            .trigger("pay", "true", {.set = R"({"a": "${ outputs }"})"})
            .build();
        FAIL() << "it was built";
    } catch (const DefinitionError& error) {
        EXPECT_EQ(error.diagnostics().size(), 3U) << error.what();
    }
}

}  // namespace
}  // namespace ebb::test
