#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>
#include <ebb/handler.h>

#include "ebb/sqlite/sql.h"
#include "store/sqlite/mail_rows.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sqlite_store.h"

// What happens in a transaction that the application shares: starts, and the ends of steps.

namespace ebb {

namespace sql = sqlite::sql;
using sqlite::Database;
using sqlite::Query;

namespace {

constexpr std::size_t kIdleTransactionsMax = 4;

[[noreturn]] void refuse(const std::string& why) {
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("Nothing can be written in the transaction: {}.", why)
    );
}

bool is_same_file(const std::string& one, const std::string& other) {
    std::error_code error;
    return !one.empty() && std::filesystem::equivalent(one, other, error) && !error;
}

void check_can_start(Database& database, const std::string& path) {
    if (!database.is_in_transaction()) refuse("none is open on the connection");
    if (!is_same_file(database.path(), path)) {
        Query attached(database, sql::attached_files);
        while (attached.step()) {
            if (!is_same_file(std::string(attached.text(1)), path)) continue;
            refuse(fmt::format(
                "the store \"{}\" is attached to the connection as {}, but must be its main "
                "database: a transaction over several files is not atomic in WAL mode",
                path,
                attached.text(0)
            ));
        }
        refuse(fmt::format(
            "its database, \"{}\", is not that of the store, \"{}\"", database.path(), path
        ));
    }
    if (sqlite3_db_readonly(database.handle(), "main") == 1) {
        throw Error(
            ErrorCode::StoreReadOnly,
            fmt::format("The connection to the SQLite store \"{}\" can only read.", path)
        );
    }
    sqlite::check_schema(database);
}

}  // namespace

/// A transaction for a handler, and the connection that it has alone.
class SqliteStore::StepTransaction final : public StoreTransaction {
 public:
    explicit StepTransaction(SqliteStore& store)
        : store_(store),
          database_(store.take_transaction()),
          handle_(database_->handle()),
          transaction_(std::make_unique<sqlite::WriteTransaction>(*database_)) {
        sqlite3_commit_hook(database_->handle(), refuse_commit, this);
    }

    ~StepTransaction() override {
        sqlite3_commit_hook(database_->handle(), nullptr, nullptr);
        transaction_.reset();
        if (!database_->is_in_transaction()) store_.return_transaction(std::move(database_));
    }

    const Transaction& handle() const override { return handle_; }

    void check() const override {
        if (database_->is_in_transaction()) return;
        throw HandlerFailure(
            "The transactional handler has ended its transaction, which must stay open: all that "
            "it "
            "did there was rolled back.",
            {.code = "transaction_ended", .is_permanent = true, .retry_after = {}, .details = {}}
        );
    }

    std::optional<InstanceRow> lock(const InstanceId& id) override {
        // The whole file is locked from the beginning.
        const std::string text = id.to_string();
        Query query(*database_, sql::load_instance, text);
        if (!query.step()) return std::nullopt;
        return sqlite::instance_row(query);
    }

    void commit(const Commit& commit) override {
        if (store_.commit_one(*database_, commit) != CommitResult::Committed) {
            throw Error(ErrorCode::Internal, "A locked instance was changed by another process.");
        }
        is_committing_ = true;
        transaction_->commit();
    }

 private:
    /// Makes a COMMIT of the handler itself a rollback.
    static int refuse_commit(void* self) {
        return static_cast<StepTransaction*>(self)->is_committing_ ? 0 : 1;
    }

    SqliteStore& store_;
    std::unique_ptr<Database> database_;
    const Transaction handle_;
    std::unique_ptr<sqlite::WriteTransaction> transaction_;
    bool is_committing_ = false;
};

std::unique_ptr<StoreTransaction> SqliteStore::begin_transaction() {
    return std::make_unique<StepTransaction>(*this);
}

std::unique_ptr<Database> SqliteStore::take_transaction() {
    {
        const Lock lock(readers_mutex_);
        if (!transactions_.empty()) {
            std::unique_ptr<Database> database = std::move(transactions_.back());
            transactions_.pop_back();
            return database;
        }
    }
    auto database = std::make_unique<Database>(
        options_.path, Database::Access::ReadWrite, options_.busy_timeout_ms
    );
    const bool is_full = options_.synchronous == SqliteOptions::Synchronous::Full;
    database->execute(is_full ? sql::synchronous_full : sql::synchronous_normal);
    return database;
}

void SqliteStore::return_transaction(std::unique_ptr<Database> database) {
    const Lock lock(readers_mutex_);
    if (transactions_.size() < kIdleTransactionsMax) transactions_.push_back(std::move(database));
}

/// The transaction of the application. With the first write in it, no other session can write.
class SqliteStore::Borrowed final : public BorrowedTransaction {
 public:
    Borrowed(SqliteStore& store, sqlite3* handle) : store_(store), database_(handle) {}

    std::optional<InstanceRow> lock(const InstanceId& id) override {
        const std::string text = id.to_string();
        // A transaction that has only read so far gets the right to write here, or never.
        Query(database_, sql::touch_instance, text).run();
        Query query(database_, sql::load_instance, text);
        if (!query.step()) return std::nullopt;
        return sqlite::instance_row(query);
    }

    std::vector<HistoryEvent> history(const HistoryQuery& query) override {
        return read_history(database_, query);
    }

    std::vector<HistoryEvent> events(const InstanceId& id, const std::vector<Seq>& seqs) override {
        return read_events(database_, id, seqs);
    }

    void commit(const Commit& commit) override {
        if (store_.commit_one(database_, commit) == CommitResult::Committed) return;
        throw Error(ErrorCode::Internal, "A locked instance was changed by another process.");
    }

    SendResult send(const Mail& mail) override {
        return sqlite::send_mail(database_, mail, store_.clock_.now());
    }

 private:
    SqliteStore& store_;
    Database database_;
};

std::unique_ptr<BorrowedTransaction> SqliteStore::borrow(const Transaction& transaction) {
    Database database(transaction.sqlite());
    check_can_start(database, options_.path);
    return std::make_unique<Borrowed>(*this, transaction.sqlite());
}

StartResult SqliteStore::start_in(const Transaction& transaction, const NewInstance& instance) {
    Database database(transaction.sqlite());
    check_can_start(database, options_.path);
    return start_one(database, instance);
}

}  // namespace ebb
