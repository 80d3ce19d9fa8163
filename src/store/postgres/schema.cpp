#include "store/postgres/schema.h"

#include <cstdint>

#include <fmt/format.h>

#include "ebb/postgres/migrations.h"
#include "ebb/postgres/sql.h"
#include "store/postgres/sql_error.h"

namespace ebb::postgres {

namespace {

constexpr int kNewest = migrations::kAll.back().number;
/// How often another process may be first.
constexpr int kTriesMax = 10;

std::string place(const Connection& connection) {
    return fmt::format(
        "schema {} of {}", connection.settings().schema, connection.settings().target()
    );
}

void check_checksum(const Connection& connection, int number, const Result& rows, int row) {
    for (const migrations::Migration& known : migrations::kAll) {
        if (known.number != number || rows.text(row, 2) == migration_checksum(known.sql)) continue;
        throw Error(
            ErrorCode::StoreVersion,
            fmt::format(
                "Migration {} ({}) of the {} is not the one of this program: it was made by "
                "another edition of ebb and cannot be used with this one.",
                number,
                rows.text(row, 1),
                place(connection)
            )
        );
    }
}

/// The number of the newest migration that was applied; 0 where there is no schema.
int applied_version(Connection& connection) {
    const Arguments schema = Arguments::of(connection.settings().schema);
    if (connection.run(sql::has_migrations, schema).integer(0, 0) == 0) return 0;
    const Result rows = connection.run(sql::list_migrations, {});
    int version = 0;
    for (int row = 0; row < rows.rows(); ++row) {
        version = static_cast<int>(rows.integer(row, 0));
        if (version > kNewest) {
            throw Error(
                ErrorCode::StoreVersion,
                fmt::format(
                    "The {} has version {}, but this program knows only up to {}. Use a newer ebb.",
                    place(connection),
                    version,
                    kNewest
                )
            );
        }
        check_checksum(connection, version, rows, row);
    }
    return version;
}

/// Rolled back unless it was committed.
class Transaction {
 public:
    explicit Transaction(Connection& connection) : connection_(connection) {
        connection_.execute(sql::begin_migration);
    }

    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    ~Transaction() {
        if (is_committed_) return;
        try {
            connection_.execute(sql::rollback_migration);
        } catch (const Error&) {
            // The connection is gone, and with it the transaction.
            return;
        }
    }

    void commit() {
        connection_.execute(sql::commit_migration);
        is_committed_ = true;
    }

 private:
    Connection& connection_;
    bool is_committed_ = false;
};

void make_migrations_table(Connection& connection) {
    // Not for those who may only use it: creating asks for more privileges than there is need of.
    const Arguments schema = Arguments::of(connection.settings().schema);
    if (connection.run(sql::has_schema, schema).integer(0, 0) == 0) {
        connection.execute(sql::create_schema);
    }
    if (connection.run(sql::has_migrations, schema).integer(0, 0) == 0) {
        connection.execute(sql::create_migrations);
    }
}

void apply(
    Connection& connection, const migrations::Migration& next, std::optional<TimePoint> now
) {
    Transaction transaction(connection);
    const Arguments row =
        Arguments::of(std::int32_t{next.number}, next.name, migration_checksum(next.sql), now);
    connection.run(sql::add_migration, row);
    connection.execute(next.sql);
    transaction.commit();
}

/// Somebody else was about to make the same thing.
bool is_collision(const SqlError& error) {
    const std::string& state = error.sqlstate();
    return error.is_duplicate() || error.is_lost_race() || state == "42P06" || state == "42P07" ||
           state == "42710" || state == "XX000";
}

void migrate_once(Connection& connection, std::optional<TimePoint> now) {
    make_migrations_table(connection);
    const int applied = applied_version(connection);
    for (const migrations::Migration& next : migrations::kAll) {
        if (next.number > applied) apply(connection, next, now);
    }
}

}  // namespace

std::string migration_checksum(std::string_view sql) {
    // FNV-1a: it must only notice accidents, and never change.
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char c : sql) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 1099511628211ULL;
    }
    return fmt::format("{:016x}", hash);
}

void migrate(Connection& connection, std::optional<TimePoint> now) {
    for (int tries = 1;; ++tries) {
        if (applied_version(connection) == kNewest) return;
        try {
            return migrate_once(connection, now);
        } catch (const SqlError& error) {
            if (tries == kTriesMax || !is_collision(error)) throw;
        }
    }
}

void check_schema(Connection& connection) {
    const int version = applied_version(connection);
    if (version == kNewest) return;
    if (version == 0) {
        throw Error(
            ErrorCode::StoreVersion,
            fmt::format(
                "There is no Ebb in the {}. `ebb migrate`, `ebb start FILE`, `ebb run FILE` and "
                "`ebb worker` make its tables.",
                place(connection)
            )
        );
    }
    throw Error(
        ErrorCode::StoreVersion,
        fmt::format(
            "The {} has version {}, and this program needs {}. Run `ebb migrate`, or open the "
            "store "
            "with migrations on.",
            place(connection),
            version,
            kNewest
        )
    );
}

}  // namespace ebb::postgres
