// The registry: names, and handlers of users' own types.

#include <functional>
#include <future>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ebb/handler.h>

namespace ebb {
namespace {

struct Order {
    int amount = 0;
};

void from_json(const Json& json, Order& order) {
    order.amount = json.at("amount").get<int>();
}

void to_json(Json& json, const Order& order) {
    json = {{"amount", order.amount}};
}

Payload call(const HandlerRegistry& handlers, std::string_view name, const Payload& input) {
    return (*handlers.find(name))(input, StepContext{});
}

TEST(HandlerRegistry, finds_what_was_added_and_lists_it_sorted) {
    HandlerRegistry handlers;
    handlers.add_raw(
                "b", [](const Payload& input, const StepContext&) { return input; }
    ).add_raw("a", [](const Payload& input, const StepContext&) { return input; });
    EXPECT_NE(handlers.find("a"), nullptr);
    EXPECT_EQ(handlers.find("c"), nullptr);
    EXPECT_EQ(handlers.names(), (std::vector<std::string>{"a", "b"}));
}

TEST(HandlerRegistry, waits_for_a_result_that_comes_later) {
    HandlerRegistry handlers;
    handlers.add("later", [](const Order& order) {
        return std::async(std::launch::async, [order] { return Order{order.amount + 1}; });
    });
    handlers.add("never", [](const Order&) {
        return std::async(std::launch::async, []() -> Order {
            throw PermanentError("no", "gone");
        });
    });
    handlers.add("nothing", [](const Order&, const StepContext&) {
        return std::async(std::launch::async, [] {});
    });
    EXPECT_EQ(call(handlers, "later", R"({"amount":1})"), R"({"amount":2})");
    EXPECT_EQ(call(handlers, "nothing", R"({"amount":1})"), R"({"amount":1})");
    EXPECT_THROW(call(handlers, "never", R"({"amount":1})"), PermanentError);
}

TEST(HandlerRegistry, refuses_a_name_twice_an_empty_one_and_one_with_a_space) {
    HandlerRegistry handlers;
    const Handler handler = [](const Payload& input, const StepContext&) { return input; };
    handlers.add_raw("a", handler);
    EXPECT_THROW(handlers.add_raw("a", handler), Error);
    EXPECT_THROW(handlers.add_raw("", handler), Error);
    EXPECT_THROW(handlers.add_raw("a b", handler), Error);
    EXPECT_THROW(handlers.add_raw("n", Handler()), Error);
    EXPECT_NO_THROW(handlers.add_raw(std::string(128, 'x'), handler));
    EXPECT_THROW(handlers.add_raw(std::string(129, 'x'), handler), Error);
}

TEST(HandlerRegistry, refuses_what_holds_no_function) {
    HandlerRegistry handlers;
    int (*const null)(int) = nullptr;
    EXPECT_THROW(handlers.add("a", std::function<int(int)>()), Error);
    EXPECT_THROW(handlers.add("a", null), Error);
    EXPECT_THROW(handlers.add_transactional("a", std::function<void(const Transaction&)>()), Error);
    handlers.add("a", std::function<int(int)>([](int n) { return n; }));
    EXPECT_EQ(handlers.names(), std::vector<std::string>{"a"});
}

TEST(HandlerRegistry, converts_to_and_from_own_types) {
    HandlerRegistry handlers;
    handlers.add("double", [](const Order& order) { return Order{order.amount * 2}; });
    EXPECT_EQ(call(handlers, "double", R"({"amount":4})"), R"({"amount":8})");
}

TEST(HandlerRegistry, a_typed_handler_may_take_the_context_and_return_nothing) {
    HandlerRegistry handlers;
    int seen = 0;
    handlers.add("look", [&](const Order& order, const StepContext& context) {
        seen = order.amount + context.attempt;
    });
    EXPECT_EQ(call(handlers, "look", R"({"amount":4})"), R"({"amount":4})");
    EXPECT_EQ(seen, 5);
}

TEST(HandlerRegistry, an_input_that_does_not_fit_the_type_fails_for_good) {
    HandlerRegistry handlers;
    handlers.add("look", [](const Order&) {});
    try {
        call(handlers, "look", R"({"amount":"many"})");
        FAIL() << "it was called";
    } catch (const HandlerFailure& failure) {
        EXPECT_EQ(failure.options().code, "invalid_input");
        EXPECT_TRUE(failure.options().is_permanent);
    }
}

}  // namespace
}  // namespace ebb
