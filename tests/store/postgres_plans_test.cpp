// Goal: no statement of the hot paths reads a whole table, whatever the server knew when it
// planned. Method: every statement's generic plan, as the store's sessions make it on empty tables
// and with a million rows in them, and the plan for values that a pooler's session, without their
// settings, makes on full ones.

#include <filesystem>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "store/conformance.h"
#include "store/migrations.h"
#include "store/postgres/connection.h"
#include "store/postgres/postgres_store.h"
#include "support/postgres_server.h"
#include "support/store_sql.h"

namespace ebb::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kRows = 1'000'000;

/// Statements that may read whole tables: they are asked for by people, now and then.
bool is_hot(const std::string& name, const std::string& sql) {
    if (sql.find("SELECT") == std::string::npos && sql.find("UPDATE") == std::string::npos &&
        sql.find("DELETE") == std::string::npos) {
        return false;
    }
    return name != "count_instances" && name != "count_versions" && name != "unserved_tasks" &&
           name != "tasks_by_queue" && name != "count_leases";
}

class PostgresPlans : public ::testing::Test {
 protected:
    PostgresPlans() {
        settings_ = postgres::read_settings({.url = postgres_server().url()});
        settings_.schema = fresh_schema();
        make_postgres_store({.url = postgres_server().url(), .schema = settings_.schema}, clock_);
    }

    /// A schema with a million rows in each large table, made once for all cases.
    static const std::string& full_schema() {
        static const std::string schema = [] {
            const std::string name = fresh_schema();
            migrate_postgres({.url = postgres_server().url(), .schema = name});
            postgres::Settings in;
            in.schema = name;
            // What is inserted in the order of its key costs a quarter.
            postgres_server().execute(in.in_schema(fmt::format(
                "INSERT INTO ebb.instances SELECT lpad(to_hex(n), 32, '0')::uuid, 1, n, n, n, 1, "
                "0, 'completed', 'w' || n % 10, 'key' || n, '{{}}' FROM generate_series(1, {}) AS "
                "n;"
                "INSERT INTO ebb.keys SELECT key, workflow, id FROM ebb.instances;"
                "INSERT INTO ebb.history (instance_id, seq, at, type) SELECT id, 1, 1, 'started' "
                "FROM ebb.instances;"
                "INSERT INTO ebb.tasks (instance_id, token, rank, due_at, lane, handler, queue, "
                "lease_owner) SELECT id, 1, created_at, created_at, created_at % 3, 'h' || "
                "created_at % 7, '', CASE created_at % 2 WHEN 0 THEN 'w' || created_at % 5 END "
                "FROM ebb.instances;"
                "UPDATE ebb.instances SET lease_owner = 'w1' WHERE created_at % 500 = 0;"
                "INSERT INTO ebb.queues SELECT 'q' || n, 1, 1000, 10, 10 FROM generate_series(1, "
                "1000) AS n;"
                "INSERT INTO ebb.queue_starts SELECT n, 1, name FROM ebb.queues, "
                "generate_series(1, 64) AS n;"
                "INSERT INTO ebb.workers (id, host, pid, handlers, queues, capacity, started_at, "
                "expires_at) SELECT 'w' || n, 'h', n, '{{}}', '{{}}', 1, 1, n FROM "
                "generate_series(1, 1000) AS n;"
                "INSERT INTO ebb.retention SELECT 'w' || n, 1, 1, 1 FROM generate_series(1, 1000) "
                "AS n;"
                "INSERT INTO ebb.workflows SELECT 'w' || n, 1, 'x', 1, '{{}}' FROM "
                "generate_series(1, 1000) AS n;",
                kRows
            )));
            postgres_server().execute("ANALYZE");
            return name;
        }();
        return schema;
    }

    /// Arguments for a statement: of each type one that is found in the full tables.
    std::string arguments_of(postgres::Connection& connection, const std::string& statement) {
        const std::map<std::string, std::string> samples{
            {"uuid", "'00000000-0000-0000-0000-000000001000'"},
            {"uuid[]", "'{00000000-0000-0000-0000-000000001000}'"},
            {"text", "'w1'"},
            {"text[]", "'{h1}'"},
            {"bigint", "1000"},
            {"bigint[]", "'{1000}'"},
            {"integer", "1"},
            {"integer[]", "'{1}'"},
            {"smallint", "1"},
            {"smallint[]", "'{1}'"},
            {"boolean", "false"},
            {"boolean[]", "'{f}'"},
        };
        const std::string question =
            "SELECT t.name FROM pg_prepared_statements AS p CROSS JOIN LATERAL (SELECT "
            "a.type::regtype::text AS name, a.place FROM unnest(p.parameter_types) WITH ORDINALITY "
            "AS a (type, place)) AS t WHERE p.name = '" +
            statement + "' ORDER BY t.place";
        // A connection knows statements by their address.
        const std::string& kept = *questions_.insert(question).first;
        const postgres::Result types = connection.run(kept, {});
        std::string list;
        for (int row = 0; row < types.rows(); ++row) {
            list += (row == 0 ? " (" : ", ") + samples.at(std::string(types.text(row, 0)));
        }
        return list.empty() ? list : list + ")";
    }

    /// The plans of all hot statements by name: those for any values, or for the given ones.
    std::map<std::string, std::string> plans(bool are_generic) {
        postgres::Connection connection(settings_);
        connection.execute(
            are_generic ? "SET plan_cache_mode = force_generic_plan"
                        : "SET plan_cache_mode = force_custom_plan"
        );
        std::map<std::string, std::string> plans;
        for (const auto& [name, sql] : embedded_statements("postgres/sql")) {
            if (!is_hot(name, sql)) continue;
            connection.execute("PREPARE " + name + " AS " + sql);
            const std::string& question =
                *questions_.insert("EXPLAIN EXECUTE " + name + arguments_of(connection, name))
                     .first;
            const postgres::Result lines = connection.run(question, {});
            for (int row = 0; row < lines.rows(); ++row) {
                plans[name] += std::string(lines.text(row, 0)) + "\n";
            }
        }
        return plans;
    }

    static void expect_no_scan(const std::map<std::string, std::string>& plans) {
        EXPECT_GT(plans.size(), 30U);
        // A row for each worker, queue or workflow: where all of them matter, all are read.
        const std::set<std::string> small{"queues", "workers", "retention", "workflows"};
        const std::set<std::string> asks_for_all{
            "add_worker",
            "count_queues",
            "list_workers",
            "prolong_worker",
            "prune_starts",
            "remove_dead_workers",
            "take_lost_leases",
            "take_sweep",
            "unfold_lost_tasks"
        };
        for (const auto& [name, plan] : plans) {
            std::set<std::string> tables{"instances", "tasks", "history", "keys", "queue_starts"};
            if (!asks_for_all.contains(name)) tables.insert(small.begin(), small.end());
            for (const std::string& table : tables) {
                EXPECT_THAT(plan, Not(HasSubstr(fmt::format("Seq Scan on {} ", table)))) << name;
            }
        }
    }

    /// An index is entered by its first column; without it, it is read as a whole, unless it is
    /// only the first that is wanted, in its order.
    static void expect_entered_indexes(const std::map<std::string, std::string>& plans) {
        const std::map<std::string, std::string> first_columns{
            {"instances_pkey", "id"},
            {"keys_pkey", "key"},
            {"instances_by_status", "status"},
            {"instances_leased", "lease_owner"},
            {"tasks_pkey", "instance_id"},
            {"tasks_ready", "handler"},
            {"tasks_stops", "rank"},
            {"tasks_sleeping", "due_at"},
            {"tasks_leased", "lease_owner"},
            {"tasks_keyed", "handler"},
            {"tasks_slots", "queue"},
            {"queue_starts_pkey", "queue"},
            {"history_pkey", "instance_id"},
        };
        const std::set<std::string> first_only{"claim_stops", "next_due"};
        int scans = 0;
        for (const auto& [name, plan] : plans) {
            if (first_only.contains(name)) continue;
            std::istringstream lines(plan);
            std::string line;
            std::string condition;
            while (std::getline(lines, line)) {
                const std::size_t using_at = line.find(" using ");
                if (using_at == std::string::npos) continue;
                const std::string index =
                    line.substr(using_at + 7, line.find(' ', using_at + 7) - using_at - 7);
                const auto known = first_columns.find(index);
                if (known == first_columns.end()) continue;
                ++scans;
                std::getline(lines, condition);
                EXPECT_THAT(condition, HasSubstr("Index Cond: ")) << name << "\n" << plan;
                EXPECT_THAT(condition, HasSubstr("(" + known->second + " ")) << name << "\n"
                                                                             << plan;
            }
        }
        EXPECT_GT(scans, 30);
    }

    ManualClock clock_{kStart};
    postgres::Settings settings_;
    std::set<std::string> questions_;
};

TEST_F(PostgresPlans, made_on_empty_tables_stay_good) {
    const auto found = plans(true);
    expect_no_scan(found);
    expect_entered_indexes(found);
    for (const auto& [name, plan] : found) {
        EXPECT_THAT(plan, Not(HasSubstr("Hash Join"))) << name;
        EXPECT_THAT(plan, Not(HasSubstr("Merge Join"))) << name;
        // A bitmap scan reads all rows that fit the condition, even if only a page is wanted.
        EXPECT_THAT(plan, Not(HasSubstr("Bitmap"))) << name;
    }
}

TEST_F(PostgresPlans, made_on_full_tables_are_good) {
    settings_.schema = full_schema();
    const auto found = plans(true);
    expect_no_scan(found);
    expect_entered_indexes(found);
}

TEST_F(PostgresPlans, of_lists_read_no_more_than_the_page) {
    const auto found = plans(true);
    for (const char* name :
         {"list_instances", "list_completed_instances", "list_instances_by_status"}) {
        EXPECT_THAT(found.at(name), HasSubstr("Index Scan Backward")) << name;
        EXPECT_THAT(found.at(name), Not(HasSubstr("Sort"))) << name << found.at(name);
        const std::string& oldest_first = found.at(std::string(name) + "_oldest_first");
        EXPECT_THAT(oldest_first, HasSubstr("Index Scan using")) << name;
        EXPECT_THAT(oldest_first, Not(HasSubstr("Sort"))) << name << oldest_first;
    }
}

TEST_F(PostgresPlans, count_the_failures_of_a_small_group_once) {
    EXPECT_THAT(plans(true).at("failure_groups"), HasSubstr("One-Time Filter: ((count(*)) = "));
}

// Without settings of its own and without prepared statements such a session plans each statement
// again, for the values that come with it.
TEST_F(PostgresPlans, of_poolers_sessions_are_good_on_full_tables) {
    settings_.schema = full_schema();
    settings_.caches_statements = false;
    const auto found = plans(false);
    expect_no_scan(found);
    expect_entered_indexes(found);
}

}  // namespace
}  // namespace ebb::testing
