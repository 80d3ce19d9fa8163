#ifdef EBB_WITH_SERVER

#include "cli/admin.h"

namespace ebb::cli {

std::string served_url(const Session& session) {
    const std::string& given = session.options().db;
    return given.empty() ? "sqlite:ebb.db" : given;
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
