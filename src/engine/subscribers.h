#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ebb/clock.h>
#include <ebb/time.h>

#include "core/kernel/history.h"
#include "store/subscription.h"
#include "support/sync.h"

namespace ebb {
struct InstanceRow;
class Store;
}  // namespace ebb

namespace ebb::engine {

/// The subscriptions, as far as this engine knows: a worker from its last heartbeat, an engine that
/// only starts and steers from a look of its own. Thread-safe; costs a worker nothing where there
/// are none.
class Subscribers {
 public:
    /// How long an engine without heartbeats goes by one look.
    static constexpr Duration kKnownFor = std::chrono::seconds(5);

    /// Reads them unless a look is fresh. Throws what the store throws.
    void look(Store& store, SteadyPoint now);

    /// Whether no subscription is enabled.
    bool is_empty() const { return is_empty_.load(std::memory_order_relaxed); }

    /// HeartbeatResult::subscriptions_mark when `set` was called last.
    std::string mark() const;
    void set(const std::vector<Subscription>& subscriptions, std::string mark);

    /// Adds a notice to `effects` for each event that a subscription is for. `row`: of the
    /// instance; `status`: after the commit. System workflows are not reported.
    void add_notices(
        const InstanceRow& row,
        InstanceStatus status,
        std::span<const HistoryEvent> events,
        Effects& effects
    );

    /// The same of decisions whose deadline has passed. `events`: the first of each that the
    /// deadline has led to.
    void add_overdue(
        const InstanceRow& row,
        InstanceStatus status,
        std::span<const HistoryEvent> events,
        Effects& effects
    );

    /// Whether one is for something that is about no instance.
    bool wants(std::string_view type) const;
    /// Its notices. `id` identifies the event: the same one is delivered once.
    std::vector<OutboxRow> notices_of(
        std::string_view type, const InstanceId& id, const std::string& data, TimePoint at
    ) const;

    /// The names of those that are enabled, and of those of them that are not suspended.
    std::vector<std::string> enabled() const;
    std::vector<std::string> active() const;

    /// Called after each commit that has written notices, and after each change of the
    /// subscriptions. Set once, before any thread.
    void set_echo(std::function<void()> echo) { echo_ = std::move(echo); }

    void note_written(const Effects& effects) const {
        if (!effects.notices.empty()) note_written();
    }

    void note_written() const {
        if (echo_) echo_();
    }

 private:
    struct Subscriber {
        std::string name;
        std::vector<std::string> events;
        std::vector<std::string> workflows;
        bool is_suspended = false;

        bool wants(std::string_view type, const std::string& workflow) const;
    };

    using Subscribed = std::shared_ptr<const std::vector<Subscriber>>;

    Subscribed subscribed() const;

    static constexpr Duration::rep kNever = std::numeric_limits<Duration::rep>::min();

    std::atomic<bool> is_empty_{true};
    std::atomic<Duration::rep> looked_at_{kNever};
    std::function<void()> echo_;
    mutable Mutex mutex_;
    std::string mark_ EBB_GUARDED_BY(mutex_);
    Subscribed subscribers_ EBB_GUARDED_BY(mutex_
    ) = std::make_shared<const std::vector<Subscriber>>();
};

}  // namespace ebb::engine
