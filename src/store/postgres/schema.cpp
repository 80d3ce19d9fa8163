#include "store/postgres/schema.h"

#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "ebb/postgres/admin_sql.h"
#include "ebb/postgres/migrations.h"
#include "ebb/postgres/roles.h"
#include "ebb/postgres/sql.h"
#include "store/agreement.h"
#include "store/postgres/partitions.h"
#include "store/postgres/sql_error.h"

namespace ebb::postgres {

namespace {

constexpr int kNewest = migrations::kAll.back().number;
/// How many times another process may win the race to migrate.
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
                "Migration {} ({}) of the {} does not match this program: it was made by "
                "another edition of ebb and cannot be used with this one.",
                number,
                rows.text(row, 1),
                place(connection)
            )
        );
    }
}

/// The rows of the applied migrations by number, including newer ones. Empty if there is no schema.
std::optional<Result> applied_migrations(Connection& connection) {
    const Arguments schema = Arguments::of(connection.settings().schema);
    if (connection.run(sql::has_migrations, schema).integer(0, 0) == 0) return {};
    Result rows = connection.run(sql::list_migrations, {});
    for (int row = 0; row < rows.rows(); ++row) {
        check_checksum(connection, static_cast<int>(rows.integer(row, 0)), rows, row);
    }
    return rows;
}

/// Whether this program can work with the changes that newer programs made to the schema.
bool are_compatible(const Result& rows) {
    for (int row = 0; row < rows.rows(); ++row) {
        if (rows.integer(row, 0) <= kNewest) continue;
        if (rows.is_null(row, 4) || rows.integer(row, 4) > kNewest) return false;
    }
    return true;
}

/// The number of the newest applied migration that this program knows. Migrations that it does not
/// know must be compatible with it. 0 if there is no schema.
int applied_version(Connection& connection) {
    const auto rows = applied_migrations(connection);
    if (!rows || rows->is_empty()) return 0;
    const int version = static_cast<int>(rows->integer(rows->rows() - 1, 0));
    if (version <= kNewest) return version;
    if (are_compatible(*rows)) return kNewest;
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

/// Rolls back unless it was committed.
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
            // The connection is gone, and the transaction with it.
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
    // Skipped if the schema exists: creating it needs more privileges than using it.
    const Arguments schema = Arguments::of(connection.settings().schema);
    const bool has_schema = connection.run(sql::has_schema, schema).integer(0, 0) != 0;
    if (connection.run(sql::has_compatible_with, schema).integer(0, 0) != 0) return;
    Transaction transaction(connection);
    if (!has_schema) connection.execute(sql::create_schema);
    connection.execute(sql::create_migrations);
    transaction.commit();
}

void apply(
    Connection& connection, const migrations::Migration& next, std::optional<TimePoint> now
) {
    Transaction transaction(connection);
    Arguments row =
        Arguments::of(std::int32_t{next.number}, next.name, migration_checksum(next.sql), now);
    if (const auto compatible = compatible_with(next.sql)) {
        row.add(std::int32_t{*compatible});
    } else {
        row.add_null();
    }
    connection.run(sql::add_migration, row);
    connection.execute(next.sql);
    transaction.commit();
}

void migrate_once(Connection& connection, std::optional<TimePoint> now) {
    make_migrations_table(connection);
    const int applied = applied_version(connection);
    for (const migrations::Migration& next : migrations::kAll) {
        if (next.number > applied) apply(connection, next, now);
    }
}

void replace(std::string& text, std::string_view parameter, std::string_view value) {
    text.replace(text.find(parameter), parameter.size(), value);
}

std::string quoted(std::string_view text) {
    return fmt::format("'{}'", text);
}

/// For psql, if no migration has been applied yet, or all but this one.
std::string script_of(const Settings& settings, const migrations::Migration& migration) {
    std::string add(sql::add_migration);
    replace(add, "$1", std::to_string(migration.number));
    replace(add, "$2", postgres::quoted(migration.name));
    replace(add, "$3", postgres::quoted(migration_checksum(migration.sql)));
    replace(add, "$4", "NULL");
    const auto compatible = compatible_with(migration.sql);
    replace(add, "$5", compatible ? std::to_string(*compatible) : "NULL");
    return settings.in_schema(fmt::format(
        "-- {:04} {}\n{}\n\n{}\n\n{}\n\n{}\n\n{}\n{}\n",
        migration.number,
        migration.name,
        sql::begin_migration,
        sql::create_schema,
        sql::create_migrations,
        add,
        migration.sql,
        sql::commit_migration
    ));
}

}  // namespace

bool is_collision(const SqlError& error) {
    const std::string& state = error.sqlstate();
    return error.is_duplicate() || error.is_lost_race() || state == "42P06" || state == "42P07" ||
           state == "42710" || state == "XX000";
}

std::string migration_checksum(std::string_view sql) {
    // FNV-1a: the hash only has to detect accidents, and it must never change.
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char c : sql) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 1099511628211ULL;
    }
    return fmt::format("{:016x}", hash);
}

namespace {

[[noreturn]] void throw_may_not_migrate(
    const Connection& connection, int applied, const SqlError& error
) {
    const std::string found = applied == 0
                                  ? fmt::format("There is no Ebb in the {}", place(connection))
                                  : fmt::format(
                                        "The {} has version {}, and this program needs {}",
                                        place(connection),
                                        applied,
                                        kNewest
                                    );
    throw Error(
        ErrorCode::StoreDenied,
        fmt::format(
            "{}; this user may not change that. Run `ebb migrate` as the owner of the schema. {}",
            found,
            error.what()
        )
    );
}

}  // namespace

void migrate(Connection& connection, std::optional<TimePoint> now) {
    // As long as other processes make progress, each of their migrations may cost one try.
    int before = -1;
    for (int tries = 1;; ++tries) {
        const int applied = applied_version(connection);
        if (applied == kNewest) return remove_broken_promises(connection);
        if (std::exchange(before, applied) != applied) tries = 1;
        try {
            return migrate_once(connection, now);
        } catch (const SqlError& error) {
            if (error.is_denied()) throw_may_not_migrate(connection, applied, error);
            if (tries == kTriesMax || !is_collision(error)) throw;
        }
    }
}

std::vector<Migration> list_migrations(Connection& connection) {
    std::vector<Migration> all;
    for (const migrations::Migration& known : migrations::kAll) {
        all.push_back(
            {.number = known.number,
             .name = std::string(known.name),
             .script = script_of(connection.settings(), known)}
        );
    }
    const auto rows = applied_migrations(connection);
    for (int row = 0; rows && row < rows->rows(); ++row) {
        const int number = static_cast<int>(rows->integer(row, 0));
        if (number > kNewest) {
            all.push_back(
                {.number = number,
                 .name = std::string(rows->text(row, 1)),
                 .is_applied = true,
                 .is_known = false,
                 .applied_at = rows->time(row, 3),
                 .script = {}}
            );
        }
        for (Migration& migration : all) {
            if (migration.number != number) continue;
            migration.is_applied = true;
            migration.applied_at = rows->time(row, 3);
        }
    }
    return all;
}

void check_schema(Connection& connection) {
    const int version = applied_version(connection);
    if (version == kNewest) return;
    if (version == 0) {
        throw Error(
            ErrorCode::StoreVersion,
            fmt::format(
                "There is no Ebb in the {}. `ebb migrate`, `ebb start FILE`, `ebb run FILE`, "
                "`ebb worker` and `ebb serve` make its tables.",
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

void check_rights(Connection& connection) {
    const Arguments schema = Arguments::of(connection.settings().schema);
    const Result rows = connection.run(sql::missing_rights, schema);
    if (const std::string_view grants = rows.text(0, 1); !grants.empty()) {
        throw Error(
            ErrorCode::StoreDenied,
            fmt::format(
                "The user \"{}\" may not do all that a worker must in the {}. The owner of its "
                "tables can give what is missing: {} (`ebb migrate --grants` prints all that each "
                "role needs.)",
                rows.text(0, 0),
                place(connection),
                grants
            )
        );
    }
    check_schema(connection);
}

}  // namespace ebb::postgres

namespace ebb {

std::vector<Migration> postgres_migrations(const PostgresOptions& options) {
    const postgres::Settings settings = postgres::read_settings(options);
    postgres::Connection connection(settings);
    return postgres::list_migrations(connection);
}

namespace {

std::string_view without_semicolon(std::string_view sql) {
    while (!sql.empty() && (sql.back() == ';' || sql.back() == '\n')) sql.remove_suffix(1);
    return sql;
}

}  // namespace

std::string postgres_grants(const PostgresOptions& options) {
    const postgres::Settings settings = postgres::read_settings(options);
    std::string text = settings.in_schema(fmt::format(
        "{}\n\n{};\n\n{};\n\n{};\n\n{}",
        postgres::roles::grants,
        without_semicolon(postgres::admin_sql::make_admin),
        without_semicolon(postgres::admin_sql::make_audit),
        without_semicolon(postgres::admin_sql::index_audit),
        postgres::roles::server
    ));
    constexpr std::string_view kSchema = "SCHEMA ebb ";
    for (auto at = text.find(kSchema); at != std::string::npos; at = text.find(kSchema, at + 1)) {
        text.replace(at, kSchema.size(), fmt::format("SCHEMA \"{}\" ", settings.schema));
    }
    return text + "\n";
}

void migrate_postgres(const PostgresOptions& options) {
    const postgres::Settings settings = postgres::read_settings(options);
    postgres::Connection connection(settings);
    postgres::migrate(connection, std::nullopt);
}

}  // namespace ebb
