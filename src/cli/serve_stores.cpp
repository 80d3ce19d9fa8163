// The databases of `ebb serve`, and its wait for one that does not answer yet.

#ifdef EBB_WITH_SERVER

#include "cli/serve_stores.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/admin.h"
#include "cli/demo.h"
#include "cli/open_store.h"
#include "cli/serve_settings.h"
#include "cli/service_notice.h"
#include "cli/waiting_room.h"

namespace ebb::cli {

namespace {

using Kind = StoreUrl::Kind;

constexpr Duration kPauseMin = std::chrono::milliseconds(100);
constexpr Duration kPauseMax = std::chrono::seconds(5);
/// A service manager ends a start that says nothing for so long.
constexpr std::string_view kMoreTime = "EXTEND_TIMEOUT_USEC=60000000\n";
/// The row that says that a database is for development.
constexpr std::string_view kStoreKind = "store";
constexpr std::string_view kDevName = "dev";

/// Changes nothing in the tables: other versions of them are refused. Makes no file.
StorePtr open_unchanged(Session& session, const std::string& url) {
    const StoreUrl parsed = parse_store_url(url);
    if (parsed.kind != Kind::Sqlite) return session.streams().open_store(url, OpenMode::MustExist);
    std::error_code none;
    if (!std::filesystem::exists(parsed.path, none)) {
        throw Error(
            ErrorCode::StoreUnavailable,
            fmt::format("There is no database \"{}\"; `ebb migrate` makes one.", parsed.path)
        );
    }
    return open_sqlite_store({.path = parsed.path, .migrate = false});
}

StorePtr open_main(
    Session& session, const ServeOptions& options, const std::string& url, Demo* demo
) {
    if (demo != nullptr) return demo->open(url);
    if (options.migrate == "check") return open_unchanged(session, url);
    return session.streams().open_store(url, OpenMode::MayCreate);
}

/// Versions come by themselves there, which would do harm in a database with real instances.
void become_dev(ServeStores& stores, const std::string& url) {
    if (stores.admin->find(kStoreKind, kDevName)) return;
    const bool is_new =
        stores.store->list_workflows().empty() && stores.store->list({.limit = 1}).empty();
    if (!is_new) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "--dev is only for a database that --dev has made, and {} already has workflows. "
                "Name a new one, such as --db sqlite:dev.db.",
                shown_url(url)
            )
        );
    }
    stores.admin->put({std::string(kStoreKind), std::string(kDevName), "{}"});
}

ServeStores open_now(
    Session& session, const ServeOptions& options, const std::string& url, Demo* demo
) {
    ServeStores stores{.store = open_main(session, options, url, demo)};
    const bool is_memory = parse_store_url(url).kind == Kind::Memory;
    if (!options.db_read.empty()) {
        stores.own_reads = open_unchanged(session, options.db_read);
    } else if (!is_memory) {
        stores.own_reads = options.migrate == "check"
                               ? open_unchanged(session, url)
                               : session.streams().open_store(url, OpenMode::MayCreate);
    }
    stores.reads = is_memory ? stores.store.get() : stores.own_reads.get();
    stores.admin = open_admin_store(url);
    if (options.is_dev) become_dev(stores, url);
    return stores;
}

}  // namespace

void check_stores(const ServeOptions& options, const std::string& url) {
    const Kind kind = parse_store_url(url).kind;
    if (options.migrate == "check" && kind == Kind::Memory) {
        throw Error(
            ErrorCode::InvalidArgument,
            "--migrate check is for a database that exists: one in memory is always new."
        );
    }
    if (options.db_read.empty()) return;
    if (kind == Kind::Memory || parse_store_url(options.db_read).kind != kind) {
        throw Error(
            ErrorCode::InvalidArgument,
            "--db-read is a copy of the database that --db names: both are PostgreSQL, or both are "
            "SQLite."
        );
    }
}

std::optional<ServeStores> open_stores(
    Session& session,
    const ServeOptions& options,
    const std::string& url,
    WorkerLog& log,
    Demo* demo
) {
    const bool may_wait = !options.may_not_wait && parse_store_url(url).kind == Kind::Postgres;
    const ServiceNotice notice(session.streams().environment("NOTIFY_SOCKET"));
    Interrupts interrupts;
    std::shared_ptr<void> caught;
    std::unique_ptr<WaitingRoom> room;
    for (Duration pause = kPauseMin; interrupts.count() == 0;
         pause = std::min(pause * 2, kPauseMax)) {
        try {
            ServeStores stores = open_now(session, options, url, demo);
            if (room) log.write(LogLevel::Info, "store_reached", std::span<const LogField>());
            return stores;
        } catch (const Error& error) {
            if (!may_wait || !error.is_transient()) throw;
            if (!room) {
                caught = session.streams().catch_signals(interrupts);
                room = std::make_unique<WaitingRoom>(server_options(options));
            }
            const LogField fields[] = {{"error", error.what()}};
            log.write(LogLevel::Warning, "store_unreachable", fields);
            notice.send(fmt::format("{}STATUS=Waiting: {}", kMoreTime, error.what()));
        }
        interrupts.wait(pause);
    }
    return std::nullopt;
}

}  // namespace ebb::cli

#endif
