// `ebb migrate`: the schema of the database.

#include <algorithm>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/table.h"
#include "cli/text.h"
#include "store/migrations.h"
#include "view/payload_json.h"

namespace ebb::cli {

namespace {

std::vector<Migration> read_migrations(const StoreUrl& url) {
    if (url.kind == StoreUrl::Kind::Postgres) return postgres_migrations({.url = url.path});
    return sqlite_migrations({.path = url.path});
}

void apply_migrations(const std::string& text, const StoreUrl& url) {
    if (url.kind == StoreUrl::Kind::Postgres) {
        migrate_postgres({.url = url.path, .application_name = "ebb migrate"});
    } else {
        open_store(text, OpenMode::MayCreate);
    }
}

nlohmann::ordered_json migrations_json(
    const std::vector<Migration>& migrations, bool with_scripts
) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Migration& migration : migrations) {
        json.push_back({
            {"number", migration.number},
            {"name", migration.name},
            {"applied_at", view::time_json(migration.applied_at)},
        });
        if (!migration.is_known) json.back()["is_known"] = false;
        if (with_scripts) json.back()["script"] = migration.script;
    }
    return json;
}

void print_status(Session& session, const std::vector<Migration>& migrations) {
    const Style& style = session.out();
    Table table({style.dim("NUMBER"), style.dim("NAME"), style.dim("APPLIED")});
    for (const Migration& migration : migrations) {
        table.add({
            fmt::format("{:04}", migration.number),
            migration.name,
            (migration.is_applied ? short_time(migration.applied_at) : "not yet") +
                std::string(migration.is_known ? "" : "  by a newer ebb"),
        });
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
}

bool is_unknown(const Migration& migration) {
    return !migration.is_known;
}

/// If a newer program has migrated the schema, none of the other commands would work.
[[noreturn]] void throw_newer(const std::vector<Migration>& migrations) {
    const Migration& newest = migrations.back();
    const auto known = std::find_if_not(migrations.rbegin(), migrations.rend(), is_unknown);
    throw Error(
        ErrorCode::StoreVersion,
        fmt::format(
            "The schema has version {:04} ({}), but this program knows only up to {:04}: a newer "
            "ebb has migrated it. Use that one, or any whose `ebb migrate --status` knows {:04}.",
            newest.number,
            newest.name,
            known == migrations.rend() ? 0 : known->number,
            newest.number
        )
    );
}

int tell_status(Session& session, const std::vector<Migration>& migrations) {
    if (session.options().is_json) {
        session.print_json(migrations_json(migrations, false));
    } else {
        print_status(session, migrations);
    }
    if (std::any_of(migrations.begin(), migrations.end(), is_unknown)) throw_newer(migrations);
    return kOk;
}

void print_scripts(Session& session, const std::vector<Migration>& migrations) {
    std::string text;
    for (const Migration& migration : migrations) {
        if (!text.empty()) text += '\n';
        text += migration.script;
    }
    session.print(text);
}

}  // namespace

namespace {

int print_grants(Session& session, const StoreUrl& url) {
    if (url.kind != StoreUrl::Kind::Postgres) {
        throw Error(
            ErrorCode::InvalidArgument,
            "Only PostgreSQL has roles: --grants needs a database postgresql://..."
        );
    }
    const std::string grants = postgres_grants({.url = url.path});
    if (session.options().is_json) {
        session.print_json({{"grants", grants}});
    } else {
        session.print(grants);
    }
    return kOk;
}

}  // namespace

namespace {

PartitionPeriod period_of(const std::string& name) {
    if (name == "day") return PartitionPeriod::Day;
    return name == "week" ? PartitionPeriod::Week : PartitionPeriod::Month;
}

/// The changes to the partitions.
struct Partitions {
    std::string period{};  ///< the requested one; empty = none
    bool is_new = false;
    HousekeepingResult done{};
};

/// Partitions the tables on request, and maintains existing partitions.
Partitions look_after_partitions(const StoreUrl& url, const std::string& period) {
    Partitions partitions{.period = period};
    if (url.kind != StoreUrl::Kind::Postgres) return partitions;
    const PostgresOptions options{.url = url.path, .application_name = "ebb migrate"};
    if (!period.empty()) partitions.is_new = partition_postgres(options, period_of(period));
    partitions.done = housekeep_postgres(options);
    return partitions;
}

void tell_partitions(Session& session, const Partitions& partitions) {
    if (!partitions.period.empty()) {
        session.note(fmt::format(
            "Instances and their histories are {} by {}.\n",
            partitions.is_new ? "now partitioned" : "already partitioned",
            partitions.period
        ));
    }
    for (const std::string& name : partitions.done.made) {
        session.note(fmt::format("Created the partition {}.\n", name));
    }
    for (const std::string& name : partitions.done.dropped) {
        session.note(fmt::format("Dropped the partition {}.\n", name));
    }
}

/// The migrations that were or would be applied.
void report(Session& session, const std::vector<Migration>& migrations, bool only_printed) {
    if (migrations.empty()) {
        session.note("The schema is up to date.\n");
    } else if (only_printed) {
        print_scripts(session, migrations);
    } else {
        for (const Migration& migration : migrations) {
            session.print(fmt::format("Applied {:04} {}\n", migration.number, migration.name));
        }
    }
}

/// An array of migrations, or, if partitions were requested, an object that contains it.
void report_json(
    Session& session,
    const std::vector<Migration>& migrations,
    bool only_printed,
    const Partitions& partitions
) {
    nlohmann::ordered_json json = migrations_json(migrations, only_printed);
    if (partitions.period.empty()) return session.print_json(json);
    session.print_json({
        {"migrations", std::move(json)},
        {"partitioned_by", partitions.period},
        {"is_new", partitions.is_new},
        {"made", partitions.done.made},
        {"dropped", partitions.done.dropped},
    });
}

void tell_sql_workers(Session& session, const StoreUrl& url, bool only_printed) {
    if (only_printed) {
        session.print(postgres_sql_workers({.url = url.path}));
    } else {
        session.note("The functions for workers in SQL are installed.\n");
    }
}

void tell_rules_sql(Session& session, const StoreUrl& url, bool only_printed) {
    if (only_printed) {
        session.print(postgres_rules_sql({.url = url.path}));
    } else {
        session.note("The functions for rules in SQL are installed.\n");
    }
}

/// The one for rules needs those for workers.
bool wants_sql_workers(const MigrateOptions& options) {
    return options.with_sql_workers || options.with_rules_sql;
}

void install_functions(const MigrateOptions& options, const StoreUrl& url) {
    const PostgresOptions database{.url = url.path, .application_name = "ebb migrate"};
    if (wants_sql_workers(options)) install_sql_workers(database);
    if (options.with_rules_sql) install_rules_sql(database);
}

void check_wishes(const MigrateOptions& options, const StoreUrl& url) {
    if (options.only_status + options.only_print + options.only_grants > 1) {
        throw Error(
            ErrorCode::InvalidArgument, "Only one of --status, --print and --grants can be given."
        );
    }
    const char* flag = options.with_rules_sql ? "--rules-sql" : "--sql-workers";
    if (wants_sql_workers(options) && (options.only_status || options.only_grants)) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "{} cannot be given with --status or --grants; with --print it is printed.", flag
            )
        );
    }
    if (wants_sql_workers(options) && url.kind != StoreUrl::Kind::Postgres) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "Only PostgreSQL has {} in SQL: {} needs a database postgresql://...",
                options.with_rules_sql ? "rules" : "workers",
                flag
            )
        );
    }
    if (options.partition_by.empty()) return;
    if (options.only_status || options.only_print || options.only_grants) {
        throw Error(
            ErrorCode::InvalidArgument,
            "--partition-by changes the tables: it cannot be given with --status, --print or "
            "--grants."
        );
    }
    if (url.kind == StoreUrl::Kind::Postgres) return;
    throw Error(
        ErrorCode::InvalidArgument,
        "Only PostgreSQL has partitions: --partition-by needs a database postgresql://..."
    );
}

}  // namespace

int migrate_database(Session& session, const MigrateOptions& options) {
    session.require_database("migrate");
    const StoreUrl url = parse_store_url(session.options().db);
    check_wishes(options, url);
    if (options.only_grants) return print_grants(session, url);
    std::vector<Migration> migrations = read_migrations(url);
    if (options.only_status) return tell_status(session, migrations);
    if (std::any_of(migrations.begin(), migrations.end(), is_unknown)) throw_newer(migrations);
    const bool is_current = std::all_of(
        migrations.begin(), migrations.end(), [](const Migration& m) { return m.is_applied; }
    );
    std::vector<int> missing;
    for (const Migration& migration : migrations) {
        if (!migration.is_applied) missing.push_back(migration.number);
    }
    if (!options.only_print && !is_current) {
        apply_migrations(session.options().db, url);
        migrations = read_migrations(url);
    }
    if (!options.only_print) install_functions(options, url);
    std::erase_if(migrations, [&](const Migration& migration) {
        return std::find(missing.begin(), missing.end(), migration.number) == missing.end();
    });
    if (session.options().is_json) {
        Partitions partitions;
        if (!options.only_print) partitions = look_after_partitions(url, options.partition_by);
        report_json(session, migrations, options.only_print, partitions);
        return kOk;
    }
    // The applied migrations are printed even if the partitions fail.
    report(session, migrations, options.only_print);
    if (wants_sql_workers(options)) tell_sql_workers(session, url, options.only_print);
    if (options.with_rules_sql) tell_rules_sql(session, url, options.only_print);
    if (!options.only_print) {
        tell_partitions(session, look_after_partitions(url, options.partition_by));
    }
    return kOk;
}

}  // namespace ebb::cli
