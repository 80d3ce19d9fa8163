#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/store.h"

namespace ebb::memory {

struct Task {
    TaskRef ref;
    std::string handler;
    std::string queue;
    TimePoint due{};
    std::int64_t rank = 0;
    bool is_due = false;  ///< set by put and promote, so a task is due to all workers at once
    bool is_parked = false;
    bool is_stop = false;
    bool was_lost = false;
    std::string lost_by;
    std::string outcome;  ///< handed in for its attempt
    std::string lease_owner;
    std::string concurrency_key;
    bool took_slot = false;  ///< when it was leased last

    bool is_claimable() const { return is_due && !is_parked && lease_owner.empty(); }

    /// A stop that no worker holds is the engine's to finish.
    void lose_lease() {
        if (handler != kEngineHandler) {
            was_lost = true;
            lost_by = lease_owner;
        }
        end_lease();
    }

    void end_lease() {
        lease_owner.clear();
        if (is_stop) handler = kEngineHandler;
    }

    bool has_slot() const { return took_slot && !lease_owner.empty(); }

    bool is_sleeping() const { return !is_due && !is_parked && lease_owner.empty(); }
};

/// How many more tasks of a queue may start now.
struct Room {
    std::string queue;
    std::int64_t tasks = 0;
    std::optional<std::int64_t> slots_per_key;
};

/// All tasks, with the orders in which they are looked for. Not thread-safe.
class TaskTable {
 public:
    void put(Task task);
    void remove(const TaskRef& ref);
    /// All of an instance that has ended.
    void remove_all_but_mail(const InstanceId& instance);
    const Task* find(const TaskRef& ref) const;

    /// Applies `change(Task&)` to the task, if it exists, and keeps the orders right.
    template <class Change>
    bool update(const TaskRef& ref, Change change) {
        const auto found = tasks_.find(ref);
        if (found == tasks_.end()) return false;
        unindex(found->second);
        change(found->second);
        index(found->second);
        return true;
    }

    /// Makes due what has become due by `now`.
    void promote(TimePoint now);
    /// When the first sleeping task becomes due.
    TimePoint next_due() const;

    /// The claimable tasks that `request` may have, the smallest rank first.
    std::vector<TaskRef> claimable(const ClaimRequest& request) const;
    /// The same in queues with limits, as far as there is room.
    std::vector<TaskRef> claimable_within(
        const ClaimRequest& request, const std::vector<Room>& rooms
    ) const;
    /// Does the queue have a claimable task of one of the handlers (of `request.instance`)?
    bool has_claimable(const ClaimRequest& request, const std::string& queue) const;
    std::int64_t slots(const std::string& queue) const;
    std::int64_t slots(const std::string& queue, const std::string& concurrency_key) const;
    /// What runs, waits and sleeps, by queue.
    std::map<std::string, QueueView> counts() const;
    std::vector<TaskRef> held_by(std::string_view worker) const;
    std::vector<std::string> lease_owners() const;
    std::vector<Task> of(const InstanceId& instance) const;
    /// How many claimable tasks there are, by handler and queue.
    std::vector<Store::Unserved> waiting() const;

 private:
    using Key = std::pair<std::int64_t, TaskRef>;
    using Lane = std::set<Key>;

    void index(const Task& task);
    void unindex(const Task& task);
    std::vector<TaskRef> claimable_of_instance(const ClaimRequest& request) const;
    std::vector<const Lane*> lanes_of(const ClaimRequest& request) const;
    void gather_of_instance(
        const ClaimRequest& request, const std::string& queue, std::vector<Key>& keys
    ) const;
    void gather(
        const std::string& handler, const Room& room, std::int64_t limit, std::vector<Key>& keys
    ) const;

    std::map<TaskRef, Task> tasks_;
    std::map<std::string, std::map<std::string, Lane>> ready_;  // by handler, then by queue
    /// Those with a concurrency_key, by handler and queue, then by key.
    std::map<std::pair<std::string, std::string>, std::map<std::string, Lane>> keyed_;
    std::map<std::string, std::map<std::string, std::int64_t>> slots_;  // by queue, then by key
    Lane stops_;
    std::set<std::pair<TimePoint, TaskRef>> sleeping_;
    std::map<std::string, std::set<TaskRef>, std::less<>> leases_;
};

}  // namespace ebb::memory
