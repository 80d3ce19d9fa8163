#include "cli/open_store.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <ebb/error.h>

#include "cli/text.h"
#include "store/migrations.h"
#include "support/redact.h"

namespace ebb::cli {

namespace {

constexpr std::string_view kSqlite = "sqlite:";

/// The scheme in front of `:`, where there is one: letters, more than one (so that `c:x` is a
/// path).
std::string_view scheme_of(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos || colon < 2) return {};
    const std::string_view scheme = text.substr(0, colon);
    const bool is_word = std::all_of(scheme.begin(), scheme.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
    return is_word ? scheme : std::string_view();
}

/// `host=db dbname=orders`, as libpq and psql also take it.
bool is_connection_string(std::string_view text) {
    constexpr std::array<std::string_view, 8> kKeywords{
        "host", "hostaddr", "port", "dbname", "user", "password", "service", "sslmode"
    };
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t equals = text.find('=', begin);
    if (equals == std::string_view::npos) return false;
    std::string_view keyword = text.substr(begin, equals - begin);
    keyword = keyword.substr(0, keyword.find(' '));
    return std::find(kKeywords.begin(), kKeywords.end(), keyword) != kKeywords.end();
}

StoreUrl sqlite_url(std::string_view path) {
    if (path.starts_with("//")) path.remove_prefix(2);
    if (path.empty()) {
        throw Error(
            ErrorCode::InvalidArgument,
            "The database URL has no path; write sqlite:PATH, such as sqlite:orders.db."
        );
    }
    return {.kind = StoreUrl::Kind::Sqlite, .path = std::string(path)};
}

/// SQLite makes a file, but no folder for it.
void require_folder(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code error;
    if (folder.empty() || std::filesystem::exists(folder, error)) return;
    throw Error(
        ErrorCode::StoreUnavailable,
        fmt::format(
            "The database \"{0}\" cannot be there: the folder \"{1}\" does not exist. Check the "
            "path, or create the folder: mkdir -p {2}",
            path,
            folder.string(),
            shell_word(folder.string())
        )
    );
}

/// A command that only reads must not create a file, or tables in a database of another program,
/// because of a misspelled name.
void require_schema(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
        throw Error(
            ErrorCode::StoreUnavailable,
            fmt::format(
                "There is no database \"{}\"; `ebb start FILE`, `ebb run FILE`, `ebb worker` and "
                "`ebb serve` make one.",
                path
            )
        );
    }
    const std::vector<Migration> known = sqlite_migrations({.path = path});
    const bool has_schema = std::any_of(known.begin(), known.end(), [](const Migration& migration) {
        return migration.is_applied;
    });
    if (has_schema) return;
    throw Error(
        ErrorCode::StoreUnavailable,
        fmt::format(
            "The database \"{}\" has no tables of Ebb; `ebb start FILE`, `ebb run FILE` and "
            "`ebb worker` make them.",
            path
        )
    );
}

}  // namespace

StoreUrl parse_store_url(std::string_view text) {
    const std::string_view scheme = scheme_of(text);
    if (scheme == "memory") return {.kind = StoreUrl::Kind::Memory, .path = {}};
    if (scheme == "sqlite") return sqlite_url(text.substr(kSqlite.size()));
    if (scheme == "postgresql" || scheme == "postgres") {
        return {.kind = StoreUrl::Kind::Postgres, .path = std::string(text)};
    }
    if (!scheme.empty()) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "\"{}:\" is not a supported database; use memory:, sqlite:PATH, a plain path "
                "or postgresql://...",
                scheme
            )
        );
    }
    if (is_connection_string(text)) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "\"{}...\" looks like the parameters of a PostgreSQL server; write them as a URL: "
                "postgresql://USER@HOST:PORT/DATABASE. (A SQLite file of that name is "
                "sqlite:PATH.)",
                text.substr(0, text.find('=') + 1)
            )
        );
    }
    return sqlite_url(text);
}

std::string shown_url(std::string_view text) {
    return scheme_of(text).starts_with("postgres") ? url_without_secrets(text) : std::string(text);
}

StorePtr open_store(std::string_view text, OpenMode mode) {
    const StoreUrl url = parse_store_url(text);
    switch (url.kind) {
        case StoreUrl::Kind::Memory:
            return open_memory_store();
        case StoreUrl::Kind::Sqlite:
            require_folder(url.path);
            if (mode == OpenMode::MustExist) require_schema(url.path);
            return open_sqlite_store({.path = url.path});
        case StoreUrl::Kind::Postgres:
            // A command that only reads must not create tables because of a misspelled name.
            return open_postgres_store(
                {.url = url.path,
                 .migrate = mode == OpenMode::MayCreate,
                 .application_name = "ebb command"}
            );
    }
    throw Error(ErrorCode::Internal, "A kind of store was forgotten.");
}

}  // namespace ebb::cli
