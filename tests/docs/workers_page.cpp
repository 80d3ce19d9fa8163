// The C++ of docs/how-to/workers.md, compiled and called.

#include <csignal>
#include <future>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <ebb/ebb.h>

namespace {

using namespace std::chrono_literals;

//! [drain]
/// Runs handlers until SIGTERM, or until another process has taken this worker's name. The signal
/// must be blocked (pthread_sigmask) in the main thread before any other thread is made.
bool serve(ebb::Store& store, const ebb::HandlerRegistry& handlers, const std::string& name) {
    const auto log = ebb::make_stderr_log();  // without a log, Ebb is silent
    ebb::Engine engine(store, handlers, {.worker_id = name, .log = log.get()});
    engine.run();

    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    const timespec second{.tv_sec = 1, .tv_nsec = 0};
    while (!engine.is_displaced() && sigtimedwait(&signals, nullptr, &second) < 0) {
    }

    const bool is_clean = engine.drain(60s);  // true: everything finished in time
    return is_clean && !engine.is_displaced();
}

//! [drain]

/// SIGTERM waits until it is asked for.
class WorkersPage : public ::testing::Test {
 protected:
    WorkersPage() {
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &signals, &before_);
    }

    ~WorkersPage() override { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

    const ebb::StorePtr store_ = ebb::open_memory_store();
    const ebb::HandlerRegistry handlers_;

 private:
    sigset_t before_{};
};

TEST_F(WorkersPage, a_program_drains_at_sigterm) {
    raise(SIGTERM);
    EXPECT_TRUE(serve(*store_, handlers_, "shop-1"));
}

TEST_F(WorkersPage, a_program_ends_if_another_one_has_its_name) {
    auto first =
        std::async(std::launch::async, [this] { return serve(*store_, handlers_, "shop-1"); });
    ebb::Engine watcher(*store_, handlers_);
    while (watcher.workers().empty()) std::this_thread::yield();
    ebb::Engine second(*store_, handlers_, {.worker_id = "shop-1"});
    second.run();
    EXPECT_FALSE(first.get());
    EXPECT_FALSE(second.is_displaced());
}

}  // namespace
