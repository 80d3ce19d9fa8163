#include "server/live/hub.h"

#include <algorithm>

#include "store/store.h"

namespace ebb::server {

namespace {

/// Waits for the end of one instance.
class EndWatcher : public Watcher {
 public:
    EndWatcher(
        Store& store,
        Engine& reader,
        const InstanceId& id,
        TimePoint until,
        std::function<void(const Result&)> done
    )
        : store_(store), reader_(reader), id_(id), until_(until), done_(std::move(done)) {}

    bool note(const InstanceSummary& instance) override {
        return instance.id == id_ && instance.finished_at != TimePoint{};
    }

    bool turn(TimePoint now) override {
        try {
            const auto row = store_.load(id_);
            const bool has_ended = !row || row->finished_at != TimePoint{};
            if (!has_ended && now < until_ && !is_draining_) return true;
            done_(result(row));
        } catch (const Error&) {
            // The database may be back at the next turn.
            if (now < until_ && !is_draining_) return true;
            done_({.status = InstanceStatus::Running});
        }
        return false;
    }

    TimePoint until() const override { return until_; }

    void drain() override { is_draining_ = true; }

 private:
    Result result(const std::optional<InstanceRow>& row) {
        if (!row) return {.status = InstanceStatus::Running};
        if (row->finished_at == TimePoint{}) return {.status = row->status};
        return reader_.wait(id_, Duration::zero());
    }

    Store& store_;
    Engine& reader_;
    InstanceId id_;
    TimePoint until_;
    std::function<void(const Result&)> done_;
    std::atomic<bool> is_draining_{false};
};

}  // namespace

Hub::Hub(Store& store, Engine& reader, const Clock& clock)
    : store_(store),
      reader_(reader),
      clock_(clock),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Hub::~Hub() {
    drain();
    {
        const Lock lock(mutex_);
        is_stopped_ = true;
        changed_.notify_all();
    }
    thread_.join();
}

void Hub::note(const InstanceSummary& instance) {
    const Lock lock(mutex_);
    for (Entry& entry : entries_) {
        if (!entry.watcher->note(instance)) continue;
        entry.is_wanted = true;
        if (!is_woken_) changed_.notify_one();
        is_woken_ = true;
    }
}

void Hub::add(std::shared_ptr<Watcher> watcher) {
    const Lock lock(mutex_);
    if (is_draining_) watcher->drain();
    entries_.push_back({std::move(watcher)});
    is_woken_ = true;
    changed_.notify_one();
}

void Hub::wait(const InstanceId& id, Duration limit, std::function<void(const Result&)> done) {
    auto watcher =
        std::make_shared<EndWatcher>(store_, reader_, id, clock_.now() + limit, std::move(done));
    // Most have ended already, or need not be waited for.
    if (watcher->turn(clock_.now())) add(std::move(watcher));
}

void Hub::drain() {
    const Lock lock(mutex_);
    is_draining_ = true;
    for (Entry& entry : entries_) {
        entry.watcher->drain();
        entry.is_wanted = true;
    }
    is_woken_ = true;
    changed_.notify_one();
}

bool Hub::is_draining() const {
    const Lock lock(mutex_);
    return is_draining_;
}

std::size_t Hub::watchers() const {
    const Lock lock(mutex_);
    return entries_.size();
}

void Hub::run(const std::stop_token& /*stop*/) {
    Lock lock(mutex_);
    while (!is_stopped_) {
        const SteadyPoint now = clock_.steady_now();
        const TimePoint date = clock_.now();
        is_woken_ = false;
        std::vector<std::shared_ptr<Watcher>> due;
        for (Entry& entry : entries_) {
            const bool is_late = entry.watcher->until() <= date;
            if (!entry.is_wanted && !is_late && entry.next_turn > now) continue;
            entry.is_wanted = false;
            entry.next_turn = now + kTurn;
            due.push_back(entry.watcher);
        }
        lock.unlock();
        std::erase_if(due, [&](const auto& watcher) { return watcher->turn(date); });
        lock.lock();
        // What is left is done.
        std::erase_if(entries_, [&](const Entry& entry) {
            return std::find(due.begin(), due.end(), entry.watcher) != due.end();
        });
        if (is_woken_ || is_stopped_) continue;
        if (entries_.empty()) {
            changed_.wait(lock);
        } else {
            // The deadline of a wait may be nearer than its next turn.
            changed_.wait_for(lock, std::chrono::milliseconds(100));
        }
    }
}

}  // namespace ebb::server
