#pragma once

#include <atomic>
#include <cstdint>

namespace ebb::engine {

/// Numbers the heartbeats, and counts the claims and starts that may bring tasks. Together they say
/// which of the tasks that the store leases to this worker can be unknown here. Thread-safe.
class Acquisitions {
 public:
    /// Heartbeats get rising numbers when they are sent.
    std::uint64_t next_heartbeat() { return ++heartbeats_; }

    std::uint64_t last_heartbeat() const { return heartbeats_; }

    void begin() { ++under_way_; }

    void end() { --under_way_; }

    bool are_under_way() const { return under_way_ > 0; }

 private:
    std::atomic<std::uint64_t> heartbeats_{0};
    std::atomic<int> under_way_{0};
};

}  // namespace ebb::engine
