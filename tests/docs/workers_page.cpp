// The C++ of docs/how-to/workers.md, compiled and called.

#include <csignal>

#include <gtest/gtest.h>

#include <ebb/ebb.h>

namespace {

using namespace std::chrono_literals;

//! [drain]
/// Runs handlers until SIGTERM. The signal must be blocked (pthread_sigmask) in the main thread
/// before any other thread is made.
bool serve(ebb::Store& store, const ebb::HandlerRegistry& handlers) {
    ebb::Engine engine(store, handlers);
    engine.run();

    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    int signal = 0;
    sigwait(&signals, &signal);

    return engine.drain(60s);  // true: everything finished in time
}

//! [drain]

TEST(WorkersPage, a_program_drains_at_sigterm) {
    sigset_t signals;
    sigset_t before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    raise(SIGTERM);
    const ebb::StorePtr store = ebb::open_memory_store();
    EXPECT_TRUE(serve(*store, ebb::HandlerRegistry{}));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
