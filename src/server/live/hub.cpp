#include "server/live/hub.h"

#include <algorithm>

#include "engine/view.h"
#include "store/store.h"

namespace ebb::server {

namespace {

/// Waits for the end of one instance.
class EndWatcher : public Watcher {
 public:
    EndWatcher(
        Engine& reader,
        const InstanceId& id,
        TimePoint until,
        std::function<void(const Result&)> done
    )
        : reader_(reader), id_(id), until_(until), done_(std::move(done)) {}

    Interest interest() const override { return {.instances = {id_}, .only_ends = true}; }

    bool turn(TimePoint now, Feed& feed) override {
        try {
            if (feed.has_ended(id_) && take_result()) return false;
            return look(now, feed.instance(id_));
        } catch (const Error&) {
            // The database may be back at the next turn.
            if (now < until_ && !is_draining_) return true;
            done_({.status = InstanceStatus::Running});
        }
        return false;
    }

    /// False: it is done.
    bool look(TimePoint now, const std::optional<InstanceSummary>& instance) {
        const bool has_ended = !instance || instance->finished_at != TimePoint{};
        if (!has_ended && now < until_ && !is_draining_) return true;
        if (instance && has_ended && take_result()) return false;
        done_({.status = instance ? instance->status : InstanceStatus::Running});
        return false;
    }

    /// False: what is read does not know its end.
    bool take_result() {
        const Result result = reader_.wait(id_, Duration::zero());
        if (result.is_finished) done_(result);
        return result.is_finished;
    }

    TimePoint until() const override { return until_; }

    void drain() override { is_draining_ = true; }

 private:
    Engine& reader_;
    InstanceId id_;
    TimePoint until_;
    std::function<void(const Result&)> done_;
    std::atomic<bool> is_draining_{false};
};

}  // namespace

Hub::Hub(Store& store, Engine& reader, const Clock& clock)
    : store_(store), reader_(reader), clock_(clock), feed_(store, clock), thread_([this] {
          run();
      }) {}

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
    if (count_ == 0) return;
    const bool has_ended = instance.finished_at != TimePoint{};
    const Lock lock(mutex_);
    has_any_changed_ = true;
    const auto found = watched_.find(instance.id);
    if (found == watched_.end()) return;
    Watched& watched = found->second;
    if (watched.of_changes == 0 && !has_ended) return;
    if (!watched.has_changed) news_.push_back(&watched);
    watched.has_changed = true;
    watched.has_ended = watched.has_ended || has_ended;
    if (!is_woken_) changed_.notify_one();
    is_woken_ = true;
}

void Hub::add(std::shared_ptr<Watcher> watcher) {
    Entry entry{.watcher = std::move(watcher), .interest = {}, .watched = {}};
    entry.interest = entry.watcher->interest();
    ++count_;
    const Lock lock(mutex_);
    if (is_draining_) entry.watcher->drain();
    for (const InstanceId& id : entry.interest.instances) {
        Watched& watched = watched_[id];
        watched.id = id;
        ++watched.watchers;
        if (!entry.interest.only_ends) ++watched.of_changes;
        entry.watched.push_back(&watched);
    }
    if (entry.interest.in_all) ++in_all_;
    entries_.push_back(std::move(entry));
    is_woken_ = true;
    changed_.notify_one();
}

void Hub::forget(const Entry& entry) {
    for (const InstanceId& id : entry.interest.instances) {
        const auto found = watched_.find(id);
        if (!entry.interest.only_ends) --found->second.of_changes;
        if (--found->second.watchers > 0) continue;
        std::erase(news_, &found->second);
        watched_.erase(found);
    }
    if (entry.interest.in_all) --in_all_;
    --count_;
}

void Hub::wait(const InstanceId& id, Duration limit, std::function<void(const Result&)> done) {
    auto watcher = std::make_shared<EndWatcher>(reader_, id, clock_.now() + limit, std::move(done));
    try {
        // Most have already ended, or need not be waited for.
        const auto row = store_.load(id);
        std::optional<InstanceSummary> instance;
        if (row) instance = engine::to_summary(*row);
        if (!watcher->look(clock_.now(), instance)) return;
    } catch (const Error&) {
        // The database may be back at the next turn.
    }
    add(std::move(watcher));
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

/// What concerns all instances comes at most ten times in a second, and with many watchers less
/// often: each of them costs.
bool Hub::take_change(SteadyPoint now) {
    if (!has_any_changed_ || in_all_ == 0 || now < next_change_) return false;
    has_any_changed_ = false;
    constexpr Duration kLeast = std::chrono::milliseconds(100);
    constexpr Duration kMost = std::chrono::seconds(2);
    constexpr Duration kOfEach = std::chrono::milliseconds(1);
    next_change_ =
        now + std::clamp<Duration>(static_cast<std::int64_t>(in_all_) * kOfEach, kLeast, kMost);
    return true;
}

std::vector<std::shared_ptr<Watcher>> Hub::take_due(SteadyPoint now, bool has_changed) {
    const TimePoint date = clock_.now();
    std::vector<std::shared_ptr<Watcher>> due;
    for (Entry& entry : entries_) {
        const bool has_news =
            (has_changed && entry.interest.in_all) ||
            std::any_of(entry.watched.begin(), entry.watched.end(), [&](const Watched* watched) {
                return entry.interest.only_ends ? watched->has_ended : watched->has_changed;
            });
        const bool is_late = entry.watcher->until() <= date;
        if (!has_news && !entry.is_wanted && !is_late && entry.next_turn > now) continue;
        entry.is_wanted = false;
        entry.next_turn = now + kTurn;
        due.push_back(entry.watcher);
    }
    return due;
}

std::unordered_set<InstanceId> Hub::take_ended() {
    std::unordered_set<InstanceId> ended;
    for (Watched* watched : news_) {
        if (watched->has_ended) ended.insert(watched->id);
        watched->has_changed = watched->has_ended = false;
    }
    news_.clear();
    return ended;
}

void Hub::remove(std::vector<std::shared_ptr<Watcher>> done) {
    if (done.empty()) return;
    std::sort(done.begin(), done.end());
    std::erase_if(entries_, [&](const Entry& entry) EBB_REQUIRES(mutex_) {
        if (!std::binary_search(done.begin(), done.end(), entry.watcher)) return false;
        forget(entry);
        return true;
    });
}

void Hub::run() {
    Lock lock(mutex_);
    while (!is_stopped_) {
        is_woken_ = false;
        const SteadyPoint now = clock_.steady_now();
        const bool has_changed = take_change(now);
        auto due = take_due(now, has_changed);
        auto ended = take_ended();
        lock.unlock();
        if (!due.empty()) {
            feed_.begin_round(has_changed, std::move(ended));
            const TimePoint date = clock_.now();
            std::erase_if(due, [&](const auto& watcher) { return watcher->turn(date, feed_); });
        }
        lock.lock();
        // What is left is done.
        remove(std::move(due));
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
