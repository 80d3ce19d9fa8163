#include <array>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ebb/postgres/surface.h"
#include "store/migrations.h"
#include "store/postgres/connection.h"

// What `ebb migrate --rules-sql` installs.

namespace ebb {

namespace {

std::string all_functions() {
    namespace surface = postgres::surface;
    // In the order in which they need each other.
    constexpr std::array kParts{
        surface::catalog,
        surface::tokens,
        surface::grammar,
        surface::texts,
        surface::merge,
        surface::decide,
        surface::types,
        surface::definition,
        surface::apply,
        surface::plain,
        surface::rows,
        surface::claims,
        surface::steering,
        surface::tables,
        surface::views,
        surface::registered,
        surface::import_wed,
        surface::grants,
    };
    return fmt::format("{}\n", fmt::join(kParts, "\n\n"));
}

}  // namespace

std::string postgres_rules_sql(const PostgresOptions& options) {
    const postgres::Settings settings = postgres::read_settings(options);
    return settings.in_schema(fmt::format("BEGIN;\n\n{}\nCOMMIT;\n", all_functions()));
}

void install_rules_sql(const PostgresOptions& options) {
    const postgres::Settings settings = postgres::read_settings(options);
    postgres::Connection connection(settings);
    connection.execute(all_functions());
}

}  // namespace ebb
