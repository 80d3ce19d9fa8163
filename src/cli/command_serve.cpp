// `ebb serve`: checks and shows its settings, then serves.

#ifdef EBB_WITH_SERVER

#include <memory>
#include <utility>

#include <fmt/format.h>

#include <ebb/server.h>

#include "cli/admin.h"
#include "cli/declared.h"
#include "cli/definition_folder.h"
#include "cli/demo.h"
#include "cli/exit_code.h"
#include "cli/secret_key.h"
#include "cli/serve_options.h"
#include "cli/serve_process.h"
#include "cli/serve_settings.h"
#include "cli/serve_stores.h"
#include "cli/worker_log.h"
#include "engine/checks.h"
#include "server/http/listening.h"
#include "support/core_dumps.h"

namespace ebb::cli {

namespace {

LogLevel level_of(Session& session, const ServeOptions& options) {
    if (session.options().is_quiet) return LogLevel::Warning;
    return options.is_verbose ? LogLevel::Debug : LogLevel::Info;
}

/// In JSON. The password of a database is left out.
std::string shown_value(const ServeSetting& setting, const std::string& url) {
    if (setting.key == "db") return nlohmann::json(shown_url(url)).dump();
    if (setting.key != "db_read") return setting.json();
    return nlohmann::json(shown_url(setting.text())).dump();
}

/// YAML that --config reads; settings with their defaults are comments.
void print_settings(Session& session, const ServeOptions& options, const std::string& url) {
    for (const ServeSetting& setting : options.settings) {
        const bool is_default = setting.origin == "default";
        session.print(
            is_default
                ? fmt::format("# {}: {}\n", setting.key, setting.about)
                : fmt::format(
                      "{}: {}  # {}\n", setting.key, shown_value(setting, url), setting.origin
                  )
        );
    }
    for (const std::string_view section : Declared::kSections) {
        for (bool is_first = true; const Declared& each : options.declared) {
            if (each.section != section) continue;
            if (std::exchange(is_first, false)) session.print(fmt::format("{}:\n", section));
            session.print(fmt::format(
                "  {}: {}  # {}\n",
                nlohmann::json(each.name).dump(),
                each.settings.dump(),
                each.place
            ));
        }
    }
}

/// Where --db, EBB_DB and the settings are silent, a demo leaves nothing behind.
std::string url_of(const Session& session, const ServeOptions& options) {
    if (!options.db.empty()) return options.db;
    return options.is_demo && session.options().db.empty() ? "memory:" : served_url(session);
}

/// The folder must be there when the server starts. With --check, its files must be valid, too: a
/// server that starts anyway reports those that are not, so that one mistake does not stop all
/// workflows.
void check_folder(Session& session, const ServeOptions& options) {
    for (const std::string& path : definition_paths(options.definitions)) {
        if (options.is_check) load_definition_file(path, session);
    }
}

}  // namespace

int run_server(Session& session, const ServeOptions& options) {
    // Before the first secret is read.
    if (!options.may_dump_core) forbid_core_dumps();
    const std::string url = url_of(session, options);
    check_server_options(server_options(options));
    check_delivery_options(options);
    engine::check_worker_id(options.id);
    open_secret_box(session, {.key = options.key, .old_key = options.old_key});
    check_declared(session, options.declared);
    check_stores(options, url);
    if (options.is_demo && options.is_dev) {
        throw Error(ErrorCode::InvalidArgument, "--demo has a life of its own: leave --dev out.");
    }
    if (options.is_demo && !options.files.empty()) {
        throw Error(
            ErrorCode::InvalidArgument, "--demo serves its own workflows: leave the files out."
        );
    }
    if (options.is_demo && !options.definitions.empty()) {
        throw Error(
            ErrorCode::InvalidArgument, "--demo serves its own workflows: leave --definitions out."
        );
    }
    std::vector<DefinitionFile> files;
    for (const std::string& path : options.files) {
        files.push_back(load_definition_file(path, session));
    }
    if (!options.definitions.empty()) check_folder(session, options);
    if (options.prints_settings) print_settings(session, options, url);
    if (options.is_check) session.note("The settings and the workflows are valid.\n");
    if (options.is_check || options.prints_settings) return kOk;
    // Before anything is written to a database that other servers share.
    for (const std::string& address : server_options(options).listen) {
        http::check_is_free(http::parse_endpoint(address));
    }
    WorkerLog log(session, level_of(session, options));
    const auto demo = options.is_demo ? std::make_unique<Demo>(*session.streams().clock) : nullptr;
    auto stores = open_stores(session, options, url, log, demo.get());
    // A signal has ended the wait for the database.
    if (!stores) return kOk;
    return serve_until_signal(
        session, options, url, files, {.log = log, .demo = demo.get(), .stores = std::move(*stores)}
    );
}

}  // namespace ebb::cli

#endif
