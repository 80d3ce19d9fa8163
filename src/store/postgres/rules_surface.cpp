#include "store/rules_surface.h"

#include <fmt/format.h>

#include <ebb/error.h>

#include "ebb/postgres/admin_sql.h"
#include "store/postgres/arguments.h"
#include "store/postgres/connection.h"

// What `ebb rules install` and `ebb rules uninstall` do: the functions in SQL decide everything.

namespace ebb {

namespace {

using postgres::Arguments;
namespace sql = postgres::admin_sql;

void check_functions(postgres::Connection& connection) {
    const postgres::Settings& settings = connection.settings();
    const postgres::Result found =
        connection.run(sql::can_install_flows, Arguments::of(settings.schema));
    if (!found.boolean(0, 0)) {
        throw Error(
            ErrorCode::StoreVersion,
            fmt::format(
                "The database {} has no functions for rules in SQL, or old ones: run "
                "`ebb migrate --rules-sql`.",
                settings.target()
            )
        );
    }
    if (found.boolean(0, 1)) return;
    throw Error(
        ErrorCode::StoreDenied,
        fmt::format(
            "Only the owner of the schema \"{}\" of {} installs and removes flows, and the role "
            "\"{}\" is not the owner.",
            settings.schema,
            settings.target(),
            found.text(0, 2)
        )
    );
}

}  // namespace

Payload install_surface(const PostgresOptions& options, const SurfaceOptions& surface) {
    const postgres::Settings settings = postgres::read_settings(options);
    postgres::Connection connection(settings);
    check_functions(connection);
    const postgres::Result made = connection.run(
        sql::install_flow, Arguments::of(surface.workflow, surface.dialect, surface.role)
    );
    return Payload::text(std::string(made.text(0, 0)));
}

Payload uninstall_surface(const PostgresOptions& options, const std::string& workflow) {
    const postgres::Settings settings = postgres::read_settings(options);
    postgres::Connection connection(settings);
    check_functions(connection);
    const postgres::Result removed = connection.run(sql::uninstall_flow, Arguments::of(workflow));
    return Payload::text(std::string(removed.text(0, 0)));
}

}  // namespace ebb
