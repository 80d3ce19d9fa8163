#include "sql_views.h"

#include <algorithm>

#include <fmt/format.h>

#include "store/sqlite/database.h"
#include "support/postgres_server.h"

namespace ebb::golden {

namespace {

std::string line_of(const StepView& step) {
    return fmt::format(
        "{} {} {} {} {} {}\n",
        step.visit,
        step.node,
        to_string(step.status),
        step.attempts,
        step.finished_at == TimePoint{} ? "open" : "ended",
        step.error.empty() ? "-" : step.error
    );
}

std::string query_of(const std::string& view, const InstanceId& id) {
    return fmt::format(
        "SELECT visit || ' ' || step || ' ' || status || ' ' || attempts || CASE WHEN finished_at "
        "IS NULL THEN ' open ' ELSE ' ended ' END || coalesce(error, '-') "
        "FROM {} WHERE instance_id = '{}' ORDER BY visit",
        view,
        id.to_string()
    );
}

}  // namespace

std::string steps_shown(Player& player) {
    std::vector<StepView> steps = player.engine().show(player.id()).steps;
    std::sort(steps.begin(), steps.end(), [](const StepView& a, const StepView& b) {
        return a.visit < b.visit;
    });
    std::string text;
    for (const StepView& step : steps) text += line_of(step);
    return text;
}

std::string steps_in_sqlite(const std::string& path, const InstanceId& id) {
    sqlite::Database database(path, sqlite::Database::Access::Read, 1'000);
    const std::string sql = query_of("steps", id);
    sqlite::Query query(database, sql);
    std::string text;
    while (query.step()) text += std::string(query.text(0)) + "\n";
    return text;
}

std::string steps_in_postgres(const std::string& schema, const InstanceId& id) {
    return testing::postgres_server().execute(query_of(schema + ".steps", id));
}

}  // namespace ebb::golden
