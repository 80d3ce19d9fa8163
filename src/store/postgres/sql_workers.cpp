#include "ebb/postgres/sql_workers.h"

#include <fmt/format.h>

#include "ebb/postgres/sql.h"
#include "store/migrations.h"
#include "store/postgres/call_rows.h"
#include "store/postgres/connection.h"
#include "store/postgres/rows.h"

// What `ebb migrate --sql-workers` installs.

namespace ebb {

namespace {

std::string all_functions() {
    return fmt::format(
        "{}\n\n{}\n\n{}\n\n{}\n\n{}\n",
        postgres::sql_workers::install,
        postgres::sql_workers::claim,
        postgres::sql_workers::outcomes,
        postgres::sql_workers::requests,
        postgres::sql_workers::roles
    );
}

}  // namespace

std::string postgres_sql_workers(const PostgresOptions& options) {
    const postgres::Settings settings = postgres::read_settings(options);
    return settings.in_schema(fmt::format("{}\n\n{}\n{}\n", "BEGIN;", all_functions(), "COMMIT;"));
}

void install_sql_workers(const PostgresOptions& options) {
    const postgres::Settings settings = postgres::read_settings(options);
    postgres::Connection connection(settings);
    connection.execute(all_functions());
    const postgres::Result rows = connection.run(postgres::sql::list_definitions, {});
    for (int row = 0; row < rows.rows(); ++row) {
        const WorkflowRow workflow{
            .name = std::string(rows.text(row, 0)),
            .version = static_cast<int>(rows.integer(row, 1)),
            .definition = std::string(rows.text(row, 4)),
            .checksum = std::string(rows.text(row, 2)),
        };
        const postgres::CallRows calls(workflow);
        if (!calls.is_empty()) connection.run(postgres::sql::add_calls, calls.arguments());
    }
}

}  // namespace ebb
