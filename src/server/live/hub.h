#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <ebb/clock.h>
#include <ebb/engine.h>

#include "server/http/http.h"
#include "support/sync.h"

namespace ebb::server {

/// Something that wants to know when instances change.
class Watcher {
 public:
    virtual ~Watcher() = default;

    /// The instance has changed in this process; called from the committing thread: must only take
    /// a note. True if the watcher wants its turn now.
    virtual bool note(const InstanceSummary& instance) = 0;
    /// Its turn, in the hub's thread: may read from the store. False: it is done.
    virtual bool turn(TimePoint now) = 0;

    /// It wants a turn then, whatever happens.
    virtual TimePoint until() const { return kNever; }

    /// The server shuts down.
    virtual void drain() = 0;
};

/// Waits for changes on behalf of many requests: no request costs a thread while it waits.
/// Thread-safe.
class Hub {
 public:
    /// How often a watcher gets its turn if nothing is heard: other processes change instances,
    /// too.
    static constexpr Duration kTurn = std::chrono::seconds(1);

    Hub(Store& store, Engine& reader, const Clock& clock);
    ~Hub();
    Hub(const Hub&) = delete;
    Hub& operator=(const Hub&) = delete;

    /// From the engine's observer.
    void note(const InstanceSummary& instance);

    void add(std::shared_ptr<Watcher> watcher);

    /// Calls `done` once, in any thread: when the instance has ended, or after `limit`.
    void wait(const InstanceId& id, Duration limit, std::function<void(const Result&)> done);

    /// Ends all waits and streams now, and those to come at once.
    void drain();
    bool is_draining() const;
    std::size_t watchers() const;

 private:
    struct Entry {
        std::shared_ptr<Watcher> watcher;
        SteadyPoint next_turn{};
        bool is_wanted = true;
    };

    void run(const std::stop_token& stop);

    Store& store_;
    Engine& reader_;
    const Clock& clock_;
    mutable Mutex mutex_;
    CondVar changed_;
    std::vector<Entry> entries_ EBB_GUARDED_BY(mutex_);
    bool is_woken_ EBB_GUARDED_BY(mutex_) = false;
    bool is_draining_ EBB_GUARDED_BY(mutex_) = false;
    bool is_stopped_ EBB_GUARDED_BY(mutex_) = false;
    std::jthread thread_;
};

}  // namespace ebb::server
