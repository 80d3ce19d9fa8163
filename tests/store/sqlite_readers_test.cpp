// Goal: as many threads as read at once keep their connections: to open one costs far more than to
// read. Method: SQLite reports every connection that is opened here, and a statement begins when
// all readers have come to it.

#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "store/conformance.h"
#include "store/sqlite/sqlite_store.h"
#include "support/clock.h"
#include "support/uuid.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;

/// Of all connections that are opened while it lives.
class Connections {
 public:
    Connections() {
        present = this;
        sqlite3_auto_extension(reinterpret_cast<void (*)()>(&Connections::begin));
    }

    Connections(const Connections&) = delete;
    Connections& operator=(const Connections&) = delete;

    ~Connections() {
        sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&Connections::begin));
        present = nullptr;
    }

    int opened() const {
        const std::lock_guard lock(mutex_);
        return opened_;
    }

    /// The next `count` reads of an instance begin at the same time.
    void gather(int count) {
        const std::lock_guard lock(mutex_);
        missing_ = count;
    }

 private:
    static int begin(sqlite3* database, const char** /*error*/, const void* /*functions*/) {
        const std::lock_guard lock(present->mutex_);
        ++present->opened_;
        return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, &Connections::hear, nullptr);
    }

    static int hear(unsigned /*kind*/, void* /*context*/, void* statement, void* /*sql*/) {
        const std::string_view sql = sqlite3_sql(static_cast<sqlite3_stmt*>(statement));
        if (sql.find("FROM instances WHERE id = ?1") != std::string_view::npos) present->wait();
        return 0;
    }

    void wait() {
        std::unique_lock lock(mutex_);
        if (missing_ == 0) return;
        --missing_;
        changed_.notify_all();
        changed_.wait_for(lock, 60s, [this] { return missing_ == 0; });
    }

    static inline Connections* present = nullptr;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    int opened_ = 0;
    int missing_ = 0;
};

TEST(SqliteReaders, that_read_at_once_open_their_connections_once) {
    constexpr int kReaders = 8;  // as many as serve the requests of a server
    const TempDir dir;
    const ManualClock clock(TimePoint(1'760'000'000s));
    Connections connections;
    const StorePtr store = make_sqlite_store({.path = dir.file("ebb.db")}, clock);
    const InstanceId id = make_instance_id(clock);
    const auto read_at_once = [&] {
        connections.gather(kReaders);
        std::vector<std::jthread> readers;
        for (int i = 0; i < kReaders; ++i) {
            readers.emplace_back([&] { EXPECT_FALSE(store->load(id)); });
        }
    };
    read_at_once();
    const int opened = connections.opened();
    EXPECT_GT(opened, kReaders) << "and one for writing";
    read_at_once();
    EXPECT_EQ(connections.opened(), opened);
}

}  // namespace
}  // namespace ebb::testing
