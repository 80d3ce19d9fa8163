#include "store/sqlite/database.h"

#include <cerrno>

#include <fmt/format.h>

#include <ebb/error.h>

#include "ebb/sqlite/sql.h"
#include "support/os_file.h"

namespace ebb::sqlite {

namespace {

struct Meaning {
    ErrorCode code;
    std::string_view remedy;
};

Meaning meaning_of_io_error(int os_error) {
    if (os_error == ENOSPC || os_error == EDQUOT) {
        return {
            ErrorCode::StoreFull, "Free some space on the disk; work then continues automatically."
        };
    }
    return {ErrorCode::StoreUnavailable, "Check the disk; the operation can be tried again."};
}

Meaning meaning_of(int rc, int os_error) {
    switch (rc & 0xff) {
        case SQLITE_FULL:
            return {
                ErrorCode::StoreFull,
                "Free some space on the disk; work then continues automatically."
            };
        case SQLITE_READONLY:
        case SQLITE_PERM:
            return {
                ErrorCode::StoreReadOnly,
                "The file and its directory must be writable for this user."
            };
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return {
                ErrorCode::StoreBusy,
                "Another process holds the write lock for longer than the busy timeout; try again."
            };
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return {
                ErrorCode::StoreError,
                "The file is damaged or is not a SQLite database; restore it from a backup."
            };
        case SQLITE_CANTOPEN:
            return {
                ErrorCode::StoreError,
                "The directory must exist and be writable for this user, and the path must be a "
                "file."
            };
        case SQLITE_IOERR:
            return meaning_of_io_error(os_error);
        case SQLITE_NOMEM:
            return {ErrorCode::StoreUnavailable, "Memory ran out; try again."};
        case SQLITE_TOOBIG:
            return {ErrorCode::PayloadTooLarge, "A row must be smaller than 1,000,000,000 bytes."};
        default:
            return {ErrorCode::StoreError, "This should not happen; please report it."};
    }
}

}  // namespace

Database::Database(const std::string& path, Access access, int busy_timeout_ms)
    : path_(path), access_(access) {
    // Both need the file writable: a reader of a WAL database takes part in its shared index.
    const int create = access == Access::ReadWrite ? SQLITE_OPEN_CREATE : 0;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | create;
    // SQLite would make it readable for all users; its journals get the mode of the file.
    if (create != 0) make_private_file(path);
    sqlite3* handle = nullptr;
    const int rc = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
    handle_.reset(handle);
    if (rc != SQLITE_OK) fail(rc, "opening");
    sqlite3_busy_timeout(handle, busy_timeout_ms);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
}

Database::Database(sqlite3* borrowed) : access_(Access::ReadWrite), handle_(borrowed, Close(true)) {
    const char* const path = sqlite3_db_filename(borrowed, "main");
    if (path != nullptr) path_ = path;
}

void Database::execute(std::string_view sql) {
    const int rc = sqlite3_exec(handle_.get(), std::string(sql).c_str(), nullptr, nullptr, nullptr);
    if (rc != SQLITE_OK) fail(rc, purpose());
}

sqlite3_stmt* Database::statement(std::string_view sql) {
    auto& cached = statements_[sql.data()];
    if (cached == nullptr) {
        sqlite3_stmt* prepared = nullptr;
        const int rc = sqlite3_prepare_v3(
            handle_.get(),
            sql.data(),
            static_cast<int>(sql.size()),
            SQLITE_PREPARE_PERSISTENT,
            &prepared,
            nullptr
        );
        if (rc != SQLITE_OK) fail(rc, "preparing a statement");
        cached.reset(prepared);
    }
    return cached.get();
}

void Database::fail(int rc, std::string_view doing) const {
    const int os_error = handle_ ? sqlite3_system_errno(handle_.get()) : 0;
    const Meaning meaning = meaning_of(rc, os_error);
    // The connection's own message says more than the code, but only while it speaks of this code.
    const bool is_current = handle_ && sqlite3_extended_errcode(handle_.get()) == rc;
    const char* const reason = is_current ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(rc);
    throw Error(
        meaning.code,
        fmt::format(
            "The SQLite store \"{}\" failed while {}: {} (code {}). {}",
            path_,
            doing,
            reason,
            rc,
            meaning.remedy
        )
    );
}

sqlite3_stmt* OneTimeStatement::prepare(Database& database) {
    sqlite3_stmt* prepared = nullptr;
    const int size = static_cast<int>(sql.size());
    const int rc = sqlite3_prepare_v2(database.handle(), sql.data(), size, &prepared, nullptr);
    statement_.reset(prepared);
    if (rc != SQLITE_OK) database.fail(rc, "preparing a statement");
    return prepared;
}

bool Query::step() {
    const int rc = sqlite3_step(statement_);
    if (rc == SQLITE_ROW) return true;
    if (rc == SQLITE_DONE) return false;
    database_.fail(rc, database_.purpose());
}

std::int64_t Query::run() {
    while (step()) {
    }
    return database_.changes();
}

std::string_view Query::text(int column) const {
    const auto* const bytes = sqlite3_column_text(statement_, column);
    if (bytes == nullptr) return {};
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return {reinterpret_cast<const char*>(bytes), size};
}

void Query::bind(int index, std::string_view value) {
    // An empty view may have no address, which SQLite would take for NULL.
    const char* const bytes = value.data() == nullptr ? "" : value.data();
    check(sqlite3_bind_text64(statement_, index, bytes, value.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void Query::bind(int index, const OrNull& value) {
    if (value.is_text) {
        if (value.text.empty()) return bind(index, nullptr);
        return bind(index, value.text);
    }
    if (value.integer == 0) return bind(index, nullptr);
    bind(index, value.integer);
}

void Query::check(int rc) const {
    if (rc == SQLITE_OK) return;
    // The destructor does not run when the constructor throws.
    sqlite3_reset(statement_);
    database_.fail(rc, "binding an argument");
}

WriteTransaction::WriteTransaction(Database& database) : database_(database) {
    Query(database_, sql::begin_write).run();
}

WriteTransaction::~WriteTransaction() {
    // SQLite has rolled back by itself after some errors.
    if (!database_.is_in_transaction()) return;
    try {
        Query(database_, sql::rollback_write).run();
    } catch (...) {
        // The caller already knows why; the next BEGIN reports a connection that is beyond help.
    }
}

void WriteTransaction::commit() {
    try {
        Query(database_, sql::commit_write).run();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::StoreUnavailable) throw;
        throw Error(ErrorCode::StoreInDoubt, error.what());
    }
}

}  // namespace ebb::sqlite
