#include "store/memory/task_table.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace ebb::memory {

namespace {

constexpr TokenId kLowestToken = std::numeric_limits<TokenId>::min();

bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool may_claim(const ClaimRequest& request, const Task& task) {
    if (!task.is_claimable()) return false;
    if (request.stops_only) return task.is_stop;
    if (task.handler == kEngineHandler) return true;
    return contains(request.handlers, task.handler) &&
           !contains(request.limited_queues, task.queue) &&
           (request.queues.empty() || contains(request.queues, task.queue));
}

}  // namespace

void TaskTable::put(Task task) {
    const TaskRef ref = task.ref;
    remove(ref);
    index(tasks_.emplace(ref, std::move(task)).first->second);
}

void TaskTable::remove(const TaskRef& ref) {
    const auto found = tasks_.find(ref);
    if (found == tasks_.end()) return;
    unindex(found->second);
    tasks_.erase(found);
}

void TaskTable::remove_all_but_mail(const InstanceId& instance) {
    auto it = tasks_.lower_bound({instance, kMailTask + 1});
    while (it != tasks_.end() && it->first.instance == instance) {
        unindex(it->second);
        it = tasks_.erase(it);
    }
}

const Task* TaskTable::find(const TaskRef& ref) const {
    const auto found = tasks_.find(ref);
    return found == tasks_.end() ? nullptr : &found->second;
}

void TaskTable::promote(TimePoint now) {
    while (!sleeping_.empty() && sleeping_.begin()->first <= now) {
        const TaskRef ref = sleeping_.begin()->second;
        update(ref, [](Task& task) { task.is_due = true; });
    }
}

TimePoint TaskTable::next_due() const {
    return sleeping_.empty() ? kNever : sleeping_.begin()->first;
}

std::vector<TaskRef> TaskTable::claimable(const ClaimRequest& request) const {
    if (request.limit <= 0) return {};
    if (request.instance) return claimable_of_instance(request);

    using Cursor = std::pair<Lane::const_iterator, const Lane*>;
    const auto later = [](const Cursor& a, const Cursor& b) { return *a.first > *b.first; };
    std::priority_queue<Cursor, std::vector<Cursor>, decltype(later)> cursors(later);
    for (const Lane* lane : lanes_of(request)) {
        if (!lane->empty()) cursors.emplace(lane->begin(), lane);
    }
    std::vector<TaskRef> refs;
    while (!cursors.empty() && std::ssize(refs) < request.limit) {
        auto [at, lane] = cursors.top();
        cursors.pop();
        refs.push_back(at->second);
        if (++at != lane->end()) cursors.emplace(at, lane);
    }
    return refs;
}

std::vector<TaskRef> TaskTable::claimable_of_instance(const ClaimRequest& request) const {
    std::vector<Key> keys;
    for (auto it = tasks_.lower_bound({*request.instance, kLowestToken});
         it != tasks_.end() && it->first.instance == *request.instance;
         ++it) {
        if (may_claim(request, it->second)) keys.emplace_back(it->second.rank, it->first);
    }
    std::sort(keys.begin(), keys.end());
    std::vector<TaskRef> refs;
    for (const Key& key : keys) {
        if (std::ssize(refs) == request.limit) break;
        refs.push_back(key.second);
    }
    return refs;
}

std::vector<const TaskTable::Lane*> TaskTable::lanes_of(const ClaimRequest& request) const {
    if (request.stops_only) return {&stops_};
    std::set<std::string> handlers(request.handlers.begin(), request.handlers.end());
    handlers.insert(std::string(kEngineHandler));
    std::vector<const Lane*> lanes;
    for (const std::string& handler : handlers) {
        const auto found = ready_.find(handler);
        if (found == ready_.end()) continue;
        const bool any_queue = request.queues.empty() || handler == kEngineHandler;
        for (const auto& [queue, lane] : found->second) {
            const bool is_limited =
                handler != kEngineHandler && contains(request.limited_queues, queue);
            const bool is_wanted = any_queue || contains(request.queues, queue);
            if (is_wanted && !is_limited) lanes.push_back(&lane);
        }
    }
    return lanes;
}

void TaskTable::gather_of_instance(
    const ClaimRequest& request, const std::string& queue, std::vector<Key>& keys
) const {
    for (const Task& task : of(*request.instance)) {
        const bool is_asked =
            task.handler != kEngineHandler && contains(request.handlers, task.handler);
        if (is_asked && task.is_claimable() && task.queue == queue)
            keys.emplace_back(task.rank, task.ref);
    }
}

bool TaskTable::has_claimable(const ClaimRequest& request, const std::string& queue) const {
    if (request.instance) {
        std::vector<Key> keys;
        gather_of_instance(request, queue, keys);
        return !keys.empty();
    }
    const std::vector<std::string>& handlers = request.handlers;
    return std::any_of(handlers.begin(), handlers.end(), [&](const std::string& handler) {
        const auto found = ready_.find(handler);
        return handler != kEngineHandler && found != ready_.end() && found->second.contains(queue);
    });
}

std::int64_t TaskTable::slots(const std::string& queue) const {
    std::int64_t count = 0;
    if (const auto found = slots_.find(queue); found != slots_.end()) {
        for (const auto& [key, slots] : found->second) count += slots;
    }
    return count;
}

std::int64_t TaskTable::slots(const std::string& queue, const std::string& concurrency_key) const {
    const auto found = slots_.find(queue);
    if (found == slots_.end()) return 0;
    const auto of_key = found->second.find(concurrency_key);
    return of_key == found->second.end() ? 0 : of_key->second;
}

std::map<std::string, QueueView> TaskTable::counts() const {
    std::map<std::string, QueueView> counts;
    for (const auto& [ref, task] : tasks_) {
        if (task.handler == kEngineHandler) continue;
        QueueView& view = counts[task.queue];
        if (!task.lease_owner.empty()) ++view.running;
        if (task.is_claimable()) ++view.waiting;
        if (task.is_sleeping()) ++view.sleeping;
    }
    return counts;
}

void TaskTable::gather(
    const std::string& handler, const Room& room, std::int64_t limit, std::vector<Key>& keys
) const {
    const auto queues = ready_.find(handler);
    if (queues == ready_.end() || !queues->second.contains(room.queue)) return;
    const Lane& all = queues->second.at(room.queue);
    const auto add = [&](const Lane& lane, std::int64_t most) {
        for (auto it = lane.begin(); it != lane.end() && most > 0; ++it, --most) {
            keys.push_back(*it);
        }
    };
    if (!room.slots_per_key) return add(all, limit);
    std::size_t keyed = 0;
    if (const auto found = keyed_.find({handler, room.queue}); found != keyed_.end()) {
        for (const auto& [key, lane] : found->second) {
            keyed += lane.size();
            add(lane, std::min(limit, *room.slots_per_key - slots(room.queue, key)));
        }
    }
    if (keyed == all.size()) return;
    for (const Key& key : all) {
        if (limit <= 0) return;
        if (!tasks_.at(key.second).concurrency_key.empty()) continue;
        keys.push_back(key);
        --limit;
    }
}

std::vector<TaskRef> TaskTable::claimable_within(
    const ClaimRequest& request, const std::vector<Room>& rooms
) const {
    const std::set<std::string> handlers(request.handlers.begin(), request.handlers.end());
    std::vector<Key> keys;
    std::map<std::string, Room> left;
    for (const Room& room : rooms) {
        left.emplace(room.queue, room);
        if (request.instance) {
            gather_of_instance(request, room.queue, keys);
            continue;
        }
        const std::int64_t limit = std::min<std::int64_t>(request.limit, room.tasks);
        for (const std::string& handler : handlers) {
            if (handler != kEngineHandler) gather(handler, room, limit, keys);
        }
    }
    std::sort(keys.begin(), keys.end());
    std::map<std::pair<std::string, std::string>, std::int64_t> of_key;
    std::vector<TaskRef> refs;
    for (const Key& key : keys) {
        if (std::ssize(refs) >= request.limit) break;
        const Task& task = tasks_.at(key.second);
        Room& room = left.at(task.queue);
        if (room.tasks <= 0) continue;
        if (room.slots_per_key && !task.concurrency_key.empty()) {
            std::int64_t& taken = of_key[{task.queue, task.concurrency_key}];
            const std::int64_t used = slots(task.queue, task.concurrency_key);
            if (used + taken >= *room.slots_per_key) continue;
            ++taken;
        }
        --room.tasks;
        refs.push_back(key.second);
    }
    return refs;
}

std::vector<TaskRef> TaskTable::held_by(std::string_view worker) const {
    const auto found = leases_.find(worker);
    if (found == leases_.end()) return {};
    return {found->second.begin(), found->second.end()};
}

std::vector<std::string> TaskTable::lease_owners() const {
    std::vector<std::string> owners;
    for (const auto& [owner, refs] : leases_) owners.push_back(owner);
    return owners;
}

std::vector<Task> TaskTable::of(const InstanceId& instance) const {
    std::vector<Task> found;
    for (auto it = tasks_.lower_bound({instance, kLowestToken});
         it != tasks_.end() && it->first.instance == instance;
         ++it) {
        found.push_back(it->second);
    }
    return found;
}

std::vector<Store::Unserved> TaskTable::waiting() const {
    std::vector<Store::Unserved> waiting;
    for (const auto& [handler, queues] : ready_) {
        for (const auto& [queue, lane] : queues)
            waiting.push_back({handler, queue, std::ssize(lane)});
    }
    return waiting;
}

void TaskTable::index(const Task& task) {
    const Key key{task.rank, task.ref};
    if (task.is_claimable()) {
        ready_[task.handler][task.queue].insert(key);
        if (task.is_stop) stops_.insert(key);
        if (!task.concurrency_key.empty()) {
            keyed_[{task.handler, task.queue}][task.concurrency_key].insert(key);
        }
    }
    if (task.has_slot()) ++slots_[task.queue][task.concurrency_key];
    if (task.is_sleeping()) sleeping_.emplace(task.due, task.ref);
    if (!task.lease_owner.empty()) leases_[task.lease_owner].insert(task.ref);
}

void TaskTable::unindex(const Task& task) {
    const Key key{task.rank, task.ref};
    if (task.is_claimable()) {
        auto& queues = ready_[task.handler];
        Lane& lane = queues[task.queue];
        lane.erase(key);
        if (lane.empty()) queues.erase(task.queue);
        if (queues.empty()) ready_.erase(task.handler);
        if (task.is_stop) stops_.erase(key);
        if (!task.concurrency_key.empty()) {
            const auto found = keyed_.find({task.handler, task.queue});
            const auto of_key = found->second.find(task.concurrency_key);
            of_key->second.erase(key);
            if (of_key->second.empty()) found->second.erase(of_key);
            if (found->second.empty()) keyed_.erase(found);
        }
    }
    if (task.has_slot()) {
        const auto found = slots_.find(task.queue);
        const auto of_key = found->second.find(task.concurrency_key);
        if (--of_key->second == 0) found->second.erase(of_key);
        if (found->second.empty()) slots_.erase(found);
    }
    if (task.is_sleeping()) sleeping_.erase({task.due, task.ref});
    if (!task.lease_owner.empty()) {
        const auto held = leases_.find(task.lease_owner);
        held->second.erase(task.ref);
        if (held->second.empty()) leases_.erase(held);
    }
}

}  // namespace ebb::memory
