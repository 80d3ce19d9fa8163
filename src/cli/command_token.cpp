// `ebb token` and `ebb login-link`: who may use the server of a database.

#ifdef EBB_WITH_SERVER

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/admin.h"
#include "cli/serve_options.h"
#include "cli/table.h"
#include "cli/text.h"
#include "server/auth/access.h"

namespace ebb::cli {

namespace {

using server::Access;

[[noreturn]] void refuse(const std::string& message) {
    throw Error(ErrorCode::InvalidArgument, message);
}

Duration life_of(const TokenOptions& options) {
    if (options.expires.empty()) return Access::kTokenLife;
    if (options.expires == "never") return Duration::zero();
    const auto life = parse_duration(options.expires);
    if (!life || *life < std::chrono::minutes(1)) {
        refuse(fmt::format("\"{}\" is not a duration of at least 1m, or never.", options.expires));
    }
    return *life;
}

int create(Session& session, Access& access, const TokenOptions& options) {
    if (options.name.empty()) refuse("`ebb token create` needs a name.");
    const GivenRole& given = options.given;
    const auto role = server::parse_role(given.role);
    if (!role) refuse("`ebb token create` needs --role.");
    server::NewCredential credential{
        .name = options.name,
        .role = *role,
        .may_act_as = given.may_act_as,
        .decision_roles = given.decision_roles,
        .handlers = given.handlers,
        .queues = given.queues,
        .life = life_of(options),
        .by = session.by("")
    };
    if (!given.project.empty()) credential.project = given.project;
    const auto created = access.create_token(credential);
    if (!created) refuse(fmt::format("The token \"{}\" already exists.", options.name));
    if (session.options().is_json) {
        nlohmann::ordered_json json = created->view;
        json["token"] = created->token;
        session.print_json(json);
        return kOk;
    }
    session.print(created->token + "\n");
    session.note("It is shown only now. Send it as \"Authorization: Bearer TOKEN\".\n");
    return kOk;
}

int list(Session& session, Access& access) {
    const auto tokens = access.tokens();
    if (session.options().is_json) {
        session.print_json(tokens);
        return kOk;
    }
    if (tokens.empty()) {
        session.note("There are no tokens.\n");
        return kOk;
    }
    const Style& style = session.out();
    Table table(
        {style.dim("NAME"),
         style.dim("ROLE"),
         style.dim("PROJECT"),
         style.dim("EXPIRES"),
         style.dim("LAST USED")}
    );
    const auto text = [](const nlohmann::ordered_json& value, const char* otherwise) {
        return value.is_string() ? value.get<std::string>() : std::string(otherwise);
    };
    for (const auto& token : tokens) {
        table.add(
            {text(token.at("name"), ""),
             text(token.at("role"), ""),
             token.value("project", std::string(server::kEverything)),
             text(token.at("expires_at"), "never"),
             text(token.at("last_used_at"), "never")}
        );
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
    return kOk;
}

void revoke(Access& access, const std::string& name) {
    if (name.empty()) refuse("`ebb token revoke` needs a name.");
    std::vector<std::string> names;
    for (const auto& token : access.tokens()) names.push_back(token.value("name", ""));
    if (std::find(names.begin(), names.end(), name) == names.end()) {
        const std::string meant = closest(name, names);
        refuse(fmt::format(
            "There is no token \"{}\".{}",
            one_line(name),
            meant.empty() ? "" : fmt::format(" Did you mean \"{}\"?", one_line(meant))
        ));
    }
    access.revoke_token(name);
}

/// The address that the server which started last has recorded, without those that stopped.
std::string recorded_url(Session& session, AdminStore& admin) {
    std::string newest;
    std::string newest_start;
    std::vector<std::string> urls;
    for (const AdminRow& row : admin.list("server")) {
        const auto document = nlohmann::json::parse(row.document, nullptr, false);
        if (!document.is_object()) continue;
        urls.push_back(row.name);
        const std::string started = document.value("started_at", "");
        if (!newest.empty() && started < newest_start) continue;
        newest = row.name;
        newest_start = started;
    }
    if (newest.empty()) {
        refuse(
            "No server of this database is running, or none has recorded its address: give --url, "
            "such as --url https://ebb.example.com/."
        );
    }
    urls.erase(std::remove(urls.begin(), urls.end(), newest), urls.end());
    if (!urls.empty()) {
        session.note(fmt::format(
            "Other servers of this database, for --url: {}\n",
            one_line(fmt::format("{}", fmt::join(urls, ", ")))
        ));
    }
    return newest;
}

std::string link_url(Session& session, AdminStore& admin, const std::string& given) {
    std::string url = given;
    if (url.empty()) url = session.options().server;
    if (url.empty()) url = session.streams().environment("EBB_SERVER").value_or("");
    if (url.empty()) url = recorded_url(session, admin);
    if (url.starts_with("http://") || url.starts_with("https://")) return url;
    if (url.starts_with("unix:")) {
        refuse(fmt::format(
            "A browser cannot open {}, a Unix socket: give --url with the address of the proxy "
            "before it.",
            one_line(url)
        ));
    }
    refuse(fmt::format("\"{}\" is not a URL such as https://ebb.example.com/.", one_line(url)));
}

}  // namespace

int manage_tokens(Session& session, const TokenOptions& options) {
    const auto admin = open_shared_admin(session);
    Access access(*admin, *session.streams().clock);
    if (options.action == "create") return create(session, access, options);
    if (options.action == "list") return list(session, access);
    if (options.action != "revoke") {
        refuse(fmt::format("\"{}\" is not create, list or revoke.", options.action));
    }
    revoke(access, options.name);
    return kOk;
}

int print_login_link(Session& session, const LoginLinkOptions& options) {
    std::error_code error;
    if (session.options().db.empty() && !std::filesystem::exists("ebb.db", error)) {
        refuse(
            "`ebb login-link` writes to the database of the server: give its --db, or set EBB_DB. "
            "--url says where the link leads."
        );
    }
    const auto admin = open_shared_admin(session);
    Access access(*admin, *session.streams().clock);
    const auto role = server::parse_role(options.role);
    if (!role) refuse(fmt::format("\"{}\" is not a role.", options.role));
    const std::string url = link_url(session, *admin, options.url);
    const std::string secret =
        access.create_login({.name = session.by(options.user), .role = *role});
    const std::string slash = url.ends_with('/') ? "" : "/";
    session.print(fmt::format("{}{}#login={}\n", url, slash, secret));
    return kOk;
}

}  // namespace ebb::cli

#endif
