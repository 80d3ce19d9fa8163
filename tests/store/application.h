#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <libpq-fe.h>
#include <sqlite3.h>

#include <ebb/transaction.h>

#include "store/conformance.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/postgres_server.h"

// An application beside Ebb: its own connection to the store's database, and a table of its own.

namespace ebb::testing {

/// Runs statements on a connection; the first value of the last one, or "".
inline std::string run_sql(PGconn* connection, const std::string& sql) {
    PGresult* result = PQexec(connection, sql.c_str());
    const std::string error = PQresultErrorMessage(result);
    const std::string value = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "";
    PQclear(result);
    if (!error.empty()) throw std::runtime_error(error);
    return value;
}

inline std::string run_sql(sqlite3* connection, const std::string& sql) {
    std::string value;
    const auto take = [](void* into, int columns, char** values, char**) {
        if (columns > 0 && values[0] != nullptr) *static_cast<std::string*>(into) = values[0];
        return 0;
    };
    char* error = nullptr;
    sqlite3_exec(connection, sql.c_str(), take, &value, &error);
    if (error == nullptr) return value;
    const std::string message = error;
    sqlite3_free(error);
    throw std::runtime_error(message);
}

/// A database with a store in it, and how the application reaches both.
struct Place {
    std::function<StorePtr()> open;
    std::function<std::string(const std::string& sql)> ask;  ///< on a connection of its own
    std::function<std::string(const Transaction& transaction, const std::string& sql)> run;
};

inline Place sqlite_place(const TempDir& dir) {
    const std::string path = dir.file("ebb.db");
    return {
        [path] { return open_sqlite_store({.path = path}); },
        [path](const std::string& sql) {
            sqlite3* raw = nullptr;
            sqlite3_open(path.c_str(), &raw);
            const std::unique_ptr<sqlite3, int (*)(sqlite3*)> connection(raw, sqlite3_close);
            sqlite3_busy_timeout(raw, 10'000);
            return run_sql(raw, sql);
        },
        [](const Transaction& transaction, const std::string& sql) {
            return run_sql(transaction.sqlite(), sql);
        },
    };
}

inline Place postgres_place(const TempDir&) {
    const std::string schema = fresh_schema();
    const std::string url = postgres_server().url();
    postgres_server().execute("DROP TABLE IF EXISTS public.effects");
    return {
        [url, schema] { return open_postgres_store({.url = url, .schema = schema}); },
        [url](const std::string& sql) {
            const std::unique_ptr<PGconn, void (*)(PGconn*)> connection(
                PQconnectdb(url.c_str()), PQfinish
            );
            return run_sql(connection.get(), sql);
        },
        [](const Transaction& transaction, const std::string& sql) {
            return run_sql(transaction.postgres(), sql);
        },
    };
}

using PlaceMaker = Place (*)(const TempDir& dir);

}  // namespace ebb::testing
