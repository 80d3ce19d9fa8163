#include "executions.h"

#include <memory>
#include <stdexcept>

#include <sqlite3.h>

namespace {

constexpr const char* kSchema = R"sql(
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS workflow_executions (
    id         TEXT PRIMARY KEY,
    snapshot   TEXT NOT NULL,
    status     TEXT NOT NULL,
    version    INTEGER NOT NULL,
    updated_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX IF NOT EXISTS active_executions ON workflow_executions (status);
)sql";

/// One statement and its text parameters.
class Statement {
 public:
    Statement(sqlite3* database, const char* sql) : database_(database) {
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) != SQLITE_OK) fail();
        statement_.reset(statement);
    }

    Statement& bind(const std::string& text) {
        const int size = static_cast<int>(text.size());
        sqlite3_bind_text(statement_.get(), ++bound_, text.c_str(), size, SQLITE_TRANSIENT);
        return *this;
    }

    Statement& bind(std::int64_t number) {
        sqlite3_bind_int64(statement_.get(), ++bound_, number);
        return *this;
    }

    /// True: there is a row.
    bool step() {
        const int result = sqlite3_step(statement_.get());
        if (result != SQLITE_ROW && result != SQLITE_DONE) fail();
        return result == SQLITE_ROW;
    }

    std::string text() {
        const unsigned char* value = sqlite3_column_text(statement_.get(), 0);
        return {reinterpret_cast<const char*>(value)};
    }

 private:
    [[noreturn]] void fail() const { throw std::runtime_error(sqlite3_errmsg(database_)); }

    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };

    sqlite3* database_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    int bound_ = 0;
};

}  // namespace

Executions::Executions(const std::string& path) {
    const bool is_open = sqlite3_open(path.c_str(), &database_) == SQLITE_OK;
    sqlite3_busy_timeout(database_, 5'000);
    if (is_open && sqlite3_exec(database_, kSchema, nullptr, nullptr, nullptr) == SQLITE_OK) return;
    const std::string why = sqlite3_errmsg(database_);
    sqlite3_close(database_);
    throw std::runtime_error(why);
}

Executions::~Executions() {
    sqlite3_close(database_);
}

bool Executions::insert(
    const std::string& id, const std::string& status, const std::string& snapshot
) {
    Statement insert(
        database_,
        "INSERT INTO workflow_executions (id, status, snapshot, version) VALUES (?, ?, ?, 0) "
        "ON CONFLICT (id) DO NOTHING"
    );
    insert.bind(id).bind(status).bind(snapshot).step();
    return sqlite3_changes(database_) == 1;
}

std::string Executions::load(const std::string& id) {
    Statement select(database_, "SELECT snapshot FROM workflow_executions WHERE id = ?");
    if (!select.bind(id).step()) throw std::runtime_error("there is no " + id);
    return select.text();
}

bool Executions::update(
    const std::string& id,
    std::int64_t read_version,
    std::int64_t version,
    const std::string& status,
    const std::string& snapshot
) {
    Statement update(
        database_,
        "UPDATE workflow_executions SET status = ?, snapshot = ?, version = ?, "
        "updated_at = CURRENT_TIMESTAMP WHERE id = ? AND version = ?"
    );
    update.bind(status).bind(snapshot).bind(version).bind(id).bind(read_version).step();
    return sqlite3_changes(database_) == 1;
}
