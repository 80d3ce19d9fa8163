#ifdef EBB_WITH_SERVER

#include "cli/admin.h"

#include <filesystem>

#include <fmt/format.h>

#include "cli/payload_argument.h"
#include "cli/text.h"

namespace ebb::cli {

namespace {

constexpr std::size_t kSecretBytesMax = 4'096;

}  // namespace

std::string served_url(const Session& session) {
    const std::string& given = session.options().db;
    return given.empty() ? "sqlite:ebb.db" : given;
}

std::unique_ptr<AdminStore> open_shared_admin(Session& session) {
    const std::string url = served_url(session);
    // Opened first: a path that is misspelled must not leave an empty database behind.
    if (parse_store_url(url).kind == StoreUrl::Kind::Memory) {
        throw Error(
            ErrorCode::InvalidArgument,
            "A database in memory belongs to one process: give the --db of the server."
        );
    }
    session.streams().open_store(url, OpenMode::MustExist);
    return open_admin_store(url);
}

std::string read_secret_file(const std::string& path) {
    using std::filesystem::perms;
    std::error_code failed;
    const auto status = std::filesystem::status(path, failed);
    if (!failed && (status.permissions() & perms::others_read) != perms::none) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("All users can read {}; use `chmod 600`.", one_line(path))
        );
    }
    std::string secret = read_file(path, kSecretBytesMax);
    while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
    return secret;
}

std::unique_ptr<AdminStore> open_admin_store(const std::string& url) {
    const StoreUrl parsed = parse_store_url(url);
    switch (parsed.kind) {
        case StoreUrl::Kind::Memory:
            return make_memory_admin_store();
        case StoreUrl::Kind::Sqlite:
            return open_sqlite_admin_store(parsed.path);
        case StoreUrl::Kind::Postgres:
            return open_postgres_admin_store(
                {.url = parsed.path, .application_name = "ebb serve, admin"}
            );
    }
    throw Error(ErrorCode::Internal, "A kind of store was forgotten.");
}

}  // namespace ebb::cli

#endif
