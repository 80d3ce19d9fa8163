// The C++ of docs/how-to/rules.md, compiled and called.

#include <gtest/gtest.h>

#include <ebb/ebb.h>

namespace {

//! [builder]
ebb::Definition hotel_workflow() {
    using enum ebb::AttributeType;
    return ebb::RulesBuilder("hotel")
        .attribute("guest", Text)
        .attribute("nights", Integer, {.initial = "1", .is_external = true})
        .attribute("room", Integer)
        .attribute("is_paid", Boolean, {.initial = "false"})
        .trigger(
            "reserve",
            "guest is not null and room is null",
            {.step = {.handler = "reserve_room", .compensate = "free_room"},
             .writes = {{{.attribute = "room"}}}}
        )
        .trigger("charge", "room is not null and not is_paid")
        .final_condition("booked", "is_paid")
        .invariant("nights", "nights between 1 and 28")
        .build();
}

struct Stay {
    std::string guest;
    int nights = 0;
};
EBB_FIELDS(Stay, guest, nights)

struct Room {
    int room = 0;
};
EBB_FIELDS(Room, room)

struct Payment {
    bool is_paid = false;
};
EBB_FIELDS(Payment, is_paid)

void add_hotel_handlers(ebb::HandlerRegistry& handlers) {
    handlers.add("reserve_room", [](const Stay& stay) {
        return Room{.room = stay.nights > 7 ? 301 : 12};
    });
    handlers.add("charge", [] { return Payment{.is_paid = true}; });
    handlers.add("free_room", [] {});
}

//! [builder]

//! [write]
struct Change {
    int nights = 0;
};
EBB_FIELDS(Change, nights)

ebb::InstanceId book(ebb::Engine& engine) {
    engine.register_workflow(hotel_workflow());
    const ebb::InstanceId id = engine.start("hotel", Stay{.guest = "ann", .nights = 2}).id;
    engine.write(id, Change{.nights = 14}, {.by = "ann", .request_id = "longer"});
    return id;
}

//! [write]

//! [write_in]
/// The caller ends the transaction, and then calls `engine.wake_workers()`.
void note_payment(ebb::Engine& engine, sqlite3* database, const ebb::InstanceId& stay) {
    engine.write_in(
        ebb::Transaction(database), stay, ebb::Json{{"nights", 3}}, {.by = "the cash desk"}
    );
}

//! [write_in]

TEST(RulesPage, a_store_without_transactions_has_none_to_share) {
    const ebb::StorePtr store = ebb::open_memory_store();
    const ebb::HandlerRegistry nobody;
    ebb::Engine engine(*store, nobody);
    EXPECT_THROW(note_payment(engine, nullptr, book(engine)), ebb::Error);
}

TEST(RulesPage, books_a_room) {
    const ebb::StorePtr store = ebb::open_memory_store();
    ebb::HandlerRegistry handlers;
    add_hotel_handlers(handlers);
    ebb::Engine engine(*store, handlers);
    const ebb::InstanceId id = book(engine);
    engine.poll();
    const ebb::InstanceView view = engine.show(id);
    EXPECT_EQ(view.summary.status, ebb::InstanceStatus::Completed);
    EXPECT_EQ(view.output, R"({"guest":"ann","nights":14,"room":12,"is_paid":true})");
}

}  // namespace
