// `ebb rules import-wed` and `ebb rules wsql`: flows of WED-SQL.

#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/definition_file.h"
#include "cli/exit_code.h"
#include "cli/payload_argument.h"
#include "cli/rules_commands.h"
#include "cli/text.h"
#include "cli/wed_definition.h"
#include "cli/wsql.h"
#include "store/wed_flow.h"

namespace ebb::cli {

namespace {

using Ordered = nlohmann::ordered_json;

std::string counted(std::int64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Prints the definition, or throws its problems.
void print_definition(
    Session& session, const std::string& from, std::string text, WedDefinition made
) {
    if (!made.problems.empty()) {
        throw InvalidDefinitionFile{
            {.path = from, .text = std::move(text), .problems = std::move(made.problems)}
        };
    }
    if (session.options().is_json) {
        session.print_json(Ordered::parse(definition_to_json(made.definition).dump()));
        return;
    }
    session.print(fmt::format("# From {}.\n{}", one_line(from), made.yaml));
}

/// The database name of a URL is what a flow of WED-SQL is called: each has a database.
std::string database_name(const std::string& url) {
    const std::string path = url.substr(0, url.find('?'));
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos || slash < path.find("//") + 2) return "flow";
    const std::string name = path.substr(slash + 1);
    return name.empty() ? "flow" : name;
}

void tell_rest(Session& session, const WedDatabase& database) {
    for (const std::string& column : database.other_columns) {
        session.note(fmt::format(
            "The column \"{}\" of wed_flow is not an attribute: it is not taken over.\n",
            one_line(column)
        ));
    }
    if (database.claims == 0) return;
    session.note(fmt::format(
        "{} claimed by a worker of WED-SQL at this moment. What workers complete there from now on "
        "is not taken over: stop them first.\n",
        database.claims == 1 ? "1 job is" : fmt::format("{} jobs are", database.claims)
    ));
}

}  // namespace

int import_wed(Session& session, const RulesOptions& options) {
    if (options.subjects.size() != 1) {
        throw Error(
            ErrorCode::InvalidArgument,
            "`ebb rules import-wed` needs the URL of one database of WED-SQL: postgresql://..."
        );
    }
    const WedSource source{.url = options.subjects.front(), .schema = options.schema};
    const std::string from = fmt::format(
        "the flow of WED-SQL in the schema \"{}\" of {}", source.schema, shown_url(source.url)
    );
    const std::string name = options.name.empty() ? database_name(source.url) : options.name;
    StoreUrl target;
    if (options.creates) {
        session.require_database("rules import-wed --create");
        target = parse_store_url(session.options().db);
        if (target.kind != StoreUrl::Kind::Postgres) {
            throw Error(
                ErrorCode::InvalidArgument,
                "Instances of WED-SQL are taken over only into PostgreSQL: --create needs --db "
                "postgresql://... Without --create, the definition is printed."
            );
        }
    }
    const WedDatabase database = read_wed_database(source);
    WedDefinition made = define_wed_flow(database.flow, name);
    tell_rest(session, database);
    if (!options.creates || !made.problems.empty()) {
        print_definition(session, from, {}, std::move(made));
        return kOk;
    }
    const std::int64_t instances = import_wed_database(
        source, {.url = target.path, .application_name = "ebb rules import-wed"}, name
    );
    if (session.options().is_json) {
        session.print_json(
            {{"flow", name}, {"instances", instances}, {"pending_jobs", database.jobs}}
        );
    } else {
        session.print(fmt::format(
            "Made the flow {} of {}, with {} and {}.\n",
            name,
            one_line(from),
            counted(instances, "instance"),
            counted(database.jobs, "pending job")
        ));
    }
    return kOk;
}

int convert_wsql(Session& session, const RulesOptions& options) {
    if (options.subjects.size() != 1) {
        throw Error(ErrorCode::InvalidArgument, "`ebb rules wsql` needs one file.");
    }
    const std::string& path = options.subjects.front();
    std::string text =
        path == "-" ? session.streams().read_input() : read_file(path, WsqlLimits::kTextBytesMax);
    WsqlFlow read = read_wsql(text);
    std::string name = options.name.empty() ? read.name : options.name;
    if (name.empty()) name = path == "-" ? "flow" : std::filesystem::path(path).stem().string();
    WedDefinition made = define_wed_flow(read.flow, name);
    // A statement that was not understood makes others meaningless.
    if (!read.problems.empty()) made.problems = std::move(read.problems);
    print_definition(session, path, std::move(text), std::move(made));
    return kOk;
}

}  // namespace ebb::cli
