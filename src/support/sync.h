#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// std's mutex, lock and condition variable with the annotations of clang's -Wthread-safety, which
// turns an unguarded access to a guarded member into a compile error. Other compilers see plain
// std.

#if defined(__clang__)
#define EBB_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define EBB_THREAD_ANNOTATION(x)
#endif

/// On a member: it may be touched only while `mutex` is held.
#define EBB_GUARDED_BY(mutex) EBB_THREAD_ANNOTATION(guarded_by(mutex))
/// On a function: the caller holds `mutex`.
#define EBB_REQUIRES(...) EBB_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
/// On a function: the caller does not hold `mutex`, because the function takes it.
#define EBB_EXCLUDES(...) EBB_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace ebb {

/// Some nanoseconds, for a loop that looks at what another thread is about to change.
inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

class CondVar;

/// A mutex. Lock it with a Lock. A thread that finds it taken looks again a few times before it
/// sleeps: nearly all of ours are held for less time than falling asleep takes.
class EBB_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
    Mutex() = default;
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    void lock() EBB_THREAD_ANNOTATION(acquire_capability()) {
        for (int looks = 0; looks < kLooks; ++looks) {
            if (mutex_.try_lock()) return;
            pause_briefly();
        }
        mutex_.lock();
    }

    void unlock() EBB_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }

    bool try_lock() EBB_THREAD_ANNOTATION(try_acquire_capability(true)) {
        return mutex_.try_lock();
    }

 private:
    friend CondVar;

    static constexpr int kLooks = 40;

    std::mutex mutex_;
};

/// Holds a Mutex for its own lifetime, except between unlock() and lock().
class EBB_THREAD_ANNOTATION(scoped_lockable) Lock {
 public:
    explicit Lock(Mutex& mutex) EBB_THREAD_ANNOTATION(acquire_capability(mutex)) : mutex_(mutex) {
        mutex_.lock();
    }

    ~Lock() EBB_THREAD_ANNOTATION(release_capability()) {
        if (is_held_) mutex_.unlock();
    }

    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    void lock() EBB_THREAD_ANNOTATION(acquire_capability()) {
        mutex_.lock();
        is_held_ = true;
    }

    void unlock() EBB_THREAD_ANNOTATION(release_capability()) {
        is_held_ = false;
        mutex_.unlock();
    }

 private:
    friend CondVar;

    Mutex& mutex_;
    bool is_held_ = true;
};

/// A condition variable for Mutex and Lock. There is no overload with a predicate on purpose: write
/// `while (!ready_) ready_changed_.wait(lock);` so that clang sees that the lock is held where
/// `ready_` is read.
class CondVar {
 public:
    /// May wake without a reason.
    void wait(Lock& lock) {
        Borrowed borrowed(lock);
        changed_.wait(borrowed.inner);
    }

    /// False when `timeout` passed without a notification.
    template <class Rep, class Period>
    bool wait_for(Lock& lock, std::chrono::duration<Rep, Period> timeout) {
        Borrowed borrowed(lock);
        return changed_.wait_for(borrowed.inner, timeout) == std::cv_status::no_timeout;
    }

    void notify_one() { changed_.notify_one(); }

    void notify_all() { changed_.notify_all(); }

 private:
    /// The lock as std knows it, given back unchanged.
    struct Borrowed {
        explicit Borrowed(Lock& lock) : inner(lock.mutex_.mutex_, std::adopt_lock) {}

        ~Borrowed() { inner.release(); }

        Borrowed(const Borrowed&) = delete;
        Borrowed& operator=(const Borrowed&) = delete;

        std::unique_lock<std::mutex> inner;
    };

    std::condition_variable changed_;
};

}  // namespace ebb
