#include "postgres_scratch.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <libpq-fe.h>

#include "process_use.h"

namespace ebb::bench {

using testing::PostgresServer;

namespace {

double cpu_seconds_of_all(pid_t server) {
    double sum = cpu_seconds_of(server);
    std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", server));
    for (pid_t child = 0; children >> child;) sum += cpu_seconds_of(child);
    return sum;
}

}  // namespace

PostgresServer make_bench_server() {
    return PostgresServer(
        PostgresServer::Durability::Full,
        {"shared_buffers=1GB", "max_wal_size=4GB", "fsync=on", "synchronous_commit=on"}
    );
}

Scratch::Scratch(const PostgresServer& server) : server_(server), schema_(testing::fresh_schema()) {
    server_.execute("CHECKPOINT");
}

Scratch::~Scratch() {
    server_.execute(
        fmt::format("SET client_min_messages = error; DROP SCHEMA IF EXISTS {} CASCADE", schema_)
    );
}

StorePtr Scratch::open_at(const std::string& url) const {
    return open_postgres_store({.url = url, .schema = schema_});
}

std::string Scratch::execute(const std::string& sql) const {
    return server_.execute(fmt::format(fmt::runtime(sql), schema_));
}

void Scratch::require_completed(std::int64_t workflows) const {
    const std::string count =
        execute("SELECT count(*) FROM {0}.instances WHERE status = 'completed'");
    if (std::stoll(count) == workflows) return;
    throw std::runtime_error(
        fmt::format("{} workflows completed, but the database counts {}", workflows, count)
    );
}

TableUse Scratch::table_use() const {
    const auto number = [&](const std::string& what) {
        return std::stod(
            execute("SELECT " + what + " FROM pg_stat_user_tables WHERE schemaname = '{0}'")
        );
    };
    const std::string of_instances = " FILTER (WHERE relname = 'instances')";
    const std::string size = "sum(pg_total_relation_size(relid))";
    return {
        .row_writes = number("sum(n_tup_ins + n_tup_upd + n_tup_del)"),
        .updates = number("sum(n_tup_upd)" + of_instances),
        .hot_updates = number("sum(n_tup_hot_upd)" + of_instances),
        .dead_rows = number("sum(n_dead_tup)"),
        .kept_bytes = number(size + " FILTER (WHERE relname IN ('instances', 'history'))"),
        .task_bytes = number(size + " FILTER (WHERE relname = 'tasks')"),
    };
}

void wait_for_sessions(const PostgresServer& server, int others) {
    const std::string question =
        "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
        " AND datname = 'ebb_test' AND pid <> pg_backend_pid()";
    for (int looks = 0; looks < 200 && std::stoi(server.execute(question)) > others; ++looks) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

OldSnapshot::OldSnapshot(const PostgresServer& server)
    : connection_(PQconnectdb(server.url().c_str()), PQfinish) {
    for (const char* sql :
         {"BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM pg_class"}) {
        PGresult* result = PQexec(connection_.get(), sql);
        const ExecStatusType status = PQresultStatus(result);
        PQclear(result);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
            throw std::runtime_error(PQerrorMessage(connection_.get()));
        }
    }
}

ServerUse use_of(const PostgresServer& server) {
    return {
        .cpu_seconds = cpu_seconds_of_all(server.pid()),
        .wal_bytes =
            std::stod(server.execute("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')")),
        .wal_syncs = std::stod(server.execute("SELECT wal_sync FROM pg_stat_wal")),
        .transactions = std::stod(
            server.execute("SELECT xact_commit FROM pg_stat_database WHERE datname = 'ebb_test'")
        )
    };
}

}  // namespace ebb::bench
