#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <libpq-fe.h>

#include "ebb/postgres/wed.h"
#include "store/postgres/connection.h"
#include "store/postgres/sql_error.h"
#include "store/wed_flow.h"

// A database of WED-SQL is read as it was at one moment, and copied row by row.

namespace ebb {

namespace {

using postgres::Connection;
using postgres::Settings;
namespace wed = postgres::wed;

/// A session whose answers are texts. No statement of it is prepared: its server may be older than
/// those that Ebb works with.
class TextSession {
 public:
    explicit TextSession(Settings settings)
        : settings_(std::move(settings)), connection_(settings_) {
        PQsetnonblocking(connection_.handle(), 0);
    }

    PGconn* handle() const { return connection_.handle(); }

    const Settings& settings() const { return settings_; }

    /// Each row with its columns; NULL is empty.
    std::vector<std::vector<std::optional<std::string>>> rows(
        std::string_view sql, const std::vector<std::string>& arguments = {}
    ) {
        const postgres::Result result = run(sql, arguments);
        std::vector<std::vector<std::optional<std::string>>> rows;
        for (int row = 0; row < result.rows(); ++row) {
            auto& columns = rows.emplace_back();
            for (int column = 0; column < PQnfields(result.handle()); ++column) {
                columns.emplace_back();
                if (result.is_null(row, column)) continue;
                columns.back() = PQgetvalue(result.handle(), row, column);
            }
        }
        return rows;
    }

    /// Several statements, if there are no arguments.
    postgres::Result run(std::string_view sql, const std::vector<std::string>& arguments = {}) {
        const std::string text = settings_.in_schema(sql);
        std::vector<const char*> values;
        for (const std::string& argument : arguments) values.push_back(argument.c_str());
        postgres::Result result(
            arguments.empty() ? PQexec(handle(), text.c_str())
                              : PQexecParams(
                                    handle(),
                                    text.c_str(),
                                    static_cast<int>(values.size()),
                                    nullptr,
                                    values.data(),
                                    nullptr,
                                    nullptr,
                                    0
                                )
        );
        check(result.handle());
        return result;
    }

    /// Reads what is left of an answer.
    void finish() {
        while (PGresult* raw = PQgetResult(handle())) {
            const postgres::Result result(raw);
            check(raw);
        }
    }

    [[noreturn]] void fail_lost() const {
        throw postgres::ConnectionLost(
            fmt::format("The connection to {} broke.", settings_.target())
        );
    }

    void check(const PGresult* result) const {
        const ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_COPY_OUT ||
            status == PGRES_COPY_IN) {
            return;
        }
        postgres::throw_failure(settings_, result);
    }

 private:
    Settings settings_;
    Connection connection_;
};

std::string text_of(const std::optional<std::string>& column) {
    return column.value_or("");
}

std::int64_t number_of(const std::optional<std::string>& column) {
    return column ? std::stoll(*column) : 0;
}

[[noreturn]] void refuse(const TextSession& session, const std::string& schema, std::string why) {
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "There is no flow of WED-SQL in the schema \"{}\" of {}: {}.",
            schema,
            session.settings().target(),
            why
        )
    );
}

/// Checks that the tables are those of the second version.
void check_tables(TextSession& session, const std::string& schema) {
    const auto rows = session.rows(wed::find_tables, {schema});
    for (const auto& row : rows) {
        if (row[0] != "version") continue;
        if (row[1] == "ebb") refuse(session, schema, "it is already a flow of Ebb");
        refuse(
            session,
            schema,
            row[1] == "1"
                ? "its tables are those of the first version, whose conditions are rows of "
                  "wed_pred; only the second version, with wed_trig.cpred, can be imported"
                : "its tables are those of the third version, in which wed_flow is a view; only "
                  "the second version can be imported"
        );
    }
    if (rows.empty()) return;
    const auto& missing = rows.front();
    refuse(
        session,
        schema,
        fmt::format("the table {} with the column {} is missing", *missing[0], *missing[1])
    );
}

/// A session in the middle of a transaction that sees one moment.
std::unique_ptr<TextSession> open_source(const WedSource& source) {
    const PostgresOptions options{.url = source.url, .application_name = "ebb rules import-wed"};
    auto session = std::make_unique<TextSession>(postgres::read_settings(options).plain());
    session->run(wed::begin_reading);
    session->run(wed::enter_schema, {source.schema});
    check_tables(*session, source.schema);
    return session;
}

WedFlow read_flow(TextSession& session) {
    WedFlow flow;
    for (const auto& row : session.rows(wed::read_attributes)) {
        flow.attributes.push_back(
            {.number = number_of(row[0]), .name = text_of(row[1]), .initial = text_of(row[2])}
        );
    }
    for (const auto& row : session.rows(wed::read_triggers)) {
        flow.triggers.push_back({
            .number = number_of(row[0]),
            .name = text_of(row[1]),
            .transition = text_of(row[2]),
            .condition = text_of(row[3]),
            .is_final = row[4] == "t",
            .is_enabled = row[5] == "t",
            .timeout = row[6] ? std::optional(Duration(number_of(row[6]))) : std::nullopt,
        });
    }
    return flow;
}

/// Copies the rows that `out` sends to where `in` puts them.
void copy_rows(
    TextSession& source, std::string_view out, TextSession& target, std::string_view in
) {
    source.run(out);
    target.run(in);
    char* line = nullptr;
    int size = 0;
    while ((size = PQgetCopyData(source.handle(), &line, 0)) > 0) {
        const std::unique_ptr<char, decltype(&PQfreemem)> held(line, PQfreemem);
        if (PQputCopyData(target.handle(), line, size) != 1) target.fail_lost();
    }
    // The target must not take what a source that failed has sent for all that there is.
    PQputCopyEnd(target.handle(), size < -1 ? "the source has failed" : nullptr);
    source.finish();
    target.finish();
}

}  // namespace

WedDatabase read_wed_database(const WedSource& source) {
    const auto session = open_source(source);
    WedDatabase database{.flow = read_flow(*session)};
    const auto counts = session->rows(wed::count_rows).at(0);
    database.instances = number_of(counts[0]);
    database.jobs = number_of(counts[1]);
    database.claims = number_of(counts[2]);
    for (const auto& row : session->rows(wed::other_columns, {source.schema})) {
        database.other_columns.push_back(text_of(row[0]));
    }
    return database;
}

std::int64_t import_wed_database(
    const WedSource& source, const PostgresOptions& target, const std::string& name
) {
    const auto from = open_source(source);
    TextSession to(postgres::read_settings(target));
    if (to.rows(wed::has_import, {to.settings().schema}).at(0)[0] != "t") {
        throw Error(
            ErrorCode::InvalidState,
            fmt::format(
                "The database {} has no functions for rules in SQL: run `ebb migrate --rules-sql`.",
                to.settings().target()
            )
        );
    }
    to.run(wed::make_tables);
    copy_rows(*from, wed::copy_attributes, to, wed::fill_attributes);
    to.run(wed::make_instances);
    copy_rows(*from, wed::copy_triggers, to, wed::fill_triggers);
    copy_rows(*from, wed::copy_jobs, to, wed::fill_jobs);
    copy_rows(*from, wed::copy_trace, to, wed::fill_trace);
    const auto instances = from->rows(wed::copy_instances).at(0)[0];
    if (instances) copy_rows(*from, *instances, to, wed::fill_instances);
    const std::int64_t count = number_of(to.rows(wed::import_copy, {name}).at(0)[0]);
    to.run(wed::commit);
    return count;
}

}  // namespace ebb
