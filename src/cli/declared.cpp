// What the configuration file of `ebb serve` declares, and the database has: webhooks, hooks,
// limits of queues, retention.

#ifdef EBB_WITH_SERVER

#include "cli/declared.h"

#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <ebb/engine.h>
#include <ebb/server.h>

#include "cli/admin.h"
#include "cli/session.h"
#include "engine/webhook.h"
#include "plugins/hooks/hook.h"
#include "server/api/settings.h"

namespace ebb::cli {

namespace {

using engine::Webhook;
using hooks::Hook;

constexpr std::string_view kKind = "declared";

[[noreturn]] void refuse(const std::string& message) {
    throw Error(ErrorCode::InvalidArgument, message);
}

/// Secrets are not in the file: it says where they are.
std::string resolve_secret(Session& session, const Json& secret) {
    const auto member = [&](const char* name) {
        const auto found = secret.is_object() ? secret.find(name) : secret.end();
        return found != secret.end() && found->is_string() ? found->get<std::string>()
                                                           : std::string();
    };
    if (const std::string file = member("file"); !file.empty()) return read_secret_file(file);
    if (const std::string name = member("env"); !name.empty()) {
        const auto text = session.streams().environment(name);
        if (!text || text->empty()) refuse(fmt::format("The variable {} is not set.", name));
        return *text;
    }
    if (const std::string name = member("credential"); !name.empty()) {
        const auto folder = session.streams().environment("CREDENTIALS_DIRECTORY");
        if (!folder) refuse("The service manager has passed no credentials.");
        return read_secret_file((std::filesystem::path(*folder) / name).string());
    }
    refuse("A secret is {file: PATH}, {env: NAME} or {credential: NAME}.");
}

Webhook webhook_of(Session& session, const Declared& declared) {
    Json settings = declared.settings;
    if (const auto secret = settings.find("secret"); secret != settings.end()) {
        settings["secret"] = resolve_secret(session, *secret);
    }
    return engine::read_webhook(declared.name, settings);
}

/// Its secret stays where it is: the server reads it for each event.
Hook hook_of(const Declared& declared) {
    const auto secret = declared.settings.find("secret");
    const bool has_secret = secret != declared.settings.end();
    if (has_secret && !secret->is_object()) {
        refuse("A secret of a hook is {env: NAME} or {file: NAME}.");
    }
    Hook hook = hooks::read_hook(declared.name, declared.settings);
    if (has_secret) return hook;
    refuse(
        "A hook in a file needs its secret, as {env: NAME} or {file: NAME}: one that Ebb made "
        "would be "
        "shown nowhere."
    );
}

server::Body body_of(const Declared& declared) {
    return server::Body(declared.settings.dump());
}

class Applying {
 public:
    Applying(Session& session, const DeclaredTarget& target) : session_(session), target_(target) {}

    bool apply(const Declared& declared) {
        if (declared.section == "webhooks") return put(webhook_of(session_, declared));
        if (declared.section == "hooks") return put(hook_of(declared));
        server::Body body = body_of(declared);
        if (declared.section == "queues") {
            return put(declared.name, server::read_queue_limits(body));
        }
        return put(declared.name, server::read_retention(body));
    }

    void remove(const std::string& section, const std::string& name) {
        if (section == "webhooks") {
            target_.store.remove_subscription(name);
        } else if (section == "hooks") {
            hooks::remove_hook(target_.admin, name);
        } else if (section == "queues") {
            target_.engine.set_queue(name, {});
        } else if (section == "retention") {
            target_.engine.clear_retention(name);
        }
    }

 private:
    bool put(Webhook wanted) {
        if (const auto found = target_.store.find_subscription(wanted.name)) {
            const Webhook known = engine::parse_webhook(*found);
            const Webhook open = engine::with_open_secrets(known, target_.box);
            if (wanted.secret.empty() || wanted.secret == open.secret) {
                Webhook same = wanted;
                same.secret = known.secret;
                same.old_secret = known.old_secret;
                same.old_until = known.old_until;
                if (same == known) return false;
            }
        }
        engine::put_webhook(target_.store, std::move(wanted), target_.box);
        return true;
    }

    bool put(Hook wanted) {
        if (const auto known = hooks::find_hook(target_.admin, wanted.name)) {
            Hook same = wanted;
            if (same.secret.is_empty()) same.secret = known->secret;
            if (same == *known) return false;
        }
        hooks::put_hook(target_.admin, std::move(wanted), target_.box);
        return true;
    }

    bool put(const std::string& queue, const QueueLimits& limits) {
        for (const QueueUse& known : target_.store.queues({.name = queue, .counts_tasks = false})) {
            if (known.view.limits == limits) return false;
        }
        target_.engine.set_queue(queue, limits);
        return true;
    }

    bool put(const std::string& workflow, const Retention& keep) {
        for (const RetentionRule& known : target_.store.retention()) {
            if (known.workflow == workflow && known.keep == keep) return false;
        }
        target_.engine.set_retention(workflow, keep);
        return true;
    }

    Session& session_;
    const DeclaredTarget& target_;
};

/// Whether this file has declared it.
bool is_of(const AdminRow& row, const std::string& file) {
    const Json settings = Json::parse(row.document, nullptr, false);
    const auto found = settings.is_object() ? settings.find("file") : settings.end();
    return found != settings.end() && found->is_string() && found->get<std::string>() == file;
}

/// With the place of what is wrong.
template <class Act>
auto at_place(const Declared& declared, Act act) {
    try {
        return act();
    } catch (const Error& error) {
        if (error.code() == ErrorCode::InvalidArgument) {
            throw ConfigError(declared.place, error.what());
        }
        throw Error(error.code(), fmt::format("{}: {}", declared.place, error.what()));
    } catch (const std::exception& error) {
        throw ConfigError(declared.place, error.what());
    }
}

}  // namespace

void check_declared(Session& session, const std::vector<Declared>& declared) {
    for (const Declared& each : declared) {
        at_place(each, [&] {
            if (each.section == "webhooks") {
                webhook_of(session, each);
            } else if (each.section == "hooks") {
                hook_of(each);
            } else if (each.section == "queues") {
                server::Body body = body_of(each);
                server::read_queue_limits(body);
            } else {
                server::Body body = body_of(each);
                server::read_retention(body);
            }
        });
    }
}

DeclaredChanges apply_declared(
    Session& session, const DeclaredTarget& target, const std::vector<Declared>& declared
) {
    Applying applying(session, target);
    DeclaredChanges changes;
    std::set<std::string> names;
    for (const Declared& each : declared) {
        const std::string name = each.section + " " + each.name;
        names.insert(name);
        // First, so that it is removed with the file's line whatever happens next.
        target.admin.put({std::string(kKind), name, Json{{"file", target.file}}.dump()});
        if (at_place(each, [&] { return applying.apply(each); })) changes.applied.push_back(name);
    }
    if (target.file.empty()) return changes;
    for (const AdminRow& row : target.admin.list(kKind)) {
        if (names.contains(row.name) || !is_of(row, target.file)) continue;
        const std::size_t space = row.name.find(' ');
        applying.remove(row.name.substr(0, space), row.name.substr(space + 1));
        target.admin.remove(kKind, row.name);
        changes.removed.push_back(row.name);
    }
    return changes;
}

}  // namespace ebb::cli

#endif
