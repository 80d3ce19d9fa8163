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
             .writes = {{.attribute = "room"}}}
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
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Stay, guest, nights)

void add_hotel_handlers(ebb::HandlerRegistry& handlers) {
    handlers.add("reserve_room", [](const Stay& stay) {
        return ebb::Json{{"room", stay.nights > 7 ? 301 : 12}};
    });
    handlers.add("charge", [] { return ebb::Json{{"is_paid", true}}; });
    handlers.add("free_room", [] {});
}

//! [builder]

//! [write]
ebb::InstanceId book(ebb::Engine& engine) {
    engine.register_workflow(hotel_workflow());
    const ebb::InstanceId id = engine.start("hotel", Stay{.guest = "ann", .nights = 2}).id;
    engine.write(id, ebb::Json{{"nights", 14}}, {.by = "ann", .request_id = "longer"});
    return id;
}

//! [write]

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
