#include "store/postgres/sql_error.h"

#include <fmt/format.h>

namespace ebb::postgres {

namespace {

struct Meaning {
    ErrorCode code;
    std::string_view remedy;
};

Meaning meaning_of_class(std::string_view sqlstate) {
    const std::string_view kind = sqlstate.substr(0, 2);
    if (kind == "53" || kind == "58") {
        return {ErrorCode::StoreUnavailable, "The server lacks a resource; try again."};
    }
    if (kind == "40" || kind == "55") {
        return {ErrorCode::StoreBusy, "Other transactions are in the way for too long; try again."};
    }
    if (kind == "28") {
        return {ErrorCode::StoreDenied, "User and password must be known to the server."};
    }
    if (kind == "54") {
        return {ErrorCode::PayloadTooLarge, "A row of PostgreSQL must be smaller than 1 GB."};
    }
    return {ErrorCode::StoreError, "This should not happen; please report it."};
}

/// A prepared statement is gone, or there already.
bool is_of_pooler(std::string_view sqlstate) {
    return sqlstate == "26000" || sqlstate == "42P05";
}

Meaning meaning_of(std::string_view sqlstate) {
    if (sqlstate == "53100") {
        return {
            ErrorCode::StoreFull, "Make room on the server's disk; work then goes on by itself."
        };
    }
    if (sqlstate == "25006") {
        return {
            ErrorCode::StoreReadOnly,
            "The server is a standby or set read-only; target_session_attrs=read-write in the URL "
            "finds the primary among several hosts."
        };
    }
    if (sqlstate == "42501") {
        return {
            ErrorCode::StoreDenied,
            "The database user lacks a privilege; `ebb migrate --grants` prints what each role "
            "needs."
        };
    }
    if (sqlstate == "42P01" || sqlstate == "3F000" || sqlstate == "42703") {
        return {
            ErrorCode::StoreVersion, "The schema is not the one of this program: run `ebb migrate`."
        };
    }
    if (sqlstate == "22021" || sqlstate == "22P05") {
        return {ErrorCode::InvalidPayload, "Texts are UTF-8 and have no character U+0000."};
    }
    if (is_of_pooler(sqlstate)) {
        return {
            ErrorCode::StoreError,
            "A pooler such as PgBouncer gives one session to several clients: add "
            "?statement_cache=off to the database URL."
        };
    }
    if (sqlstate == "57014") {
        return {ErrorCode::StoreBusy, "The server's statement_timeout ended it; try again."};
    }
    if (sqlstate == "3D000") return {ErrorCode::StoreError, "Create the database first: createdb."};
    return meaning_of_class(sqlstate);
}

/// The server goes away, or has thrown this session out.
bool ends_connection(std::string_view sqlstate) {
    return sqlstate.starts_with("08") || sqlstate == "57P01" || sqlstate == "57P02" ||
           sqlstate == "57P03" || sqlstate == "57P05";
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    return text;
}

}  // namespace

bool SqlError::is_lost_race() const {
    return sqlstate_ == "40001" || sqlstate_ == "40P01" || sqlstate_ == "55P03";
}

bool SqlError::is_of_session() const {
    return is_of_pooler(sqlstate_) || is_read_only();
}

bool SqlError::is_stale_plan() const {
    return sqlstate_ == "0A000";
}

void throw_failure(const Settings& settings, const PGresult* result) {
    const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char* primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const std::string_view reason =
        trimmed(primary != nullptr ? primary : PQresultErrorMessage(result));
    if (state == nullptr || ends_connection(state)) {
        throw ConnectionLost(fmt::format(
            "The connection to {} broke ({}).", settings.target(), settings.without_password(reason)
        ));
    }
    const Meaning meaning = meaning_of(state);
    throw SqlError(
        meaning.code,
        fmt::format(
            "PostgreSQL at {} refused: {} (SQLSTATE {}). {}",
            settings.target(),
            settings.without_password(reason),
            state,
            meaning.remedy
        ),
        state
    );
}

void throw_not_connected(const Settings& settings, std::string_view message) {
    // libpq gives no SQLSTATE here. What a person must put right is not worth trying again.
    const std::string reason = settings.without_password(trimmed(message));
    const auto says = [&](std::string_view text) { return reason.find(text) != std::string::npos; };
    if (says("password authentication failed") || says("no password supplied") ||
        says("no pg_hba.conf entry") || (says("role \"") && says("does not exist"))) {
        throw Error(
            ErrorCode::StoreDenied,
            fmt::format(
                "PostgreSQL at {} does not let us in: {}. Check user, password and pg_hba.conf.",
                settings.target(),
                reason
            )
        );
    }
    if (says("database \"") && says("does not exist")) {
        throw Error(
            ErrorCode::StoreError,
            fmt::format(
                "PostgreSQL at {} has no such database: {}. Create it with createdb.",
                settings.target(),
                reason
            )
        );
    }
    if (says("unsupported startup parameter")) {
        throw Error(
            ErrorCode::StoreError,
            fmt::format(
                "The pooler at {} does not take the options of a session: {}. {}",
                settings.target(),
                reason,
                settings.caches_statements ? "Add ?statement_cache=off to the database URL."
                                           : "Leave options= out of the database URL."
            )
        );
    }
    throw Error(
        ErrorCode::StoreUnavailable,
        fmt::format("PostgreSQL at {} cannot be reached: {}", settings.target(), reason)
    );
}

}  // namespace ebb::postgres
