// A worker of the travel agency in C++: it buys tickets, and refunds them when a journey is
// cancelled.
//
//   airline postgresql://...      works until SIGTERM
//
// It is a whole process of Ebb: it also decides what the outcomes of the workers in SQL mean, and
// watches over timers and dead workers.
//
// With an installed Ebb (see ../README.md for CMake):
//
//   c++ -std=c++20 airline.cpp -o airline $(pkg-config --cflags --libs ebb-postgres)
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>

#include <ebb/ebb.h>

namespace {

//! [types]
/// What a handler reads of the journey: the attributes that it names.
struct Journey {
    std::string customer;
};
EBB_FIELDS(Journey, customer)

/// What it writes to the journey.
struct Ticket {
    std::string air_ticket_status;
    std::string air_ticket_id;
};
EBB_FIELDS(Ticket, air_ticket_status, air_ticket_id)

//! [types]

//! [handlers]
void add_handlers(ebb::HandlerRegistry& handlers) {
    handlers.add("air", [](const Journey& journey) {
        const std::string ticket = "LH-" + journey.customer;
        std::printf("   C++: bought the ticket %s\n", ticket.c_str());
        return Ticket{.air_ticket_status = "Purchased", .air_ticket_id = ticket};
    });
    // A transition that failed is compensated, too: it has no output.
    handlers.add("refund_ticket", [](const ebb::Compensated<Journey, Ticket>& undone) {
        if (!undone.output) return;
        std::printf("   C++: refunded the ticket %s\n", undone.output->air_ticket_id.c_str());
    });
}

//! [handlers]

/// SIGTERM must be blocked in this thread, before any other thread is made.
void wait_for(int signal) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, signal);
    sigwait(&signals, &signal);
}

void serve(const char* url) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);

    ebb::HandlerRegistry handlers;
    add_handlers(handlers);
    const ebb::StorePtr store = ebb::open_postgres_store({.url = url});
    ebb::Engine engine(
        *store, handlers, {.worker_id = "airline", .lease = std::chrono::seconds(2)}
    );
    engine.run();
    wait_for(SIGTERM);
    engine.drain(std::chrono::seconds(10));
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: airline postgresql://...\n");
        return 2;
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // each line is seen at once, also in a pipe
    try {
        serve(arguments[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "airline: %s\n", error.what());
        return 1;
    }
    return 0;
}
