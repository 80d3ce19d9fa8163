#pragma once

#include <string>
#include <string_view>

#include <libpq-fe.h>

#include <ebb/error.h>

#include "store/postgres/settings.h"

namespace ebb::postgres {

/// What the server has said no to.
class SqlError : public Error {
 public:
    SqlError(ErrorCode code, const std::string& message, std::string sqlstate)
        : Error(code, message), sqlstate_(std::move(sqlstate)) {}

    /// Five characters: https://www.postgresql.org/docs/current/errcodes-appendix.html
    const std::string& sqlstate() const { return sqlstate_; }

    /// The transaction lost against another one and did nothing: the same again may succeed.
    bool is_lost_race() const;

    /// Another session has held a lock for longer than Ebb waits. Nothing was done.
    bool is_lock_timeout() const { return sqlstate_ == "55P03"; }

    /// The statement took longer than the server lets it.
    bool is_interrupted() const { return sqlstate_ == "57014"; }

    /// The session is not what it was: a pooler has given it to others, or its server writes no
    /// more. Another one may do.
    bool is_of_session() const;

    /// Nothing can be written in this session, and nothing was.
    bool is_read_only() const { return sqlstate_ == "25006"; }

    /// The plan of a prepared statement does not fit the schema any more.
    bool is_stale_plan() const;

    /// The user may not do this.
    bool is_denied() const { return sqlstate_ == "42501"; }

    bool is_duplicate() const { return sqlstate_ == "23505"; }

 private:
    std::string sqlstate_;
};

/// The connection broke. What was sent may have been done.
class ConnectionLost : public Error {
 public:
    explicit ConnectionLost(const std::string& message)
        : Error(ErrorCode::StoreUnavailable, message) {}
};

/// Throws what the failed `result` means: SqlError, or ConnectionLost if the server has ended
/// the connection.
[[noreturn]] void throw_failure(const Settings& settings, const PGresult* result);

/// Throws why no connection could be made.
[[noreturn]] void throw_not_connected(const Settings& settings, std::string_view message);

}  // namespace ebb::postgres
