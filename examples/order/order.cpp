// An order as a saga, embedded in a shop's own program: reserve stock, charge, ship; each step has
// its compensation.
//
//   order DIR start CUSTOMER ITEM QUANTITY CENTS   starts an order and prints its id
//   order DIR work [PACE_MS]                       runs orders until none is left
//                                                  (each action takes PACE_MS)
//   order DIR report                               prints the shop's database
//
// With an installed Ebb (see ../README.md for CMake):
//
//   c++ -std=c++20 order.cpp shop.cpp -o order $(pkg-config --cflags --libs ebb-sqlite sqlite3)
//
// DIR holds two SQLite files: shop.db (the user's data) and ebb.db (the workflows). Kill `work`
// with SIGKILL whenever you like and start it again: every order ends, and nothing is charged
// twice.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>

#include <ebb/ebb.h>

#include "shop.h"

namespace {

//! [types]
struct Order {
    std::string customer;
    std::string item;
    std::int64_t quantity = 0;
    std::int64_t cents = 0;
};
EBB_FIELDS(Order, customer, item, quantity, cents)

//! [types]

/// A real service would take its time; this one can be asked to stop while it does.
void take_time(std::chrono::milliseconds pace, const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait_for(lock, stop, pace, [] { return false; });
}

//! [handlers]
void add_handlers(ebb::HandlerRegistry& handlers, Shop& shop, std::chrono::milliseconds pace) {
    handlers.add("reserve", [&shop, pace](const Order& order, const ebb::StepContext& context) {
        take_time(pace, context.stop);
        try {
            shop.reserve(context.idempotency_key, {order.item, order.quantity});
        } catch (const Shop::OutOfStock& error) {
            throw ebb::PermanentError("not enough in stock: " + error.item, "out_of_stock");
        }
    });
    handlers.add("charge", [&shop, pace](const Order& order, const ebb::StepContext& context) {
        take_time(pace, context.stop);
        shop.charge(context.idempotency_key, order.customer, order.cents);
    });
    handlers.add("ship", [&shop, pace](const Order& order, const ebb::StepContext& context) {
        take_time(pace, context.stop);
        if (order.customer == "nowhere")
            throw ebb::PermanentError("there is no such address", "no_address");
        shop.ship(context.idempotency_key, order.customer, order.item);
    });
    // A compensation undoes what its step did under the step's own key.
    handlers.add("release", [&shop, pace](const ebb::StepContext& context) {
        take_time(pace, context.stop);
        shop.release(context.compensates->idempotency_key);
    });
    handlers.add("refund", [&shop, pace](const ebb::StepContext& context) {
        take_time(pace, context.stop);
        shop.refund(context.compensates->idempotency_key);
    });
    handlers.add("recall", [&shop, pace](const ebb::StepContext& context) {
        take_time(pace, context.stop);
        shop.recall(context.compensates->idempotency_key);
    });
}

//! [handlers]

//! [workflow]
ebb::Definition order_workflow() {
    return ebb::WorkflowBuilder("order", 1)
        .step("reserve")
        .compensate("release")
        .step("charge")
        .compensate("refund")
        .step("ship")
        .compensate("recall")
        .build();
}

//! [workflow]

int start(ebb::Engine& engine, std::span<char*> arguments) {
    const Order order{
        arguments[0], arguments[1], std::atoll(arguments[2]), std::atoll(arguments[3])
    };
    const auto started = engine.start("order", order);
    std::printf("%s\n", started.id.to_string().c_str());
    return 0;
}

/// Until it has ended, or needs an operator.
void follow(ebb::Engine& engine, const ebb::InstanceId& id) {
    ebb::Result result;
    do result = engine.wait(id, std::chrono::milliseconds(200));
    while (!result.is_finished && result.status != ebb::InstanceStatus::DeadLetter);
}

int work(ebb::Engine& engine) {
    engine.run();
    for (const auto& instance :
         engine.list({.statuses = {ebb::InstanceStatus::Running, ebb::InstanceStatus::Compensating}}
         )) {
        follow(engine, instance.id);
    }
    return engine.drain(std::chrono::seconds(5)) ? 0 : 1;
}

int run(std::span<char*> arguments) {
    const std::filesystem::path directory = arguments[1];
    const std::string command = arguments[2];
    std::filesystem::create_directories(directory);
    Shop shop(directory / "shop.db");
    if (command == "report") return std::puts(shop.report().c_str()) < 0 ? 1 : 0;

    const auto pace = std::chrono::milliseconds(arguments.size() > 3 ? std::atoi(arguments[3]) : 0);
    ebb::HandlerRegistry handlers;
    add_handlers(handlers, shop, pace);
    const ebb::StorePtr store = ebb::open_sqlite_store({.path = directory / "ebb.db"});
    ebb::Engine engine(*store, handlers, {.lease = std::chrono::seconds(2)});
    engine.register_workflow(order_workflow());
    if (command == "start" && arguments.size() == 7) return start(engine, arguments.subspan(3));
    if (command == "work") return work(engine);
    std::fprintf(
        stderr, "usage: order DIR start CUSTOMER ITEM QUANTITY CENTS | work [PACE_MS] | report\n"
    );
    return 2;
}

}  // namespace

int main(int count, char** values) {
    const std::span arguments(values, static_cast<std::size_t>(count));
    if (arguments.size() < 3) {
        std::fprintf(
            stderr,
            "usage: order DIR start CUSTOMER ITEM QUANTITY CENTS | work [PACE_MS] | report\n"
        );
        return 2;
    }
    try {
        return run(arguments);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "order: %s\n", error.what());
        return 1;
    }
}
