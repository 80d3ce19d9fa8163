#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <variant>
#include <vector>

#include <sqlite3.h>

#include <ebb/time.h>

// A thin layer over SQLite's C interface: ownership, errors as ebb::Error, nothing else.

namespace ebb::sqlite {

/// One connection with its prepared statements. Used by one thread at a time.
class Database {
 public:
    enum class Access { ReadWrite, Read };

    /// Opens the file; ReadWrite makes it when it does not exist.
    Database(const std::string& path, Access access, int busy_timeout_ms);

    /// Works on a connection of the application and leaves it open; its path is that of `main`.
    explicit Database(sqlite3* borrowed);

    /// Runs any number of statements that return nothing. Not cached.
    void execute(std::string_view sql);
    /// The statement, prepared once per connection. `sql` must live as long as the connection does,
    /// as the constants of sql.h do.
    sqlite3_stmt* statement(std::string_view sql);

    /// The rows that the last statement changed.
    std::int64_t changes() const { return sqlite3_changes64(handle_.get()); }

    bool is_in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }

    sqlite3* handle() const { return handle_.get(); }

    const std::string& path() const { return path_; }

    /// What errors say that it was doing.
    std::string_view purpose() const { return access_ == Access::Read ? "reading" : "writing"; }

    /// Throws what SQLite's result `rc` means. `doing`: "reading", "writing", ...
    [[noreturn]] void fail(int rc, std::string_view doing) const;

 private:
    struct Close {
        Close() : is_borrowed(false) {}

        explicit Close(bool borrows) : is_borrowed(borrows) {}

        bool is_borrowed;

        void operator()(sqlite3* handle) const noexcept {
            if (!is_borrowed) sqlite3_close_v2(handle);
        }
    };

    struct Finalize {
        void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
    };

    std::string path_;
    Access access_;
    std::unique_ptr<sqlite3, Close> handle_;
    // Finalized before the connection closes: members die in reverse order.
    std::unordered_map<const char*, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
};

/// Binds as NULL when it is empty or zero, to keep rows small.
struct OrNull {
    explicit OrNull(std::string_view value) : text(value), is_text(true) {}

    explicit OrNull(std::int64_t value) : integer(value) {}

    explicit OrNull(TimePoint value) : integer(value.time_since_epoch().count()) {}

    std::string_view text;
    std::int64_t integer = 0;
    bool is_text = false;
};

/// A text that no constant of sql.h is, with its arguments. Not cached.
struct OneTimeStatement {
    std::string sql;
    std::vector<std::variant<std::string_view, double, std::int64_t>> arguments{};

    /// Valid as long as this is, which must outlive neither the connection nor its query.
    sqlite3_stmt* prepare(Database& database);

 private:
    std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_{nullptr, sqlite3_finalize};
};

/// One execution of a prepared statement: arguments ?1, ?2, ... in order. Texts are not copied and
/// must live until the query does not, so temporary strings do not compile.
class Query {
 public:
    template <class... Args>
    Query(Database& database, std::string_view sql, Args&&... args)
        : database_(database), statement_(database.statement(sql)) {
        static_assert(
            (... && !(std::is_same_v<Args, std::string>)), "a temporary string would dangle"
        );
        int index = 0;
        (bind(++index, args), ...);
    }

    /// Of a statement that is made for this one execution. Neither it nor its arguments are copied.
    Query(Database& database, OneTimeStatement& once)
        : database_(database), statement_(once.prepare(database)) {
        int index = 0;
        for (const auto& argument : once.arguments) {
            std::visit([&](const auto& value) { bind(++index, value); }, argument);
        }
    }

    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;

    ~Query() { sqlite3_reset(statement_); }

    /// Goes to the next row; false when there is none.
    bool step();
    /// Runs a statement without rows and returns how many it changed.
    std::int64_t run();

    bool is_null(int column) const {
        return sqlite3_column_type(statement_, column) == SQLITE_NULL;
    }

    std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }

    TimePoint time(int column) const { return TimePoint(Duration(integer(column))); }

    /// Valid until the next step.
    std::string_view text(int column) const;

 private:
    template <std::integral T>
    void bind(int index, T value) {
        check(sqlite3_bind_int64(statement_, index, static_cast<sqlite3_int64>(value)));
    }

    void bind(int index, std::nullptr_t) { check(sqlite3_bind_null(statement_, index)); }

    void bind(int index, TimePoint value) { bind(index, value.time_since_epoch().count()); }

    void bind(int index, std::string_view value);
    void bind(int index, const OrNull& value);

    template <std::floating_point T>
    void bind(int index, T value) {
        check(sqlite3_bind_double(statement_, index, value));
    }

    template <typename T>
    void bind(int index, const std::optional<T>& value) {
        if (value) {
            bind(index, *value);
        } else {
            bind(index, nullptr);
        }
    }

    void check(int rc) const;

    Database& database_;
    sqlite3_stmt* statement_;
};

/// A write transaction: rolled back unless it was committed.
class WriteTransaction {
 public:
    /// Waits for the write lock, at most the busy timeout. Throws StoreBusy after that.
    explicit WriteTransaction(Database& database);
    WriteTransaction(const WriteTransaction&) = delete;
    WriteTransaction& operator=(const WriteTransaction&) = delete;
    ~WriteTransaction();

    /// Durable when it returns. Throws StoreInDoubt when an I/O error leaves the outcome open.
    void commit();

 private:
    Database& database_;
};

}  // namespace ebb::sqlite
