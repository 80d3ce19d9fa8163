#include "store/postgres/pool.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>

#include "support/uuid.h"

namespace ebb::postgres {

namespace {

constexpr Duration kBackoffMin = std::chrono::milliseconds(20);
constexpr Duration kBackoffMax = std::chrono::seconds(1);
/// One that was in use a moment ago is not looked at before it is used again.
constexpr Duration kTrusted = std::chrono::milliseconds(200);

/// From half to one and a half of `pause`.
Duration jittered(Duration pause) {
    const auto share = static_cast<Duration::rep>(random_bits() % 1'000);
    return pause / 2 + pause * share / 1'000;
}

}  // namespace

Pool::Lease::~Lease() {
    pool_->give_back(std::move(connection_));
}

Pool::Lease Pool::take() {
    const TimePoint give_up_at = clock_.now() + kWaitMax;
    {
        Lock lock(mutex_);
        while (true) {
            if (auto connection = take_idle()) return {*this, std::move(connection)};
            if (open_ < settings_.connections_max) break;
            const TimePoint now = clock_.now();
            if (now >= give_up_at) {
                throw Error(
                    ErrorCode::StoreBusy,
                    fmt::format(
                        "All {} connections to {} are in use for too long; increase "
                        "connections_max.",
                        settings_.connections_max,
                        settings_.target()
                    )
                );
            }
            changed_.wait_for(lock, give_up_at - now);
        }
        ++open_;
    }
    return {*this, connect()};
}

bool Pool::can_connect() {
    {
        const Lock lock(mutex_);
        if (!last_failure_ || !idle_.empty()) return true;
        if (clock_.now() < retry_at_ || open_ >= settings_.connections_max) return false;
        ++open_;
    }
    try {
        give_back(connect());
        return true;
    } catch (const Error&) {
        return false;  // and when to try again is known
    }
}

std::unique_ptr<Connection> Pool::take_idle() {
    while (!idle_.empty()) {
        Idle last = std::move(idle_.back());
        idle_.pop_back();
        const bool is_trusted = clock_.now() - last.since < kTrusted;
        if (is_trusted || last.connection->is_open()) return std::move(last.connection);
        --open_;
    }
    return nullptr;
}

std::unique_ptr<Connection> Pool::open() {
    try {
        return std::make_unique<Connection>(settings_);
    } catch (const Error& error) {
        {
            const Lock lock(mutex_);
            if (!has_connected_ || error.is_transient()) throw;
        }
        throw Error(ErrorCode::StoreUnavailable, error.what());
    }
}

std::unique_ptr<Connection> Pool::connect() {
    try {
        {
            const Lock lock(mutex_);
            if (last_failure_ && clock_.now() < retry_at_) std::rethrow_exception(last_failure_);
        }
        auto connection = open();
        const Lock lock(mutex_);
        has_connected_ = true;
        failures_ = 0;
        last_failure_ = nullptr;
        return connection;
    } catch (...) {
        const Lock lock(mutex_);
        --open_;
        const TimePoint now = clock_.now();
        if (now >= retry_at_) {
            const Duration pause = kBackoffMin * (1 << std::min(failures_++, 10));
            retry_at_ = now + jittered(std::min(pause, kBackoffMax));
            last_failure_ = std::current_exception();
        }
        changed_.notify_one();
        throw;
    }
}

void Pool::give_back(std::unique_ptr<Connection> connection) {
    const Lock lock(mutex_);
    if (connection && !connection->is_spent()) {
        idle_.push_back({std::move(connection), clock_.now()});
    } else {
        --open_;
    }
    changed_.notify_one();
}

void Pool::drop_idle() {
    const Lock lock(mutex_);
    open_ -= static_cast<int>(idle_.size());
    idle_.clear();
    changed_.notify_all();
}

void Pool::wait_a_little(Duration pause) {
    const TimePoint until = clock_.now() + jittered(pause);
    Lock lock(mutex_);
    for (TimePoint now = clock_.now(); now < until; now = clock_.now()) {
        never_.wait_for(lock, until - now);
    }
}

}  // namespace ebb::postgres
