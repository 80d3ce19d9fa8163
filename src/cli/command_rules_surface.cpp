// `ebb rules install` and `ebb rules uninstall`: a registered workflow as a schema of PostgreSQL.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "cli/exit_code.h"
#include "cli/rules_commands.h"
#include "cli/text.h"
#include "store/rules_surface.h"

namespace ebb::cli {

namespace {

using Ordered = nlohmann::ordered_json;

const std::string& subject_of(const RulesOptions& options) {
    if (options.subjects.size() == 1) return options.subjects.front();
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("`ebb rules {}` needs the name of one workflow.", options.action)
    );
}

PostgresOptions database_of(Session& session, const std::string& action) {
    session.require_database("rules " + action);
    const StoreUrl url = parse_store_url(session.options().db);
    if (url.kind == StoreUrl::Kind::Postgres) {
        return {.url = url.path, .application_name = "ebb rules " + action};
    }
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "Only PostgreSQL has schemas for rules in SQL: `ebb rules {}` needs --db "
            "postgresql://...",
            action
        )
    );
}

std::string counted(const Ordered& count, std::string_view what) {
    const auto number = count.get<std::int64_t>();
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

}  // namespace

int install_rules(Session& session, const RulesOptions& options) {
    const std::string& workflow = subject_of(options);
    const PostgresOptions database = database_of(session, options.action);
    const Ordered made = Ordered::parse(install_surface(
        database, {.workflow = workflow, .dialect = options.dialect, .role = options.role}
    ));
    if (session.options().is_json) {
        session.print_json(made);
        return kOk;
    }
    const std::string name = one_line(workflow);
    session.print(fmt::format(
        "{} {}: version {}, with {} in {}.wed_flow.\n",
        made.at("is_new").get<bool>() ? "Made the schema" : "Brought up to date the schema",
        name,
        made.at("version").get<std::int64_t>(),
        counted(made.at("instances"), "instance"),
        name
    ));
    if (options.role.empty()) return kOk;
    session.print(fmt::format(
        "The role {} may start, write, work and recover; its search_path is {}, pg_catalog.\n",
        one_line(options.role),
        name
    ));
    return kOk;
}

int uninstall_rules(Session& session, const RulesOptions& options) {
    const std::string& workflow = subject_of(options);
    const PostgresOptions database = database_of(session, options.action);
    const std::string name = one_line(workflow);
    if (!options.is_confirmed) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "`ebb rules uninstall {0}` removes the views, functions and rights of the schema "
                "{0}; only the table {0}.wed_flow stays, and its instances can no longer be "
                "continued in "
                "SQL. Add --yes to do it.",
                name
            )
        );
    }
    const Ordered removed = Ordered::parse(uninstall_surface(database, workflow));
    if (session.options().is_json) {
        session.print_json(removed);
        return kOk;
    }
    session.print(fmt::format(
        "Removed the views and functions of the schema {0}. The table {0}.wed_flow stays, with the "
        "last values of {1}. The workflow stays, too: {2} not ended.\n",
        name,
        counted(removed.at("rows"), "instance"),
        removed.at("live").get<std::int64_t>() == 1
            ? std::string("1 instance has")
            : fmt::format("{} instances have", removed.at("live").get<std::int64_t>())
    ));
    return kOk;
}

}  // namespace ebb::cli
