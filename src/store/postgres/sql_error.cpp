#include "store/postgres/sql_error.h"

#include <algorithm>
#include <optional>
#include <utility>

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
        return {ErrorCode::StoreBusy, "Other transactions hold locks for too long; try again."};
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
            ErrorCode::StoreFull,
            "Free some space on the server's disk; work then continues automatically."
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
    if (sqlstate == "23514") {
        return {
            ErrorCode::StoreError,
            "An `ebb migrate --partition-by` that did not end may have left a constraint on the "
            "table: `ebb migrate` removes it."
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

struct Remedy {
    ErrorCode code = ErrorCode::StoreDenied;
    std::string_view who = "PostgreSQL";
    std::string_view what = "does not let us in";
    std::string_view text;
};

/// What libpq or the server says of TLS, and what a person can do. The first that fits.
constexpr std::pair<std::string_view, std::string_view> kTlsRemedies[] = {
    {"root certificate file",
     "sslrootcert in the URL is the file with the certificate of the authority that has signed the "
     "server's."},
    {"certificate verify failed",
     "The server's certificate is not signed by the authority in sslrootcert, or has expired: give "
     "the right file there, or the server a new certificate."},
    {"does not match host name",
     "The name of the host in the URL must be one that the server's certificate has; hostaddr= "
     "says where it is, if the name does not."},
    {"server does not support SSL",
     "Switch TLS on at the server (ssl = on, ssl_cert_file, ssl_key_file), or ask for none."},
    {"requires a valid client certificate",
     "Give yours with sslcert and sslkey in the URL; its CN is the name of the user."},
    {"certificate authentication failed", "The CN of the certificate in sslcert must be the user."},
    {"private key file", "sslkey in the URL is the key of sslcert: yours or root's, chmod 600."},
    {"certificate file", "sslcert in the URL is your certificate, and sslkey its key."},
    {"does not match private key", "sslcert and sslkey in the URL must belong together."},
    {" alert ", "The server does not accept the certificate in sslcert, or the TLS that we speak."},
    {"invalid sslmode value",
     "sslmode is disable, allow, prefer, require, verify-ca or verify-full."},
};

constexpr std::string_view kCheckUser = "Check user, password and pg_hba.conf.";

std::optional<Remedy> remedy_of(const Settings& settings, std::string_view reason) {
    const auto says = [&](std::string_view text) { return reason.find(text) != reason.npos; };
    for (const auto& [trouble, text] : kTlsRemedies) {
        if (!says(trouble)) continue;
        return Remedy{
            .code = ErrorCode::StoreError, .what = "cannot be reached safely", .text = text
        };
    }
    const bool is_no_role = says("role \"") && says("does not exist");
    if (says("password authentication failed") || says("no password supplied") || is_no_role) {
        return Remedy{.text = kCheckUser};
    }
    if (says("no encryption") || says("SSL off")) {  // before PostgreSQL 14
        return Remedy{
            .code = ErrorCode::StoreError,
            .text =
                "It may want TLS (hostssl in pg_hba.conf), which sslmode=verify-full and "
                "sslrootcert in the URL ask for; else check user, password and pg_hba.conf."
        };
    }
    if (says("no pg_hba.conf entry")) return Remedy{.text = kCheckUser};
    if (says("database \"") && says("does not exist")) {
        return Remedy{
            .code = ErrorCode::StoreError,
            .what = "has no such database",
            .text = "Create it with createdb.",
        };
    }
    if (!says("unsupported startup parameter")) return std::nullopt;
    return Remedy{
        .code = ErrorCode::StoreError,
        .who = "The pooler",
        .what = "does not take the options of a session",
        .text = settings.caches_statements ? "Add ?statement_cache=off to the database URL."
                                           : "Leave options= out of the database URL.",
    };
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    return text;
}

/// What a function of ours refuses is a sentence by itself.
ErrorCode code_of_refusal(std::string_view sqlstate) {
    if (sqlstate == "EB013") return ErrorCode::WorkflowNotFound;
    return sqlstate == "EB009" ? ErrorCode::InvalidState : ErrorCode::InvalidArgument;
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
    const char* hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);
    if (std::string_view(state).starts_with("EB")) {
        throw SqlError(
            code_of_refusal(state),
            hint == nullptr ? std::string(reason) : fmt::format("{} {}", reason, hint),
            state
        );
    }
    Meaning meaning = meaning_of(state);
    if (meaning.code == ErrorCode::StoreDenied && hint != nullptr) meaning.remedy = hint;
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
    std::string reason = settings.without_password(trimmed(message));
    // libpq puts each question, and its answer for each host, on a line that begins with a tab.
    std::replace(reason.begin(), reason.end(), '\t', ' ');
    for (std::size_t at = 0; (at = reason.find('\n', at)) != std::string::npos; ++at) {
        reason[at] = reason.compare(at + 1, 1, " ") == 0 ? '.' : ' ';
    }
    if (reason.ends_with('.')) reason.pop_back();
    // libpq gives no SQLSTATE here. Retrying is useless if a person must fix the cause.
    const auto remedy = remedy_of(settings, reason);
    if (!remedy) {
        throw Error(
            ErrorCode::StoreUnavailable,
            fmt::format("PostgreSQL at {} cannot be reached: {}", settings.target(), reason)
        );
    }
    throw Error(
        remedy->code,
        fmt::format(
            "{} at {} {}: {}. {}",
            remedy->who,
            settings.target(),
            remedy->what,
            reason,
            remedy->text
        )
    );
}

}  // namespace ebb::postgres
