#include "store/health.h"

#include "ebb/postgres/admin_sql.h"
#include "store/postgres/connection.h"

namespace ebb {

DatabaseHealth postgres_health(const PostgresOptions& options) {
    using postgres::Arguments;
    using postgres::Result;
    namespace admin_sql = postgres::admin_sql;
    const postgres::Settings settings = postgres::read_settings(options);
    postgres::Connection connection(settings);
    const Result server = connection.run(admin_sql::server_health, {});
    DatabaseHealth health{
        .version = std::string(server.text(0, 0)),
        .is_autovacuum_on = server.boolean(0, 1),
        .bytes = server.integer(0, 2),
        .connections = static_cast<int>(server.integer(0, 3)),
        .connections_max = static_cast<int>(server.integer(0, 4)),
        .tables = {},
    };
    const Result tables =
        connection.run(admin_sql::table_health, Arguments::of(std::string_view(settings.schema)));
    for (int row = 0; row < tables.rows(); ++row) {
        health.tables.push_back({
            .name = std::string(tables.text(row, 0)),
            .live_rows = tables.integer(row, 1),
            .dead_rows = tables.integer(row, 2),
            .is_autovacuumed = tables.boolean(row, 3),
            .vacuumed_at = tables.time(row, 4),
        });
    }
    return health;
}

}  // namespace ebb
