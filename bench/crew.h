#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace ebb::bench {

/// The threads of a load. What one of them throws ends no process: `join` throws it. They look at
/// `is_over`, which is true from `end` on, or when this object goes.
class Crew {
 public:
    explicit Crew(std::atomic<bool>& is_over) : is_over_(is_over) {}

    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    ~Crew() {
        is_over_ = true;
        threads_.clear();
    }

    void add(std::function<void()> work) {
        threads_.emplace_back([this, work = std::move(work)] {
            try {
                work();
            } catch (...) {
                const std::lock_guard lock(mutex_);
                if (!trouble_) trouble_ = std::current_exception();
            }
        });
    }

    /// Waits until all have come to their end.
    void join() {
        threads_.clear();
        if (trouble_) std::rethrow_exception(trouble_);
    }

    void end() {
        is_over_ = true;
        join();
    }

 private:
    std::atomic<bool>& is_over_;
    std::mutex mutex_;
    std::exception_ptr trouble_;
    std::vector<std::jthread> threads_;
};

}  // namespace ebb::bench
