#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "store/postgres/connection.h"
#include "support/clock.h"
#include "support/sync.h"

namespace ebb::postgres {

/// The connections of one store, created on demand and kept for reuse. Each connection has one user
/// at a time. Thread-safe.
class Pool {
 public:
    explicit Pool(const Settings& settings) : settings_(settings) {}

    explicit Pool(Settings&&) = delete;  // it keeps a reference

    /// Returns its connection when it is destroyed, unless the connection is broken or was dropped.
    class Lease {
     public:
        Lease(Pool& pool, std::unique_ptr<Connection> connection)
            : pool_(&pool), connection_(std::move(connection)) {}

        Lease(Lease&&) = delete;
        Lease& operator=(Lease&&) = delete;
        ~Lease();

        Connection& operator*() const { return *connection_; }

        Connection* operator->() const { return connection_.get(); }

        /// Drops the connection: its state is unknown, so it must not be used again.
        void drop() { connection_.reset(); }

     private:
        Pool* pool_;
        std::unique_ptr<Connection> connection_;
    };

    /// If all connections are in use, waits for one, at most kWaitMax. Throws StoreBusy after that,
    /// and StoreUnavailable or StoreError if no connection can be made. After a failure to connect,
    /// further attempts are spaced out with jitter, and calls in between fail with the same error.
    /// Once a connection has succeeded, the error is always StoreUnavailable: an operator will fix
    /// an expired certificate or a changed password, and pending writes must wait for that.
    Lease take();

    /// Whether `take` would probably return a connection without waiting for other users. After a
    /// failure, this call makes the next attempt when it is due.
    bool can_connect();

    /// Connections that are idle now are not used again.
    void drop_idle();

    /// Waits for `pause` plus or minus a random half of it, so that sessions that collided do not
    /// collide again.
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
