// Every ordinary callable is a handler. What is not is tried by tests/install (wrong_uses).

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ebb/ebb.h>

namespace ebb {
namespace {

struct Order {
    std::string id;
    int cents = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Order, id, cents)

struct Bank {
    int charged = 0;

    int charge(const Order& order) { return charged += order.cents; }

    int total() const noexcept { return charged; }

    std::string say(const StepContext& context, Order order) const {
        return context.step + order.id;
    }
};

int cents_of(const Order& order) noexcept {
    return order.cents;
}

class HandlerForms : public ::testing::Test {
 protected:
    Payload call(const char* name, const std::string& input) {
        StepContext context;
        context.step = "pay";
        context.choice = &choice;
        return (*handlers.find(name))(input, context);
    }

    const std::string order_ = R"({"id":"o1","cents":7})";
    HandlerRegistry handlers;
    StepChoice choice;
    Bank bank;
};

TEST_F(HandlerForms, take_nothing_the_context_or_an_input_in_any_order) {
    handlers.add("nothing", [] { return 1; });
    handlers.add("context", [](const StepContext& context) { return context.step; });
    handlers.add("first", [](const StepContext& context, const Order& order) {
        return context.step + order.id;
    });
    handlers.add("last", [](Order order, const StepContext& context) {
        return context.step + order.id;
    });
    EXPECT_EQ(call("nothing", "not even JSON"), "1");
    EXPECT_EQ(call("context", order_), R"("pay")");
    EXPECT_EQ(call("first", order_), R"("payo1")");
    EXPECT_EQ(call("last", order_), R"("payo1")");
}

TEST_F(HandlerForms, are_functions_members_and_bound_or_generic_callables) {
    handlers.add("function", cents_of);
    handlers.add("pointer", &cents_of);
    handlers.add("member", &Bank::charge, &bank);
    handlers.add("noexcept", &Bank::total, std::ref(bank));
    handlers.add("shared", &Bank::say, std::make_shared<Bank>());
    handlers.add<Order>("bound", std::bind_front(&Bank::charge, &bank));
    handlers.add<Order>("generic", [](const auto& order) { return order.cents; });
    handlers.add<Order>("generic_context", [](const auto& order, const auto& context) {
        return context.step + order.id;
    });
    handlers.add("erased", std::function<int(const Order&)>(cents_of));
    handlers.add("move_only", [one = std::make_unique<int>(1)](int value) { return value + *one; });
    handlers.add("mutable", [calls = 0](int) mutable { return ++calls; });
    EXPECT_EQ(call("function", order_), "7");
    EXPECT_EQ(call("pointer", order_), "7");
    EXPECT_EQ(call("member", order_), "7");
    EXPECT_EQ(call("noexcept", "null"), "7");
    EXPECT_EQ(call("shared", order_), R"("payo1")");
    EXPECT_EQ(call("bound", order_), "14");
    EXPECT_EQ(call("generic", order_), "7");
    EXPECT_EQ(call("generic_context", order_), R"("payo1")");
    EXPECT_EQ(call("erased", order_), "7");
    EXPECT_EQ(call("move_only", "4"), "5");
    EXPECT_EQ(call("mutable", "0"), "1");
    EXPECT_EQ(call("mutable", "0"), "2");
}

TEST_F(HandlerForms, give_values_options_futures_and_payloads) {
    handlers.add("void", [](const Order&) {});
    handlers.add("none", [](int) { return std::optional<Order>(); });
    handlers.add("some", [](int cents) { return std::optional<Order>({"o", cents}); });
    handlers.add("option", [](std::optional<int> value) { return value.value_or(-1); });
    handlers.add("future", [](int value) { return std::async([value] { return value + 1; }); });
    handlers.add("payload", [](const Payload& text) { return text; });
    handlers.add("json", [](const Json& json) { return json["id"]; });
    handlers.add("string", [](const std::string& text) { return text + "!"; });
    handlers.add("next", [](const Order& order) { return next("big", order.id); });
    EXPECT_EQ(call("void", order_), order_);
    EXPECT_EQ(call("none", "1"), "null");
    EXPECT_EQ(call("some", "1"), R"({"cents":1,"id":"o"})");
    EXPECT_EQ(call("option", "null"), "-1");
    EXPECT_EQ(call("option", "3"), "3");
    EXPECT_EQ(call("future", "3"), "4");
    EXPECT_EQ(call("payload", "[1, 2]"), "[1, 2]");
    EXPECT_EQ(call("json", order_), R"("o1")");
    EXPECT_EQ(call("string", R"("hi")"), R"("hi!")");
    EXPECT_EQ(call("next", order_), R"("o1")");
    EXPECT_EQ(choice.handle, "big");
}

TEST_F(HandlerForms, may_be_completed_later) {
    std::jthread later;
    handlers.add("later", [&](const Order& order, Completion<int> done) {
        later = std::jthread([order, done] {
            EXPECT_TRUE(done.complete(order.cents));
            EXPECT_FALSE(done.complete(0)) << "it had ended";
            EXPECT_FALSE(done.fail("late"));
        });
    });
    handlers.add("void", [](const StepContext&, const Completion<>& done) { done.complete(); });
    handlers.add("choice", [](Completion<int> done) { done.complete(next("left", 1)); });
    EXPECT_EQ(call("later", order_), "7");
    EXPECT_EQ(call("void", order_), order_);
    EXPECT_EQ(call("choice", order_), "1");
    EXPECT_EQ(choice.handle, "left");
    EXPECT_NE(handlers.find_async("later"), nullptr);
    EXPECT_EQ(handlers.find_async("nothing"), nullptr);
}

TEST_F(HandlerForms, fail_later_as_they_would_fail_at_once) {
    handlers.add("permanent", [](Completion<int> done) { done.fail(PermanentError("no", "x")); });
    handlers.add("text", [](Completion<int> done) { done.fail("busy"); });
    handlers.add("throws", [](Completion<int>) { throw RetryAfter("later", Duration(1)); });
    handlers.add("forgets", [](Completion<int>) {});
    EXPECT_THROW(call("permanent", "1"), PermanentError);
    EXPECT_THROW(call("text", "1"), std::runtime_error);
    EXPECT_THROW(call("throws", "1"), RetryAfter);
    try {
        call("forgets", "1");
        FAIL();
    } catch (const HandlerFailure& error) {
        EXPECT_EQ(error.options().code, "abandoned");
    }
}

TEST_F(HandlerForms, refuse_an_input_that_does_not_fit_for_good) {
    handlers.add("typed", cents_of);
    for (const char* input : {"7", "{}", "{"}) {
        try {
            call("typed", input);
            ADD_FAILURE() << input;
        } catch (const HandlerFailure& error) {
            EXPECT_EQ(error.options().code, "invalid_input");
            EXPECT_TRUE(error.options().is_permanent);
        }
    }
}

TEST(Payloads, hold_values_and_say_when_one_does_not_fit) {
    EXPECT_EQ(Payload::of(Order{"o", 1}), R"({"cents":1,"id":"o"})");
    EXPECT_EQ(Payload::of("text"), R"("text")");
    EXPECT_EQ(Payload::of(std::string("te\"xt")), R"("te\"xt")");
    EXPECT_EQ(Payload::of(std::optional<int>()), "null");
    EXPECT_EQ(Payload::of(Payload::text("[1]")), "[1]");
    const Payload json = Json{{"a", 1}};
    EXPECT_EQ(json, R"({"a":1})");
    EXPECT_EQ(Payload::text("[1,2]").as<std::vector<int>>(), (std::vector<int>{1, 2}));
    EXPECT_EQ(Payload::text("null").as<std::optional<int>>(), std::nullopt);
    for (const char* text : {"{", "\"x\"", ""}) {
        try {
            static_cast<void>(Payload::text(text).as<int>());
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::InvalidPayload);
        }
    }
    EXPECT_THROW(static_cast<void>(Payload::of("\xff")), Error);
}

TEST_F(HandlerForms, an_empty_payload_says_that_it_is_empty) {
    try {
        static_cast<void>(Payload().as<int>());
        ADD_FAILURE() << "it was read";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("is empty"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace ebb
