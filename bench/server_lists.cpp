// Pages of 50 among 1,000,000 instances, of which 100,000 have failed in 100 groups.

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "http_client.h"
#include "server_figures.h"

namespace ebb::bench {

namespace {

using Json = nlohmann::json;

constexpr int kRequests = 60;
constexpr int kHalf = 500'000;
constexpr std::int64_t kFirstMs = 1'760'000'000'000;

/// As the id of the instance with this number. The dates in the ids are as far apart as the
/// instances.
std::string id_of(std::int64_t number) {
    const std::string hex = fmt::format("{:012x}", kFirstMs + number);
    return fmt::format(
        "{}-{}-7{:03x}-8000-{:012x}", hex.substr(0, 8), hex.substr(8), number % 4'096, number
    );
}

constexpr std::string_view kPostgresRows = R"(
CREATE TEMPORARY TABLE made AS
SELECT n, lpad(to_hex(1760000000000 + n), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0')
       || '8000' || lpad(to_hex(n), 12, '0') AS hex, (1760000000000 + n) * 1000 AS at
FROM generate_series(1, 1000000) AS n;
)";
constexpr std::string_view kSqliteRows = R"(
CREATE TEMPORARY TABLE made AS
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000000)
SELECT n, substr(hex, 1, 8) || '-' || substr(hex, 9) || '-7' || printf('%03x', n % 4096)
       || '-8000-' || printf('%012x', n) AS hex, (1760000000000 + n) * 1000 AS at
FROM (SELECT n, printf('%012x', 1760000000000 + n) AS hex FROM numbers);
)";
/// `{1}`: how the id is written. Brackets, since `%` comes before `||` in one database only.
constexpr std::string_view kTables = R"(
INSERT INTO {0}instances (id, workflow, version, key, status, revision, priority, created_at,
                          updated_at, finished_at, state)
SELECT {1}, CASE WHEN n % 100000 = 7 THEN 'rare' ELSE 'w' || (n % 10) END, 1, 'order-' || n,
       CASE WHEN n % 10 = 0 THEN 'failed' WHEN n % 100 = 1 THEN 'cancelled' ELSE 'completed' END,
       5, 0, at, at, at, '{{{{"status":"completed","seq":5,"visit":3}}}}'
FROM made;
INSERT INTO {0}labels (instance_id, name, type, text)
SELECT {1}, 'customer', 'string', 'c' || (n % 1000) FROM made;
INSERT INTO {0}failures (instance_id, at, event, version, status, workflow, step, code, grp,
                         message)
SELECT {1}, at, 4, 1, 'failed', 'w0', 'charge', 'card_declined',
       'group' || (100 + n / 10 % 100), 'The card was declined.'
FROM made WHERE n % 10 = 0;
)";

void fill(const ServedStore& store, Database database) {
    if (database == Database::Sqlite) {
        store.execute(
            std::string(kSqliteRows) + fmt::format(fmt::runtime(std::string(kTables)), "", "hex") +
            "ANALYZE;"
        );
        return;
    }
    const std::string keys =
        "INSERT INTO {0}keys SELECT key, workflow, id FROM {0}instances;\n"
        "ANALYZE {0}instances, {0}keys, {0}labels, {0}failures;";
    store.execute(
        std::string(kPostgresRows) +
        fmt::format(fmt::runtime(std::string(kTables)), "{0}", "hex::uuid") + keys
    );
}

struct Page {
    std::string_view name;
    std::string path;
    bool has_depth = true;  ///< there are pages after the first one
    std::size_t items = 50;
};

std::vector<Page> pages() {
    return {
        {"newest", "/api/v1/instances?limit=50"},
        {"status", "/api/v1/instances?limit=50&status=failed"},
        {"workflow", "/api/v1/instances?limit=50&workflow=w3"},
        {"key", "/api/v1/instances?limit=50&key=order-500000", false, 1},
        {"label", "/api/v1/instances?limit=50&where=labels.customer%20%3D%3D%20%22c17%22"},
        {"failure_group", "/api/v1/failures/group103?limit=50", false},
    };
}

/// What is measured is what was asked for.
void require_items(HttpClient& client, const Page& page) {
    const Json answer = Json::parse(client.require(client.get(page.path), 200).body);
    if (answer.at("items").size() == page.items) return;
    throw std::runtime_error(fmt::format(
        "the page {} has {} items, not {}", page.path, answer.at("items").size(), page.items
    ));
}

std::vector<double> page_times(HttpClient& client, const std::string& path) {
    std::vector<double> times;
    // Each connection of the store prepares the statement once.
    for (int request = -10; request < kRequests; ++request) {
        const double took = took_ms([&] { client.require(client.get(path), 200); });
        if (request >= 0) times.push_back(took);
    }
    return times;
}

/// The slowest kind of page, its p99, and the greatest cost of depth.
std::vector<Figure> page_figures(HttpClient& client, const std::string& name, double limit) {
    std::vector<std::pair<std::string, double>> details;
    double slowest = 0;
    double deepest = 0;
    for (const Page& page : pages()) {
        require_items(client, page);
        const auto first = page_times(client, page.path);
        const double p99 = percentile(first, 0.99);
        details.emplace_back(std::string(page.name) + "_p99_ms", p99);
        slowest = std::max(slowest, p99);
        if (!page.has_depth) continue;
        const auto half = page_times(client, page.path + "&before=" + id_of(kHalf));
        const double ratio = percentile(half, 0.5) / percentile(first, 0.5);
        details.emplace_back(std::string(page.name) + "_half", ratio);
        deepest = std::max(deepest, ratio);
    }
    Figure slow = at_most(
        {.name = name,
         .unit = "ms",
         .limit = limit,
         .note = "p99 of a page of 50, of the slowest kind of page"},
        {slowest}
    );
    slow.details = std::move(details);
    Figure deep = at_most(
        {.name = name + "_half",
         .unit = "times",
         .limit = 1.5,
         .note = "the median at half depth beside the first page's, of the worst kind"},
        {deepest}
    );
    return {std::move(slow), std::move(deep)};
}

/// Reads on, page by page, until there are no more.
Figure sparse_figure(HttpClient& client, const std::string& name) {
    std::vector<double> times;
    double total_ms = 0;
    for (const char* filter : {"workflow=rare", "where=priority%20%3E%205"}) {
        std::string cursor;
        do {
            HttpAnswer answer;
            times.push_back(took_ms([&] {
                answer = client.require(
                    client.get(fmt::format("/api/v1/instances?limit=50&{}{}", filter, cursor)), 200
                );
            }));
            total_ms += times.back();
            const Json next = Json::parse(answer.body).at("next_cursor");
            cursor = next.is_null() ? "" : "&cursor=" + next.get<std::string>();
        } while (!cursor.empty());
    }
    constexpr double kRowsRead = 2e6;
    Figure figure = at_most(
        {.name = name,
         .unit = "ms",
         .limit = 200,
         .note = "the slowest request of searches that no index serves"},
        {percentile(times, 1)}
    );
    const double per_second = kRowsRead / total_ms * 1e3;
    figure.details = {
        {"rows_per_second", per_second}, {"requests", static_cast<double>(times.size())}
    };
    if (per_second < 100'000) figure.verdict = "missed";
    return figure;
}

std::vector<Figure> figures_of(ServerBench& bench, Database database) {
    const ServedStore store(bench, database);
    fill(store, database);
    const ServerProcess server(store.serve());
    HttpClient client(server.port());
    const bool is_sqlite = database == Database::Sqlite;
    const std::string name = is_sqlite ? "list_1m_sqlite" : "list_1m";
    std::vector<Figure> figures = page_figures(client, name, is_sqlite ? 10 : 25);
    figures.push_back(sparse_figure(client, name + "_sparse"));
    figures.push_back(at_most(
        {.name = is_sqlite ? "groups_100k_sqlite" : "groups_100k",
         .unit = "ms",
         .limit = 100,
         .note = "the groups of 100,000 failures"},
        page_times(client, "/api/v1/failures/groups")
    ));
    return figures;
}

}  // namespace

std::vector<Figure> list_figures(ServerBench& bench) {
    return figures_of(bench, Database::Postgres);
}

std::vector<Figure> list_sqlite_figures(ServerBench& bench) {
    return figures_of(bench, Database::Sqlite);
}

}  // namespace ebb::bench
