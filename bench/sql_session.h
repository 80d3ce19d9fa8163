#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <libpq-fe.h>

namespace ebb::bench {

/// A session of an application, or of a worker in SQL, with a PostgreSQL server.
class SqlSession {
 public:
    using Rows = std::unique_ptr<PGresult, void (*)(PGresult*)>;

    explicit SqlSession(const std::string& url) : connection_(PQconnectdb(url.c_str()), &PQfinish) {
        if (PQstatus(connection_.get()) != CONNECTION_OK) throw std::runtime_error("no connection");
    }

    /// One statement. Throws std::runtime_error with the server's message.
    Rows run(const std::string& sql, const std::vector<std::string>& values = {}) {
        std::vector<const char*> texts;
        for (const std::string& value : values) texts.push_back(value.c_str());
        Rows rows(
            PQexecParams(
                connection_.get(),
                sql.c_str(),
                static_cast<int>(texts.size()),
                nullptr,
                texts.data(),
                nullptr,
                nullptr,
                0
            ),
            &PQclear
        );
        return checked(std::move(rows));
    }

    /// Several statements.
    void run_script(const std::string& sql) {
        checked(Rows(PQexec(connection_.get(), sql.c_str()), &PQclear));
    }

    /// The first value of the first row.
    std::string value(const std::string& sql, const std::vector<std::string>& values = {}) {
        const Rows rows = run(sql, values);
        if (PQntuples(rows.get()) == 0) throw std::runtime_error("no row for: " + sql);
        return PQgetvalue(rows.get(), 0, 0);
    }

 private:
    static Rows checked(Rows rows) {
        const ExecStatusType status = PQresultStatus(rows.get());
        if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) return rows;
        throw std::runtime_error(PQresultErrorMessage(rows.get()));
    }

    std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
};

}  // namespace ebb::bench
