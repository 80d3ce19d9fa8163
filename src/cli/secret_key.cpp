#include "cli/secret_key.h"

#ifdef EBB_WITH_SERVER

#include <filesystem>

#include <fmt/format.h>

#include "cli/admin.h"
#include "server/auth/sealing.h"

#endif

namespace ebb::cli {

#ifdef EBB_WITH_SERVER

namespace {

/// Nothing if the service manager has given no such credential.
std::string credential(Session& session, const char* name) {
    const auto folder = session.streams().environment("CREDENTIALS_DIRECTORY");
    if (!folder || folder->empty()) return {};
    const auto path = std::filesystem::path(*folder) / name;
    std::error_code failed;
    return std::filesystem::exists(path, failed) ? path.string() : std::string();
}

std::string file_of(
    Session& session, const std::string& given, const char* variable, const char* name
) {
    if (!given.empty()) return given;
    const auto text = session.streams().environment(variable);
    return text && !text->empty() ? *text : credential(session, name);
}

std::string read_key(const std::string& path) {
    if (path.empty()) return {};
    try {
        return server::parse_store_key(read_secret_file(path));
    } catch (const Error& error) {
        throw Error(error.code(), fmt::format("{}: {}", path, error.what()));
    }
}

}  // namespace

std::shared_ptr<const SecretBox> open_secret_box(Session& session, KeyFiles files) {
    const std::string key = read_key(file_of(session, files.key, "EBB_KEY", "ebb-key"));
    const std::string old = read_key(file_of(session, files.old_key, "EBB_OLD_KEY", "ebb-old-key"));
    if (!key.empty()) return std::make_shared<const server::KeyBox>(key, old);
    if (old.empty()) return nullptr;
    throw Error(
        ErrorCode::InvalidArgument, "There is an old key, but no key: give --key or EBB_KEY, too."
    );
}

#else

std::shared_ptr<const SecretBox> open_secret_box(Session& /*session*/, KeyFiles /*files*/) {
    return nullptr;
}

#endif

}  // namespace ebb::cli
