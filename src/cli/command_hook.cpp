// `ebb hook`: the URLs at which other programs report events.

#ifdef EBB_WITH_SERVER

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "cli/admin.h"
#include "cli/client.h"
#include "cli/payload_argument.h"
#include "cli/secret_key.h"
#include "cli/serve_options.h"
#include "cli/table.h"
#include "cli/text.h"
#include "plugins/hooks/hook.h"

namespace ebb::cli {

namespace {

[[noreturn]] void refuse(const std::string& message) {
    throw Error(ErrorCode::InvalidArgument, message);
}

std::string text_of(const Json& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The hooks of a server, or of the database that servers share.
class Hooks {
 public:
    explicit Hooks(Session& session) : client_(&session.connect("hook")) {
        // It has an engine of its own, so it works on the database itself.
        if (client_->engine() == nullptr) return;
        client_ = nullptr;
        admin_ = open_shared_admin(session);
        session_ = &session;
    }

    std::vector<Json> list() {
        if (client_ != nullptr) return client_->hooks();
        std::vector<Json> all;
        for (const auto& hook : hooks::list_hooks(*admin_)) all.push_back(hooks::hook_json(hook));
        return all;
    }

    Json show(const std::string& name) {
        if (client_ != nullptr) return client_->hook(name);
        const auto hook = hooks::find_hook(*admin_, name);
        if (!hook) refuse_unknown(name);
        return hooks::hook_json(*hook);
    }

    Json put(const std::string& name, const Json& settings) {
        if (client_ != nullptr) return client_->put_hook(name, settings);
        const auto box = open_secret_box(*session_);
        return hooks::put_hook(*admin_, hooks::read_hook(name, settings), box.get());
    }

    void remove(const std::string& name) {
        if (client_ != nullptr) return client_->remove_hook(name);
        if (!hooks::remove_hook(*admin_, name)) refuse_unknown(name);
    }

 private:
    [[noreturn]] static void refuse_unknown(const std::string& name) {
        refuse(fmt::format("There is no hook \"{}\".", one_line(name)));
    }

    Client* client_ = nullptr;
    Session* session_ = nullptr;
    std::unique_ptr<AdminStore> admin_;
};

int print_all(Session& session, const std::vector<Json>& all) {
    if (session.options().is_json) {
        session.print_json(nlohmann::ordered_json(Json(all)));
        return kOk;
    }
    if (all.empty()) {
        session.note("There are no hooks.\n");
        return kOk;
    }
    const Style& style = session.out();
    Table table(
        {style.dim("NAME"),
         style.dim("STATE"),
         style.dim("SCHEME"),
         style.dim("DOES"),
         style.dim("WORKFLOW"),
         style.dim("WHEN")}
    );
    for (const Json& each : all) {
        const std::string signal = text_of(each, "signal");
        table.add(
            {text_of(each, "name"),
             each.value("enabled", true) ? "ok" : "disabled",
             text_of(each, "scheme"),
             signal.empty() ? "start" : "signal " + one_line(signal),
             one_line(text_of(each, "workflow")),
             one_line(text_of(each, "when"))}
        );
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
    return kOk;
}

int print_one(Session& session, const Json& hook) {
    if (session.options().is_json) {
        session.print_json(nlohmann::ordered_json(hook));
        return kOk;
    }
    print_all(session, {hook});
    session.print(fmt::format("\nURL: /api/v1/hooks/{}\n", text_of(hook, "name")));
    const std::string secret = text_of(hook, "secret");
    if (secret.empty()) return kOk;
    session.print(fmt::format("Secret: {}\n", secret));
    session.note("It is shown only now. Give it to the program that sends the events.\n");
    return kOk;
}

Json secret_of(const HookOptions& options) {
    const int count = static_cast<int>(!options.secret_file.empty()) +
                      static_cast<int>(!options.secret_env.empty()) +
                      static_cast<int>(!options.server_file.empty());
    if (count > 1) refuse("Give one of --secret-file, --secret-env and --server-file.");
    if (!options.secret_env.empty()) return {{"env", options.secret_env}};
    if (!options.server_file.empty()) return {{"file", options.server_file}};
    if (!options.secret_file.empty()) return read_secret_file(options.secret_file);
    return nullptr;
}

Json settings_of(Session& session, const HookOptions& options) {
    Json settings{{"enabled", !options.is_disabled}};
    const auto add = [&](const char* name, const std::string& text) {
        if (!text.empty()) settings[name] = text;
    };
    add("scheme", options.scheme);
    add("workflow", options.workflow);
    add("signal", options.signal);
    add("key", options.key);
    add("when", options.when);
    add("header", options.header);
    add("prefix", options.prefix);
    add("encoding", options.encoding);
    settings["secret"] = secret_of(options);
    if (!options.input.empty()) {
        settings["input"] = Json::parse(read_payload(options.input, "--input", session.streams()));
    }
    return settings;
}

}  // namespace

int manage_hooks(Session& session, const HookOptions& options) {
    if (options.action != "list" && options.name.empty()) {
        refuse(fmt::format("`ebb hook {}` needs the name of a hook.", options.action));
    }
    Hooks hooks(session);
    if (options.action == "list") return print_all(session, hooks.list());
    if (options.action == "put") {
        return print_one(session, hooks.put(options.name, settings_of(session, options)));
    }
    if (options.action == "delete") {
        hooks.remove(options.name);
        return kOk;
    }
    return print_one(session, hooks.show(options.name));
}

}  // namespace ebb::cli

#endif
