#pragma once

#include <atomic>
#include <exception>
#include <stop_token>
#include <thread>

#include <ebb/engine.h>

#include "cli/interrupts.h"

namespace ebb::cli {

/// A graceful end in the background, so that the user can still be shown progress and be heard.
/// `engine` and `interrupts` must outlive it; `interrupts` rings when it is over.
class Draining {
 public:
    Draining(Engine& engine, Interrupts& interrupts, Duration limit)
        : thread_([this, &engine, &interrupts, limit](const std::stop_token&) {
              try {
                  is_clean_ = engine.drain(limit, hurry_.get_token());
              } catch (...) {
                  failure_ = std::current_exception();
              }
              is_over_ = true;
              interrupts.notify();
          }) {}

    /// Ends the limit now: handlers that are still running are asked to stop.
    void hurry() { hurry_.request_stop(); }

    bool is_over() const { return is_over_; }

    /// Waits for the end. True when everything finished in time. Throws what the engine threw.
    bool finish() {
        if (thread_.joinable()) thread_.join();
        if (failure_) std::rethrow_exception(failure_);
        return is_clean_;
    }

 private:
    std::stop_source hurry_;
    std::atomic<bool> is_over_{false};
    bool is_clean_ = false;
    std::exception_ptr failure_;
    std::jthread thread_;  // last: it uses all of the above
};

}  // namespace ebb::cli
