#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "store/postgres/connection.h"
#include "support/clock.h"
#include "support/sync.h"

namespace ebb::postgres {

/// The connections of one store: made when they are needed, kept for whoever comes next. Whoever
/// has one has it alone. Thread-safe.
class Pool {
 public:
    explicit Pool(const Settings& settings) : settings_(settings) {}

    /// Gives its connection back when it goes, unless that is broken or was told to forget it.
    class Lease {
     public:
        Lease(Pool& pool, std::unique_ptr<Connection> connection)
            : pool_(&pool), connection_(std::move(connection)) {}

        Lease(Lease&&) = delete;
        Lease& operator=(Lease&&) = delete;
        ~Lease();

        Connection& operator*() const { return *connection_; }

        Connection* operator->() const { return connection_.get(); }

        /// It is not to be used again: its state is unknown.
        void drop() { connection_.reset(); }

     private:
        Pool* pool_;
        std::unique_ptr<Connection> connection_;
    };

    /// Waits where all are in use, at most kWaitMax. Throws StoreBusy after that; StoreUnavailable
    /// or StoreError where none can be made. After a failure to connect the next tries are spaced
    /// out, with jitter, and answered with that failure meanwhile. Once one was made, it is always
    /// StoreUnavailable: an expired certificate or a changed password will be put right, and what
    /// was to be written must wait for that.
    Lease take();

    /// Whether `take` would give a connection without waiting for others, as far as is known. After
    /// a failure it is this that tries again, when it is time.
    bool can_connect();

    /// Connections that are idle now are not used again.
    void drop_idle();

    /// Waits for about `pause`, a random half of it more or less: so that those who got in each
    /// other's way do not meet again.
    void wait_a_little(Duration pause);

    static constexpr Duration kWaitMax = std::chrono::seconds(30);

 private:
    struct Idle {
        std::unique_ptr<Connection> connection;
        TimePoint since;
    };

    std::unique_ptr<Connection> take_idle() EBB_REQUIRES(mutex_);
    std::unique_ptr<Connection> connect();
    std::unique_ptr<Connection> open();
    void give_back(std::unique_ptr<Connection> connection);

    const Settings& settings_;
    const SystemClock clock_;
    Mutex mutex_;
    CondVar changed_;
    CondVar never_;  // is notified
    std::vector<Idle> idle_ EBB_GUARDED_BY(mutex_);
    int open_ EBB_GUARDED_BY(mutex_) = 0;
    bool has_connected_ EBB_GUARDED_BY(mutex_) = false;
    int failures_ EBB_GUARDED_BY(mutex_) = 0;
    TimePoint retry_at_ EBB_GUARDED_BY(mutex_){};
    std::exception_ptr last_failure_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::postgres
