#include "store/sqlite/sqlite_store.h"

#include "ebb/sqlite/sql.h"
#include "store/agreement.h"
#include "store/sqlite/opening.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"
#include "support/boot.h"

namespace ebb {

namespace sql = sqlite::sql;
using sqlite::Query;
using sqlite::WriteTransaction;

namespace {

/// The number of idle reading connections to keep open for the next readers: twice what the
/// requests of a server use at once. To open one costs far more than to read an instance.
constexpr std::size_t kIdleReadersMax = 16;
/// From this length on, maintain() copies the log into the database, away from the writer...
constexpr int kWalPagesToCheckpoint = 1'000;
/// ...and at this length a commit copies it itself, because maintain() is apparently not called.
constexpr int kWalPagesMax = 4'000;

int on_wal_commit(void* wal_pages, sqlite3* handle, const char* name, int pages) {
    static_cast<std::atomic<int>*>(wal_pages)->store(pages, std::memory_order_relaxed);
    if (pages >= kWalPagesMax) {
        // After a failure, the log only grows further. The commit itself is done.
        sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    }
    return SQLITE_OK;
}

}  // namespace

StorePtr make_sqlite_store(const SqliteOptions& options, const Clock& clock) {
    return StorePtr(new SqliteStore(options, clock));
}

StorePtr open_sqlite_store(const SqliteOptions& options) {
    static const SystemClock system;
    return make_sqlite_store(options, options.clock != nullptr ? *options.clock : system);
}

SqliteStore::SqliteStore(const SqliteOptions& options, const Clock& clock)
    : options_(options),
      clock_(clock),
      boot_(frame_of(clock)),
      writer_(sqlite::open_for_writing(options)) {
    sqlite3_wal_hook(writer_.handle(), on_wal_commit, &wal_pages_);
    if (options.migrate) {
        sqlite::migrate(writer_, clock_);
    } else {
        sqlite::check_schema(writer_);
    }
}

StoreTraits SqliteStore::traits() const {
    return {
        .name = "sqlite",
        .is_durable = true,
        .is_shared_between_processes = true,
        .has_transactions = true,
        .clock = &clock_,
    };
}

void SqliteStore::migrate() {
    const Lock lock(writer_mutex_);
    sqlite::migrate(writer_, clock_);
}

void SqliteStore::register_workflow(const WorkflowRow& row) {
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    Query add(
        writer_,
        sql::add_workflow,
        row.name,
        row.version,
        row.definition,
        row.checksum,
        row.created_at
    );
    if (add.run() == 0) {
        Query found(writer_, sql::find_workflow, row.name, row.version);
        if (!found.step() || found.text(2) != row.checksum) throw_workflow_conflict(row);
    }
    transaction.commit();
}

void SqliteStore::checkpoint() {
    if (wal_pages_.load(std::memory_order_relaxed) < kWalPagesToCheckpoint) return;
    wal_pages_.store(0, std::memory_order_relaxed);
    read([](sqlite::Database& database) {
        return sqlite3_wal_checkpoint_v2(
            database.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr
        );
    });
}

void SqliteStore::execute_on_writer(std::string_view statement) {
    const Lock lock(writer_mutex_);
    writer_.execute(statement);
}

std::unique_ptr<sqlite::Database> SqliteStore::take_reader() {
    {
        const Lock lock(readers_mutex_);
        if (!readers_.empty()) {
            std::unique_ptr<sqlite::Database> reader = std::move(readers_.back());
            readers_.pop_back();
            return reader;
        }
    }
    auto reader = std::make_unique<sqlite::Database>(
        options_.path, sqlite::Database::Access::Read, options_.busy_timeout_ms
    );
    reader->execute(sql::only_read);
    return reader;
}

void SqliteStore::return_reader(std::unique_ptr<sqlite::Database> reader) {
    const Lock lock(readers_mutex_);
    if (readers_.size() < kIdleReadersMax) readers_.push_back(std::move(reader));
}

}  // namespace ebb
