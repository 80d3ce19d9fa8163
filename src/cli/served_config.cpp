// The settings of a process of `ebb serve`: what they declare, and a reload.

#ifdef EBB_WITH_SERVER

#include "cli/served_config.h"

#include <filesystem>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/declared.h"
#include "cli/serve_settings.h"
#include "server/auth/audit.h"

namespace ebb::cli {

ServedConfig::ServedConfig(Parts parts)
    : parts_(std::move(parts)),
      drain_timeout_(parts_.options.drain_timeout),
      drain_delay_(parts_.options.drain_delay),
      settings_(parts_.options.settings) {}

void ServedConfig::begin() {
    declare(parts_.options.declared);
    show({
        .settings = setting_reports(parts_.options, parts_.options, parts_.url),
        .loaded_at = parts_.session.streams().clock->now(),
    });
}

ReloadReport ServedConfig::reload(Server& server) {
    const Lock lock(reloading_);
    try {
        ServeOptions fresh = parts_.options.reread(parts_.session);
        check_declared(parts_.session, fresh.declared);
        check_delivery_options(fresh);
        ReloadReport report = apply(server, fresh);
        report.changed = changed_live_settings(settings_, fresh.settings);
        settings_ = std::move(fresh.settings);
        is_good_ = true;
        parts_.log.write(LogLevel::Info, "config_reloaded", std::span<const LogField>());
        return report;
    } catch (const Error& error) {
        is_good_ = false;
        ConfigReport refused = shown();
        refused.error = error.what();
        show(std::move(refused));
        const LogField fields[] = {{"error", error.what()}};
        parts_.log.write(LogLevel::Error, "config_refused", fields);
        throw;
    }
}

ReloadReport ServedConfig::apply(Server& server, const ServeOptions& fresh) {
    server.reload(server_options(fresh));
    DeclaredChanges changes = declare(fresh.declared);
    drain_timeout_ = fresh.drain_timeout;
    drain_delay_ = fresh.drain_delay;
    show({
        .settings = setting_reports(parts_.options, fresh, parts_.url),
        .loaded_at = parts_.session.streams().clock->now(),
    });
    ReloadReport report{
        .applied = std::move(changes.applied),
        .removed = std::move(changes.removed),
        .needs_restart = need_restart(parts_.options, fresh),
    };
    for (const std::string& key : report.needs_restart) {
        const LogField fields[] = {{"key", key}};
        parts_.log.write(LogLevel::Warning, "config_needs_restart", fields);
    }
    return report;
}

DeclaredChanges ServedConfig::declare(const std::vector<Declared>& declared) {
    // By its whole path: another server's file of another name declares other things.
    const std::string file =
        parts_.options.config.empty()
            ? std::string()
            : std::filesystem::weakly_canonical(parts_.options.config).string();
    const DeclaredTarget target{
        parts_.engine, *parts_.stores.store, *parts_.stores.admin, parts_.box, file
    };
    DeclaredChanges changes = apply_declared(parts_.session, target, declared);
    server::Audit audit(*parts_.stores.admin, *parts_.session.streams().clock, &parts_.log);
    const auto note = [&](const std::string& name, const char* action) {
        audit.note({
            .principal = "ebb serve",
            .credential = "local",
            .action = action,
            .target = name,
            .detail = nlohmann::json{{"file", file}}.dump(),
        });
    };
    for (const std::string& name : changes.applied) {
        const LogField fields[] = {{"what", name}, {"file", file}};
        parts_.log.write(LogLevel::Info, "config_applied", fields);
        note(name, "applyConfig");
    }
    for (const std::string& name : changes.removed) {
        const LogField fields[] = {{"what", name}, {"file", file}};
        parts_.log.write(LogLevel::Warning, "config_removed", fields);
        note(name, "removeConfig");
    }
    return changes;
}

ConfigReport ServedConfig::shown() const {
    const Lock lock(mutex_);
    return report_;
}

void ServedConfig::show(ConfigReport report) {
    const Lock lock(mutex_);
    report_ = std::move(report);
}

}  // namespace ebb::cli

#endif
