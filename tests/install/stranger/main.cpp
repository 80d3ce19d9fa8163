// A user's program, compiled against an installed Ebb: what it includes and links is all there is.
// The trip between the markers is the example of the README.

#include <cstdio>
#include <string>

#include <ebb/definition.h>
#include <ebb/engine.h>
#include <ebb/error.h>
#include <ebb/handler.h>
#include <ebb/store.h>

namespace {

//! [trip]
ebb::Definition trip() {
    ebb::Step hotel{.handler = "book_hotel"};
    hotel.compensate = ebb::Compensation{.handler = "cancel_hotel"};
    ebb::Step flight{.handler = "book_flight"};
    return {
        .name = "trip",
        .steps = {{.name = "hotel", .kind = hotel}, {.name = "flight", .kind = flight}},
    };
}

std::string travel(ebb::Store& store, std::string& log) {
    ebb::HandlerRegistry handlers;
    handlers.add("book_hotel", [&](const ebb::Payload&, const ebb::StepContext&) -> ebb::Payload {
        log += "hotel booked, ";
        return R"({"room": 7})";
    });
    handlers.add("cancel_hotel", [&](const ebb::Payload&, const ebb::StepContext&) -> ebb::Payload {
        log += "hotel cancelled";
        return "null";
    });
    handlers.add("book_flight", [&](const ebb::Payload&, const ebb::StepContext&) -> ebb::Payload {
        log += "no flight, ";
        throw ebb::PermanentError("sold out");
    });

    ebb::Engine engine(store, handlers);
    engine.register_workflow(trip());
    const auto instance = engine.start("trip", R"({"to": "Lisbon"})", {.key = "order-1"});
    return engine.wait(instance.id).status;  // "failed", and the hotel is cancelled
}

//! [trip]

bool travels(ebb::Store& store) {
    std::string log;
    const std::string status = travel(store, log);
    std::printf("%s: %s\n", status.c_str(), log.c_str());
    return status == "failed" && log == "hotel booked, no flight, hotel cancelled";
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 1;
    if (!travels(*ebb::open_memory_store())) return 2;
    const std::string folder = argv[1];
#ifdef WITH_SQLITE
    const std::string path = folder + "/stranger.db";
    std::remove(path.c_str());
    if (!travels(*ebb::open_sqlite_store({.path = path}))) return 3;
#endif
    std::puts("stranger: done");
}
