#pragma once

#include <string>

#include <ebb/store.h>

#include "sql_session.h"
#include "support/postgres_server.h"

namespace ebb::bench {

/// A database of its own with the flow `rules`, which is `three_transitions` as tables: its
/// transitions a, b and c have the numbers 1, 2 and 3. `server` must outlive it.
class SurfaceDatabase {
 public:
    explicit SurfaceDatabase(const testing::PostgresServer& server, int idle_triggers = 0);
    SurfaceDatabase(const SurfaceDatabase&) = delete;
    SurfaceDatabase& operator=(const SurfaceDatabase&) = delete;
    ~SurfaceDatabase();

    std::string url() const { return server_.url(name_); }

    StorePtr open() const { return open_postgres_store({.url = url()}); }

    /// In which the flow's tables and functions are found.
    SqlSession session() const;

    /// Starts so many instances with one statement.
    void start(int count) const;

    /// Copies the only instance, with its row, history and task, so that there are `count`. What
    /// triggers would do is not done.
    void multiply(int count) const;

 private:
    const testing::PostgresServer& server_;
    std::string name_;
};

/// Adds the flow `looking`, which is that of the same name as tables: its transition `look` fires
/// when the attribute `n` is raised. Its other transition, which no worker has, keeps an instance
/// from the exception `no_condition`. The session finds the flow's tables afterwards.
void make_looking_flow(SqlSession& session);

}  // namespace ebb::bench
