#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <ebb/clock.h>
#include <ebb/engine.h>

#include "server/http/http.h"
#include "server/live/feed.h"
#include "support/sync.h"

namespace ebb::server {

/// The changes that concern a watcher.
struct Interest {
    std::vector<InstanceId> instances{};
    bool only_ends = false;  ///< of these instances
    bool in_all = false;     ///< also in any other instance, but not at once
};

/// Something that wants to know when instances change.
class Watcher {
 public:
    virtual ~Watcher() = default;

    /// Is asked once.
    virtual Interest interest() const = 0;
    /// Its turn, in the hub's thread: may read from the store, best through `feed`. False: it is
    /// done.
    virtual bool turn(TimePoint now, Feed& feed) = 0;

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

    /// From the engine's observer, in the committing thread. Its cost does not depend on the number
    /// of watchers, and is hardly anything if there are none.
    void note(const InstanceSummary& instance);

    void add(std::shared_ptr<Watcher> watcher);

    /// Calls `done` once, in any thread: when the instance has ended, or after `limit`.
    void wait(const InstanceId& id, Duration limit, std::function<void(const Result&)> done);

    /// Ends all waits and streams now, and those to come at once.
    void drain();
    bool is_draining() const;

    std::size_t watchers() const { return count_; }

 private:
    /// An instance that has watchers.
    struct Watched {
        InstanceId id{};
        std::size_t watchers = 0;
        std::size_t of_changes = 0;  ///< those that not only wait for its end
        bool has_changed = false;
        bool has_ended = false;
    };

    struct Entry {
        std::shared_ptr<Watcher> watcher;
        Interest interest;
        std::vector<Watched*> watched;
        SteadyPoint next_turn{};
        bool is_wanted = true;
    };

    void run();
    /// Those whose turn it is. `has_changed`: what concerns all instances is due.
    std::vector<std::shared_ptr<Watcher>> take_due(SteadyPoint now, bool has_changed)
        EBB_REQUIRES(mutex_);
    /// Which instances have ended. The news is then forgotten.
    std::unordered_set<InstanceId> take_ended() EBB_REQUIRES(mutex_);
    bool take_change(SteadyPoint now) EBB_REQUIRES(mutex_);
    void remove(std::vector<std::shared_ptr<Watcher>> done) EBB_REQUIRES(mutex_);
    void forget(const Entry& entry) EBB_REQUIRES(mutex_);

    Store& store_;
    Engine& reader_;
    const Clock& clock_;
    Feed feed_;  ///< of the thread
    std::atomic<std::size_t> count_{0};
    mutable Mutex mutex_;
    CondVar changed_;
    std::vector<Entry> entries_ EBB_GUARDED_BY(mutex_);
    std::unordered_map<InstanceId, Watched> watched_ EBB_GUARDED_BY(mutex_);
    std::vector<Watched*> news_ EBB_GUARDED_BY(mutex_);  ///< those that have changed
    std::size_t in_all_ EBB_GUARDED_BY(mutex_) = 0;      ///< watchers of all instances
    bool has_any_changed_ EBB_GUARDED_BY(mutex_) = false;
    SteadyPoint next_change_ EBB_GUARDED_BY(mutex_){};
    bool is_woken_ EBB_GUARDED_BY(mutex_) = false;
    bool is_draining_ EBB_GUARDED_BY(mutex_) = false;
    bool is_stopped_ EBB_GUARDED_BY(mutex_) = false;
    std::jthread thread_;
};

}  // namespace ebb::server
