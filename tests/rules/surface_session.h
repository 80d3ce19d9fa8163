#pragma once

// A session of psql's kind with a database that has the surface of rules, for the tests of it.

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <libpq-fe.h>

#include "store/migrations.h"
#include "support/postgres_server.h"

namespace ebb::test {

/// What the server has refused.
struct Refused : std::runtime_error {
    Refused(std::string state, const std::string& message)
        : std::runtime_error(message), sqlstate(std::move(state)) {}

    std::string sqlstate;
};

class Session {
 public:
    using Row = std::vector<std::string>;

    explicit Session(const std::string& url) : connection_(PQconnectdb(url.c_str()), &PQfinish) {
        run("SET client_min_messages = error");
    }

    /// NULL is an empty text.
    std::vector<Row> run(const std::string& sql) {
        const std::unique_ptr<PGresult, decltype(&PQclear)> result(
            PQexec(connection_.get(), sql.c_str()), &PQclear
        );
        const ExecStatusType status = PQresultStatus(result.get());
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
            const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
            throw Refused(state == nullptr ? "" : state, PQerrorMessage(connection_.get()));
        }
        std::vector<Row> rows;
        for (int i = 0; i < PQntuples(result.get()); ++i) {
            Row row;
            for (int c = 0; c < PQnfields(result.get()); ++c) {
                row.emplace_back(PQgetvalue(result.get(), i, c));
            }
            rows.push_back(std::move(row));
        }
        return rows;
    }

    std::string value(const std::string& sql) {
        const auto rows = run(sql);
        return rows.empty() ? std::string() : rows.front().front();
    }

    /// The SQLSTATE; empty when it is done, with the first column of the first row in `answer`.
    std::string refusal(const std::string& sql, std::string* answer = nullptr) {
        try {
            const auto rows = run(sql);
            if (answer != nullptr && !rows.empty()) *answer = rows.front().front();
            return {};
        } catch (const Refused& refused) {
            message = refused.what();
            return refused.sqlstate;
        }
    }

    std::string quote(const std::string& text) {
        const std::unique_ptr<char, decltype(&PQfreemem)> quoted(
            PQescapeLiteral(connection_.get(), text.data(), text.size()), &PQfreemem
        );
        return quoted.get();
    }

    PGconn* get() { return connection_.get(); }

    std::string message{};  ///< of the last refusal

 private:
    std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

/// A database of the test's own, with the surface; its URL.
inline std::string surface_database(const std::string& name) {
    auto& server = ebb::testing::postgres_server();
    Session(server.url()).run("DROP DATABASE IF EXISTS " + name);
    Session(server.url()).run("CREATE DATABASE " + name);
    const std::string url = server.url(name);
    migrate_postgres({.url = url});
    install_sql_workers({.url = url});
    install_rules_sql({.url = url});
    return url;
}

}  // namespace ebb::test
