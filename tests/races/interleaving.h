#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <libpq-fe.h>

#include <ebb/store.h>

#include "store/store.h"
#include "support/clock.h"
#include "support/postgres_server.h"

// Two stores over one PostgreSQL schema, one of which stops where a test wants it to: between the
// snapshot of a statement and a row, a lock or a write of that same statement. What a simulation of
// calls cannot reach, because it is inside of one call.

namespace ebb::testing {

enum class Isolation { ReadCommitted, RepeatableRead, Serializable };

std::string_view to_string(Isolation isolation);

/// Where to stop: before the n-th look at a row of the table (a read, a recheck or a write), or
/// before the n-th command of the schema (`ddl`).
struct Gate {
    std::string table;
    int look = 1;
};

/// A call in a thread of its own.
class Call {
 public:
    explicit Call(std::function<void()> verb);
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call();

    /// Waits a moment for its end. Rethrows nothing.
    bool has_ended_within(Duration moment);
    /// Waits for its end, and rethrows what it threw.
    void join();

 private:
    std::mutex mutex_;
    std::condition_variable ended_;
    bool has_ended_ = false;
    std::exception_ptr error_;
    std::thread thread_;
};

/// A schema with its gates. Row-security policies make a role of its own pass them at each row;
/// an advisory lock that the test holds closes one of them.
class Interleaving {
 public:
    /// Makes an empty schema.
    explicit Interleaving(Isolation isolation, const Clock& clock);
    ~Interleaving();

    /// Fresh stores without any memory of their own, over tables without rows.
    void reset();

    /// The store whose statements pass the gates.
    Store& gated() { return *gated_; }

    /// The store that no gate stops.
    Store& open() { return *open_; }

    /// Starts `first`, which uses the gated store. When it has reached the gate, `second` runs,
    /// which uses the open one, until it has ended or waits for a lock of the first. Then the gate
    /// is opened, and both end. Returns whether the gate was reached.
    bool run(const Gate& gate, std::function<void()> first, std::function<void()> second);

    /// As the superuser; the first value.
    std::string ask(const std::string& sql);

    const std::string& schema() const { return schema_; }

    /// For tests that need more than a store: the URL of the open or of the gated sessions.
    std::string url(bool is_gated) const;

 private:
    StorePtr connect(bool is_gated, bool migrates);
    void close(const Gate& gate);
    void open_gate();
    bool waits(std::string_view application, std::string_view event);
    /// Until the call has ended (false) or waits for a lock of that kind (true).
    bool reaches(Call& call, std::string_view application, std::string_view event);

    const Isolation isolation_;
    const Clock& clock_;
    const std::string schema_ = fresh_schema();
    const std::string role_ = "gated_" + schema_;
    std::unique_ptr<PGconn, void (*)(PGconn*)> session_;
    StorePtr open_;
    StorePtr gated_;
};

}  // namespace ebb::testing
