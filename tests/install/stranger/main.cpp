// A user's program, compiled against an installed Ebb: what it includes and links is all there is.
// The trip between the markers is the example of the README.

#include <cstdio>
#include <iostream>
#include <string>

#include <ebb/ebb.h>

namespace {

using namespace std::chrono_literals;

//! [trip]
ebb::Definition trip() {
    return ebb::WorkflowBuilder("trip")
        .step("book_hotel")
        .compensate("cancel_hotel")
        .step("book_flight")
        .max_attempts(5)
        .timeout(10s)
        .build();
}

ebb::InstanceStatus travel(ebb::Store& store, std::string& log) {
    ebb::HandlerRegistry handlers;
    handlers.add("book_hotel", [&](const std::string& city) {
        log += "hotel in " + city + " booked, ";
        return 7;  // the room
    });
    handlers.add("cancel_hotel", [&] { log += "hotel cancelled"; });
    handlers.add("book_flight", [&](int) {
        log += "no flight, ";
        throw ebb::PermanentError("sold out");
    });

    ebb::Engine engine(store, handlers);
    engine.register_workflow(trip());
    const auto instance = engine.start("trip", ebb::Payload::of("Lisbon"), {.key = "order-1"});
    return engine.wait(instance.id).status;  // Failed, and the hotel is cancelled
}

//! [trip]

bool travels(ebb::Store& store) {
    std::string log;
    const ebb::InstanceStatus status = travel(store, log);
    std::cout << status << ": " << log << '\n';
    return status == ebb::InstanceStatus::Failed &&
           log == "hotel in Lisbon booked, no flight, hotel cancelled";
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
#ifdef WITH_DIAGRAM
    const std::string picture = ebb::to_mermaid(trip());
    if (picture.find("book_flight") == std::string::npos) return 4;
#endif
    std::cout << "stranger: done\n";
}
