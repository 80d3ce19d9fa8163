#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include <ebb/time.h>

#include "support/sync.h"

namespace ebb::engine {

/// Something that can be woken before its time.
class Alarm {
 public:
    /// Ends the present wait, or else the next one, at once.
    void ring();

    /// Also called with each ring, for a thread that waits elsewhere. Set once, before any thread.
    void set_echo(std::function<void()> echo) { echo_ = std::move(echo); }

    /// Waits until it rings, at most `limit`.
    void wait(Duration limit);

 private:
    std::function<void()> echo_;
    Mutex mutex_;
    CondVar rung_changed_;
    bool is_rung_ EBB_GUARDED_BY(mutex_) = false;
};

/// A part of the engine that does its due work on request, in any thread. The runner
/// gives each service a thread; `poll` calls them all in the caller's.
class Service {
 public:
    Service() = default;
    virtual ~Service() = default;
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    /// For logs.
    virtual std::string_view name() const = 0;

    /// Does what is due at `now`; returns when it wants to be called again (kSteadyNever: when its
    /// alarm rings). Not called by two threads at once.
    virtual SteadyPoint tick(SteadyPoint now) = 0;

    Alarm& alarm() { return alarm_; }

 private:
    Alarm alarm_;
};

}  // namespace ebb::engine
