#include "store/postgres/partitions.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "ebb/postgres/partition_sql.h"
#include "store/postgres/rule_columns.h"
#include "store/postgres/schema.h"
#include "store/postgres/sql_error.h"
#include "store/store.h"
#include "support/uuid.h"

namespace ebb::postgres {

namespace {

constexpr std::string_view kTables[] = {"instances", "history"};
constexpr int kWithdrawalsMax = 6;
constexpr int kDivisionsMax = 5;

/// What the places of a text in braces stand for.
using Values = std::map<std::string_view, std::string>;

std::string filled(std::string_view text, const Values& values) {
    std::string result(text);
    for (const auto& [name, value] : values) {
        const std::string place = fmt::format("{{{}}}", name);
        for (auto at = result.find(place); at != std::string::npos;
             at = result.find(place, at + value.size())) {
            result.replace(at, place.size(), value);
        }
    }
    return result + "\n";
}

std::string column_of(std::string_view table) {
    return table == "instances" ? "id" : "instance_id";
}

/// What was begun ends, unless it has been committed.
class Attempt {
 public:
    Attempt(Connection& connection, std::string_view begin) : connection_(connection) {
        try {
            connection_.execute(begin);
        } catch (...) {
            give_up();
            throw;
        }
    }

    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;

    ~Attempt() {
        if (!is_committed_) give_up();
    }

    void commit() {
        connection_.execute(partition_sql::end_exchange);
        is_committed_ = true;
    }

 private:
    void give_up() noexcept {
        try {
            connection_.execute(partition_sql::give_up);
        } catch (const Error&) {
            // The connection is gone, and with it the transaction.
            return;
        }
    }

    Connection& connection_;
    bool is_committed_ = false;
};

/// Another session does the same or holds a lock; a later attempt will do it.
bool is_put_off(const SqlError& error) {
    return is_collision(error) || error.sqlstate() == "55P03" || error.sqlstate() == "42P17";
}

TimePoint time_now(Connection& connection, std::optional<TimePoint> now) {
    return connection.run(partition_sql::now, Arguments::of(now)).time(0, 0);
}

TimePoint time_of(const InstanceId& id) {
    std::int64_t millis = 0;
    for (std::size_t i = 0; i < 6; ++i) millis = (millis << 8) | id.bytes[i];
    return TimePoint(std::chrono::milliseconds(millis));
}

struct Partitioning {
    PartitionPeriod period = PartitionPeriod::Month;
    bool may_change = false;
};

std::optional<Partitioning> find_partitioning(Connection& connection) {
    const Result rows = connection.run(partition_sql::partitioning, {});
    if (rows.is_empty()) return std::nullopt;
    Partitioning found{.may_change = rows.boolean(0, 1)};
    for (const auto period : {PartitionPeriod::Day, PartitionPeriod::Week}) {
        if (rows.text(0, 0) == to_string(period)) found.period = period;
    }
    return found;
}

/// What a table is made of, by kind: name and text.
using Description = std::multimap<std::string, std::pair<std::string, std::string>>;

Description describe(Connection& connection, const std::string& table) {
    const std::string name = connection.settings().in_schema("ebb." + table);
    const Result rows = connection.run(partition_sql::describe_table, Arguments::of(name));
    Description description;
    for (int row = 0; row < rows.rows(); ++row) {
        description.emplace(
            rows.text(row, 0), std::pair(std::string(rows.text(row, 1)), rows.text(row, 2))
        );
    }
    return description;
}

std::string options_of(const Description& description) {
    const auto options = description.find("options");
    if (options == description.end()) return {};
    return fmt::format("WITH ({})", options->second.second);
}

/// What makes a partitioned table of one that is not, under its name.
std::string exchange_of(const Description& description, std::string_view table) {
    Values values{{"table", std::string(table)}, {"column", column_of(table)}};
    std::string script;
    std::string after;
    for (const auto& [kind, what] : description) {
        const auto& [name, text] = what;
        if (kind == "key") values["key"] = text;
        if (kind == "key" || kind == "index") {
            script += filled(partition_sql::rename_index, {{"name", name}});
        }
        if (kind == "index" || kind == "grant") after += text + ";\n";
    }
    values["options"] = options_of(description);
    script += filled(partition_sql::rename_table, values);
    return script + filled(partition_sql::make_parent, values) + after;
}

/// Views know tables, not names: they are to look into the new ones.
std::string views_of(Connection& connection) {
    const Result rows = connection.run(partition_sql::describe_views, {});
    std::string script;
    for (int row = 0; row < rows.rows(); ++row) {
        script += filled(
            partition_sql::replace_view,
            {{"name", std::string(rows.text(row, 0))}, {"text", std::string(rows.text(row, 1))}}
        );
    }
    return script;
}

/// Takes the bound away that a session which is gone, or this one (`session`), has left on the
/// tables. False if other sessions use them all the time.
bool withdraw_promises(Connection& connection, const std::string& session) {
    for (int tries = 0; tries < kWithdrawalsMax; ++tries) {
        const Arguments own = Arguments::of(session);
        const Result tables = connection.run(partition_sql::broken_promises, own);
        if (tables.is_empty()) return true;
        try {
            Attempt attempt(connection, partition_sql::begin_withdrawal);
            for (int row = 0; row < tables.rows(); ++row) {
                const Values values{{"table", std::string(tables.text(row, 0))}};
                connection.execute(filled(partition_sql::withdraw_promise, values));
            }
            attempt.commit();
            return true;
        } catch (const SqlError& error) {
            if (!is_put_off(error)) throw;
        }
    }
    return false;
}

/// The promise that there is nothing beyond the bound, checked while other sessions continue. It
/// holds for them, too, so it is withdrawn unless it is kept by an exchange.
class Promise {
 public:
    Promise(Connection& connection, const std::string& bound)
        : connection_(connection), session_(connection.run(partition_sql::session, {}).text(0, 0)) {
        try {
            make(bound);
        } catch (...) {
            withdraw();
            throw;
        }
    }

    Promise(const Promise&) = delete;
    Promise& operator=(const Promise&) = delete;

    ~Promise() { withdraw(); }

    /// In the transaction of the exchange: false if another session has removed it.
    bool is_there() const {
        const Arguments own = Arguments::of(session_);
        return connection_.run(partition_sql::count_promises, own).integer(0, 0) == 2;
    }

 private:
    void make(const std::string& bound) {
        std::string script;
        for (const std::string_view table : kTables) {
            const Values values{
                {"table", std::string(table)},
                {"column", column_of(table)},
                {"bound", bound},
                {"session", session_}
            };
            script += filled(partition_sql::bound_table, values);
        }
        {
            Attempt attempt(connection_, partition_sql::begin_exchange);
            if (find_partitioning(connection_)) return;
            connection_.execute(script);
            attempt.commit();
        }
        for (const std::string_view table : kTables) {
            const Values values{{"table", std::string(table)}};
            try {
                connection_.execute(filled(partition_sql::check_bound, values));
            } catch (const SqlError& error) {
                // Another session was faster, and it is gone.
                if (error.sqlstate() != "42704" && !error.is_lost_race()) throw;
            }
        }
    }

    void withdraw() noexcept {
        try {
            withdraw_promises(connection_, session_);
        } catch (const Error&) {
            // The connection is gone; the next `migrate` or sweep finds what it has left.
            return;
        }
    }

    Connection& connection_;
    const std::string session_;
};

/// False if the constraint is gone, so that other sessions would wait for a check of all rows.
bool exchange(
    Connection& connection, PartitionPeriod period, const std::string& bound, const Promise* promise
) {
    Attempt attempt(connection, partition_sql::begin_exchange);
    if (find_partitioning(connection)) return true;
    const bool is_empty = connection.run(partition_sql::greatest_id, {}).is_empty();
    if (!is_empty && (promise == nullptr || !promise->is_there())) return false;
    std::string script;
    for (const std::string_view table : kTables) {
        script += exchange_of(describe(connection, std::string(table)), table);
    }
    const std::string views = views_of(connection);
    connection.execute(script);
    connection.execute(views);
    for (const std::string_view table : kTables) {
        const auto last = is_empty ? partition_sql::drop_before : partition_sql::attach_before;
        connection.execute(filled(last, {{"table", std::string(table)}, {"bound", bound}}));
    }
    connection.execute(
        filled(partition_sql::note_partitioning, {{"period", std::string(to_string(period))}})
    );
    attempt.commit();
    return true;
}

/// Divides the tables once; false when it must be tried again.
bool divide(Connection& connection, PartitionPeriod period, TimePoint time) {
    // While it is checked, no row may get beyond it.
    TimePoint latest = time + std::chrono::days(1);
    const Result greatest = connection.run(partition_sql::greatest_id, {});
    if (!greatest.is_empty()) latest = std::max(latest, time_of(greatest.id(0, 0)));
    const std::string bound = lowest_id_of(period_end(period, latest)).to_string();
    if (greatest.is_empty()) return exchange(connection, period, bound, nullptr);
    const Promise promise(connection, bound);
    return exchange(connection, period, bound, &promise);
}

bool attach(Connection& connection, const Partition& partition) {
    try {
        Attempt attempt(connection, partition_sql::begin_attaching);
        for (const std::string_view table : kTables) {
            const std::string sibling = fmt::format("{}_default", table);
            connection.execute(filled(
                partition_sql::attach_partition,
                {{"table", std::string(table)},
                 {"name", partition.name},
                 {"options", options_of(describe(connection, sibling))},
                 {"from", partition.from.to_string()},
                 {"to", partition.to.to_string()}}
            ));
        }
        attempt.commit();
        return true;
    } catch (const SqlError& error) {
        // What belongs there is in the default partition already, and stays there.
        const bool is_taken = error.sqlstate() == "23514";
        if (!is_taken && !is_put_off(error)) throw;
        return false;
    }
}

std::vector<std::string> make_ahead(Connection& connection, PartitionPeriod period, TimePoint now) {
    const std::vector<Partition> present = list_partitions(connection);
    TimePoint start = period_start(period, now);
    if (!present.empty()) start = std::max(start, time_of(present.back().to));
    std::vector<std::string> made;
    while (start <= now + made_ahead(period)) {
        const TimePoint end = period_end(period, start);
        const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(start));
        const Partition next{
            .name = fmt::format(
                "p{:04}{:02}{:02}",
                static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day())
            ),
            .from = lowest_id_of(start),
            .to = lowest_id_of(end),
        };
        if (attach(connection, next)) made.push_back(next.name);
        start = end;
    }
    return made;
}

bool has_young_ones(
    Connection& connection,
    const Partition& partition,
    std::span<const RetentionRule> rules,
    TimePoint now
) {
    const RuleColumns columns(rules);
    Arguments arguments = Arguments::of(partition.from, partition.to);
    columns.append_to(arguments);
    arguments.add(now);
    return connection.run(partition_sql::has_young_ones, arguments).boolean(0, 0);
}

bool drop(Connection& connection, const Partition& partition) {
    try {
        Attempt attempt(connection, partition_sql::begin_dropping);
        const Arguments range = Arguments::of(partition.from, partition.to);
        for (const auto statement :
             {partition_sql::free_keys,
              partition_sql::free_waits,
              partition_sql::free_failures,
              partition_sql::free_labels,
              partition_sql::free_mail,
              partition_sql::free_wakes}) {
            connection.run(statement, range);
        }
        connection.execute(filled(partition_sql::drop_partition, {{"name", partition.name}}));
        attempt.commit();
        return true;
    } catch (const SqlError& error) {
        const bool is_alive = error.sqlstate() == "22012";
        const bool is_gone = error.sqlstate() == "42P01";
        if (!is_alive && !is_gone && !is_put_off(error)) throw;
        return false;
    }
}

std::vector<std::string> drop_old(
    Connection& connection, std::span<const RetentionRule> rules, TimePoint now
) {
    std::vector<std::string> dropped;
    const std::optional<Duration> kept = shortest(rules);
    if (!kept) return dropped;
    for (const Partition& partition : list_partitions(connection)) {
        if (time_of(partition.to) > now - *kept) break;
        if (has_young_ones(connection, partition, rules, now)) continue;
        if (drop(connection, partition)) dropped.push_back(partition.name);
    }
    return dropped;
}

}  // namespace

std::vector<Partition> list_partitions(Connection& connection) {
    const Result rows = connection.run(partition_sql::list_partitions, {});
    std::vector<Partition> partitions;
    for (int row = 0; row < rows.rows(); ++row) {
        partitions.push_back({.name = std::string(rows.text(row, 0)), .to = rows.id(row, 2)});
        if (!rows.is_null(row, 1)) partitions.back().from = rows.id(row, 1);
    }
    return partitions;
}

bool partition(Connection& connection, PartitionPeriod period, std::optional<TimePoint> now) {
    if (find_partitioning(connection)) {
        const Arguments name = Arguments::of(to_string(period));
        return connection.run(partition_sql::change_period, name).changed() > 0;
    }
    const TimePoint time = time_now(connection, now);
    for (int tries = 1; !divide(connection, period, time); ++tries) {
        if (tries < kDivisionsMax) continue;
        throw Error(
            ErrorCode::StoreBusy,
            "The tables cannot be partitioned now: another session is partitioning them, or is "
            "removing the constraint that must be checked first. Try again."
        );
    }
    make_ahead(connection, period, time);
    return true;
}

void remove_broken_promises(Connection& connection) {
    withdraw_promises(connection, {});
}

std::optional<PartitionView> view_partitions(Connection& connection, std::optional<TimePoint> now) {
    const auto present = find_partitioning(connection);
    if (!present) return std::nullopt;
    return PartitionView{
        .period = std::string(to_string(present->period)),
        .current_ends = period_end(present->period, time_now(connection, now)),
    };
}

HousekeepingResult housekeep(
    Connection& connection, std::span<const RetentionRule> rules, std::optional<TimePoint> now
) {
    const auto present = find_partitioning(connection);
    if (!present) remove_broken_promises(connection);
    if (!present || !present->may_change) return {};
    const TimePoint time = time_now(connection, now);
    return {
        .made = make_ahead(connection, present->period, time),
        .dropped = drop_old(connection, rules, time),
    };
}

}  // namespace ebb::postgres

namespace ebb {

bool partition_postgres(const PostgresOptions& options, PartitionPeriod period) {
    const postgres::Settings settings = postgres::read_settings(options);
    postgres::Connection connection(settings);
    return postgres::partition(connection, period, std::nullopt);
}

HousekeepingResult housekeep_postgres(const PostgresOptions& options) {
    const StorePtr store = open_postgres_store(options);
    return store->housekeep(store->retention());
}

}  // namespace ebb
