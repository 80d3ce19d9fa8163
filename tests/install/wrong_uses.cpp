// Each case is a mistake that a user makes. wrong_uses.py compiles one after the other and compares
// what the compiler says with the comment of the case: exactly one static_assert, with the cure.

#if CASE != 8
#include <nlohmann/json.hpp>
#endif

#include <memory>
#include <string>
#include <string_view>

#include <ebb/ebb.h>

struct Plain {
    int value = 0;
};

struct Bank {
    int charge(int cents) { return cents; }
};

void add(ebb::HandlerRegistry& handlers, ebb::Engine& engine) {
    (void)handlers;
    (void)engine;
#if CASE == 1
    // put several inputs into one struct
    handlers.add("pay", [](int cents, const std::string& currency) {
        return currency.size() + 1U;
    });
#elif CASE == 2
    // name the type, as in handlers.add<Order>(name, callable)
    handlers.add("pay", [](const auto& order) { return order.cents; });
#elif CASE == 3
    // must own its data: take std::string in place of std::string_view
    handlers.add("pay", [](std::string_view text) { return text.size(); });
#elif CASE == 4
    // Ebb cannot read the handler's input from JSON
    handlers.add("pay", [](const Plain& plain) { return plain.value; });
#elif CASE == 5
    // Ebb cannot write the handler's result as JSON
    handlers.add("pay", [](int cents) { return Plain{cents}; });
#elif CASE == 6
    // A member function needs an object
    handlers.add("pay", &Bank::charge);
#elif CASE == 7
    // takes the context as const ebb::StepContext&
    handlers.add("pay", [](int cents, ebb::StepContext& context) { return context.attempt; });
#elif CASE == 8
    // or include <nlohmann/json.hpp> if nlohmann/json converts it
    handlers.add("pay", [](const Plain& plain) { return plain.value; });
#elif CASE == 9
    // is added by add_transactional, all others by add
    handlers.add("pay", [](int cents, const ebb::Transaction&) { return cents; });
#elif CASE == 10
    // is added by add_transactional, all others by add
    handlers.add_transactional("pay", [](int cents) { return cents; });
#elif CASE == 11
    // An asynchronous handler returns nothing
    handlers.add("pay", [](int cents, ebb::Completion<int>) { return cents; });
#elif CASE == 12
    // A transactional handler cannot be asynchronous
    handlers.add_transactional("pay", [](ebb::Completion<int>, const ebb::Transaction&) {});
#elif CASE == 13
    // cannot be called with the input type that was named for it
    handlers.add<std::string>("pay", [](int cents) { return cents; });
#elif CASE == 14
    // pass ebb::Payload::of(text) for a JSON string, or ebb::Payload::text(json) for JSON text
    engine.start("order", std::string("{}"));
#elif CASE == 15
    // pass ebb::Payload::of(text) for a JSON string, or ebb::Payload::text(json) for JSON text
    engine.start("order", "{}");
#elif CASE == 16
    // pass ebb::Payload::of(text) for a JSON string, or ebb::Payload::text(json) for JSON text
    engine.signal({}, "paid", "{}");
#elif CASE == 17
    // Ebb cannot write this type as JSON
    engine.start("order", Plain{1});
#endif
}
