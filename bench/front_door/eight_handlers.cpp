// What a user's source with eight typed handlers looks like: bench/front_door.py compiles it as a
// user does, without a precompiled header.

#include <optional>
#include <string>
#include <vector>

#include <ebb/ebb.h>

struct Order {
    std::string customer;
    int cents = 0;
    std::vector<std::string> items;
};
EBB_FIELDS(Order, customer, cents, items)

struct Receipt {
    std::string id;
    int cents = 0;
};
EBB_FIELDS(Receipt, id, cents)

Receipt charge(const Order& order) {
    return {"r", order.cents};
}

struct Shop {
    Receipt refund(const Receipt& receipt) { return receipt; }
};

int main() {
    const ebb::StorePtr store = ebb::open_memory_store();
    ebb::HandlerRegistry handlers;
    Shop shop;
    handlers.add("reserve", [](const Order& order) { return order; });
    handlers.add("charge", charge);
    handlers.add("refund", &Shop::refund, &shop);
    handlers.add("ship", [](const Order& order, const ebb::StepContext& context) {
        return order.customer + context.step;
    });
    handlers.add("count", [](const std::vector<int>& all) { return static_cast<int>(all.size()); });
    handlers.add("nothing", [] {});
    handlers.add("maybe", [](int cents) -> std::optional<Receipt> {
        if (cents > 0) return Receipt{"r", cents};
        return std::nullopt;
    });
    handlers.add("later", [](const Receipt& receipt, const ebb::Completion<Receipt>& done) {
        done.complete(receipt);
    });
    ebb::Engine engine(*store, handlers);
    engine.start("order", Order{});
}
