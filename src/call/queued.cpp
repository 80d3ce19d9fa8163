#include <algorithm>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <ebb/clock.h>
#include <ebb/error.h>
#include <ebb/interceptor.h>
#include <ebb/queued.h>

#include "support/sync.h"

namespace ebb {

namespace {

/// What a notice may keep of a call: the rest ends with the call.
StepContext kept(const StepContext& step) {
    StepContext copy = step;
    copy.transaction = nullptr;
    copy.choice = nullptr;
    copy.port = nullptr;
    return copy;
}

class OwnThread final : public QueuedObserver {
 public:
    OwnThread(std::shared_ptr<Observer> observer, const QueuedOptions& options)
        : observer_(std::move(observer)),
          of_worker_(dynamic_cast<WorkerObserver*>(observer_.get())),
          options_(options),
          thread_([this] { run(); }) {}

    OwnThread(const OwnThread&) = delete;
    OwnThread& operator=(const OwnThread&) = delete;

    ~OwnThread() override {
        {
            const Lock lock(mutex_);
            is_ended_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }

    void on_call(const StepContext& step, const CallDelay& delay) override {
        if (of_worker_ == nullptr) return;
        post([this, step = kept(step), queue = std::string(delay.queue), waited = delay.waited] {
            of_worker_->on_call(step, {.queue = queue, .waited = waited});
        });
    }

    void on_start(const InstanceSummary& instance) override {
        post([this, instance] { observer_->on_start(instance); });
    }

    void before_step(const StepContext& step, const Payload& input) override {
        post([this, step = kept(step), input] { observer_->before_step(step, input); });
    }

    void after_step(const StepContext& step, const CallEnd& end) override {
        post([this, step = kept(step), end] { observer_->after_step(step, end); });
    }

    void on_retry_scheduled(
        const InstanceSummary& instance, const HistoryEntry& event, TimePoint due
    ) override {
        post([this, instance, event, due] { observer_->on_retry_scheduled(instance, event, due); });
    }

    void on_error(const InstanceSummary& instance, const HistoryEntry& event) override {
        post([this, instance, event] { observer_->on_error(instance, event); });
    }

    void on_pause(const InstanceSummary& instance, const HistoryEntry& event) override {
        post([this, instance, event] { observer_->on_pause(instance, event); });
    }

    void on_resume(const InstanceSummary& instance, const HistoryEntry& event) override {
        post([this, instance, event] { observer_->on_resume(instance, event); });
    }

    void on_end(const InstanceSummary& instance) override {
        post([this, instance] { observer_->on_end(instance); });
    }

    void on_committed(const InstanceSummary& instance, std::span<const HistoryEntry> events)
        override {
        post([this, instance, copy = std::vector(events.begin(), events.end())] {
            observer_->on_committed(instance, copy);
        });
    }

    std::uint64_t dropped() const override {
        const Lock lock(mutex_);
        return dropped_;
    }

    std::uint64_t failed() const override {
        const Lock lock(mutex_);
        return failed_;
    }

    bool flush(Duration limit) override {
        constexpr Duration kLimitMax = std::chrono::hours(24 * 365);
        const SteadyPoint end = clock_.steady_now() + std::min(limit, kLimitMax);
        Lock lock(mutex_);
        const std::uint64_t wanted = posted_;
        while (done_ < wanted) {
            const Duration rest = end - clock_.steady_now();
            if (rest <= Duration::zero()) return false;
            changed_.wait_for(lock, rest);
        }
        return true;
    }

 private:
    using Notice = std::function<void()>;

    void post(Notice notice) {
        {
            Lock lock(mutex_);
            const bool waits = options_.overflow != QueuedOptions::Overflow::Drop;
            while (waits && notices_.size() >= options_.capacity) changed_.wait(lock);
            if (notices_.size() >= options_.capacity) {
                ++dropped_;
                return;
            }
            notices_.push_back(std::move(notice));
            ++posted_;
        }
        changed_.notify_all();
    }

    void run() {
        Lock lock(mutex_);
        while (true) {
            while (notices_.empty() && !is_ended_) changed_.wait(lock);
            if (notices_.empty()) return;
            const Notice notice = std::move(notices_.front());
            notices_.pop_front();
            lock.unlock();
            bool has_failed = false;
            try {
                notice();
            } catch (...) {
                has_failed = true;
            }
            lock.lock();
            ++done_;
            if (has_failed) ++failed_;
            changed_.notify_all();
        }
    }

    const std::shared_ptr<Observer> observer_;
    WorkerObserver* const of_worker_;  ///< the same, if it is one
    const QueuedOptions options_;
    const SystemClock clock_;
    mutable Mutex mutex_;
    CondVar changed_;
    std::deque<Notice> notices_ EBB_GUARDED_BY(mutex_);
    std::uint64_t posted_ EBB_GUARDED_BY(mutex_) = 0;
    std::uint64_t done_ EBB_GUARDED_BY(mutex_) = 0;
    std::uint64_t dropped_ EBB_GUARDED_BY(mutex_) = 0;
    std::uint64_t failed_ EBB_GUARDED_BY(mutex_) = 0;
    bool is_ended_ EBB_GUARDED_BY(mutex_) = false;
    std::jthread thread_;  // last: it uses all of the above
};

}  // namespace

std::shared_ptr<QueuedObserver> queued(
    std::shared_ptr<Observer> observer, const QueuedOptions& options
) {
    if (observer == nullptr) {
        throw Error(ErrorCode::InvalidArgument, "There is no observer to queue for: it is null.");
    }
    if (dynamic_cast<Interceptor*>(observer.get()) != nullptr) {
        throw Error(
            ErrorCode::InvalidArgument,
            "An interceptor cannot be queued: the engine waits for its decisions."
        );
    }
    if (options.capacity == 0) {
        throw Error(ErrorCode::InvalidArgument, "A queue for notices has a capacity above zero.");
    }
    return std::make_shared<OwnThread>(std::move(observer), options);
}

}  // namespace ebb
