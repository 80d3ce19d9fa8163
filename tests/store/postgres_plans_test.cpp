// Goal: no statement of the hot paths reads a whole table, whatever the server knew when it
// planned. Method: every statement's generic plan, as the store's sessions make it on empty tables,
// and as a session without their settings makes it on full ones.

#include <filesystem>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "store/conformance.h"
#include "store/postgres/connection.h"
#include "store/postgres/postgres_store.h"
#include "support/postgres_server.h"
#include "support/store_sql.h"

namespace ebb::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::filesystem::path kSource(EBB_SOURCE_DIR);
constexpr int kRows = 50'000;

/// Statements that may read whole tables: they are asked for by people, now and then.
bool is_hot(const std::string& name, const std::string& sql) {
    if (sql.find("SELECT") == std::string::npos && sql.find("UPDATE") == std::string::npos &&
        sql.find("DELETE") == std::string::npos) {
        return false;
    }
    return name != "count_instances" && name != "unserved_tasks" && name != "tasks_by_queue";
}

int arguments_of(const std::string& sql) {
    int count = 0;
    for (int n = 1; sql.find(fmt::format("${}", n)) != std::string::npos; ++n) count = n;
    return count;
}

class PostgresPlans : public ::testing::Test {
 protected:
    PostgresPlans() {
        settings_ = postgres::read_settings({.url = postgres_server().url()});
        settings_.schema = fresh_schema();
        make_postgres_store({.url = postgres_server().url(), .schema = settings_.schema}, clock_);
    }

    void fill() {
        const postgres::Settings& in = settings_;
        const std::string sql = fmt::format(
            "INSERT INTO ebb.instances SELECT gen_random_uuid(), 1, n, n, n, 1, 0, 'completed', "
            "'w', 'key' || n, '{{}}' FROM generate_series(1, {}) AS n;"
            "INSERT INTO ebb.history (instance_id, seq, at, type) SELECT id, n, 1, 'started' FROM "
            "ebb.instances, generate_series(1, 3) AS n;"
            "INSERT INTO ebb.tasks (instance_id, token, rank, due_at, lane, handler, queue, "
            "lease_owner) SELECT id, 1, created_at, created_at, created_at % 3, 'h' || created_at "
            "% 7, '', CASE created_at % 2 WHEN 0 THEN 'w' || created_at % 5 END FROM ebb.instances;"
            "UPDATE ebb.instances SET lease_owner = 'w1' WHERE created_at % 500 = 0;"
            "ANALYZE ebb.instances; ANALYZE ebb.history; ANALYZE ebb.tasks;",
            kRows
        );
        postgres_server().execute(in.in_schema(sql));
    }

    /// The plans of all hot statements by name.
    std::map<std::string, std::string> plans() {
        postgres::Connection connection(settings_);
        connection.execute("SET plan_cache_mode = force_generic_plan");
        std::map<std::string, std::string> plans;
        const auto statements = read_statements(kSource / "src/store/postgres/sql");
        // A connection knows statements by their address.
        std::map<std::string, std::string> questions;
        for (const auto& [name, sql] : statements) {
            if (!is_hot(name, sql)) continue;
            connection.execute("PREPARE " + name + " AS " + sql);
            std::string& question = questions[name];
            question = "EXPLAIN EXECUTE " + name;
            for (int n = 0; n < arguments_of(sql); ++n) question += n == 0 ? " (NULL" : ", NULL";
            if (arguments_of(sql) > 0) question += ")";
            const postgres::Result lines = connection.run(question, {});
            for (int row = 0; row < lines.rows(); ++row) {
                plans[name] += std::string(lines.text(row, 0)) + "\n";
            }
        }
        return plans;
    }

    static void expect_no_scan(const std::map<std::string, std::string>& plans) {
        EXPECT_GT(plans.size(), 30U);
        for (const auto& [name, plan] : plans) {
            for (const char* table : {"instances", "tasks", "history"}) {
                EXPECT_THAT(plan, Not(HasSubstr(fmt::format("Seq Scan on {}", table)))) << name;
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
};

TEST_F(PostgresPlans, made_on_empty_tables_stay_good) {
    const auto found = plans();
    expect_no_scan(found);
    expect_entered_indexes(found);
    for (const auto& [name, plan] : found) {
        EXPECT_THAT(plan, Not(HasSubstr("Hash Join"))) << name;
        EXPECT_THAT(plan, Not(HasSubstr("Merge Join"))) << name;
    }
}

TEST_F(PostgresPlans, of_poolers_sessions_are_good_on_full_tables) {
    fill();
    settings_.caches_statements = false;
    const auto found = plans();
    expect_no_scan(found);
    expect_entered_indexes(found);
}

}  // namespace
}  // namespace ebb::testing
