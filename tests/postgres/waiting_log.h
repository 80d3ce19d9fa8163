#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include <ebb/log.h>

namespace ebb::testing {

/// Counts events by name, and lets a test wait for one.
class WaitingLog final : public LogSink {
 public:
    bool is_enabled(LogLevel /*level*/) const noexcept override { return true; }

    void write(
        LogLevel /*level*/, std::string_view event, std::span<const LogField> /*fields*/
    ) noexcept override {
        const std::lock_guard lock(mutex_);
        ++counts_[std::string(event)];
        changed_.notify_all();
    }

    /// False when it does not happen within a minute.
    bool wait_for(const std::string& event, int times = 1) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::minutes(1), [&] {
            return counts_[event] >= times;
        });
    }

    int count(const std::string& event) {
        const std::lock_guard lock(mutex_);
        return counts_[event];
    }

 private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, int> counts_;
};

}  // namespace ebb::testing
