// What the settings of `ebb serve` mean to its parts.

#ifdef EBB_WITH_SERVER

#include "cli/serve_settings.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/admin.h"
#include "cli/open_store.h"
#include "cli/payload_argument.h"
#include "cli/text.h"
#include "engine/webhook.h"
#include "handlers/mail_client.h"
#include "server/api/guard.h"
#include "server/api/redaction.h"
#include "support/json.h"

namespace ebb::cli {

namespace {

constexpr std::size_t kLinkShownMax = 64;
constexpr std::size_t kCaBytesMax = std::size_t{4} << 20;

std::vector<PageLink> links_of(const ServeOptions& options) {
    std::vector<PageLink> links;
    for (const std::string& text : options.links) {
        const std::size_t sign = text.find('=');
        if (sign == std::string::npos) {
            throw Error(
                ErrorCode::InvalidArgument,
                fmt::format(
                    "--links: \"{}\" is not NAME=URL, such as "
                    "Logs=https://logs.example.com/?q=${{instance.id}}.",
                    clean_text(text, kLinkShownMax)
                )
            );
        }
        links.push_back({.name = text.substr(0, sign), .url = text.substr(sign + 1)});
    }
    return links;
}

/// The secret is in a file that only its owner may read.
std::optional<ProxyLogin> proxy_login_of(const ServeOptions& options) {
    if (options.proxy_secret_file.empty()) return std::nullopt;
    ProxyLogin login{.secret = read_secret_file(options.proxy_secret_file)};
    if (!options.proxy_user_header.empty()) login.user_header = options.proxy_user_header;
    if (!options.proxy_groups_header.empty()) login.groups_header = options.proxy_groups_header;
    return login;
}

std::optional<OidcLogin> oidc_login_of(const OidcOptions& options) {
    if (options.issuer.empty()) {
        if (options == OidcOptions()) return std::nullopt;
        throw Error(
            ErrorCode::InvalidArgument, "Settings of a login by OIDC need --oidc-issuer, too."
        );
    }
    OidcLogin login{.issuer = options.issuer, .client_id = options.client_id};
    if (!options.client_secret_file.empty()) {
        login.client_secret = read_secret_file(options.client_secret_file);
    }
    login.name = options.name;
    if (!options.scopes.empty()) login.scopes = options.scopes;
    if (!options.groups_claim.empty()) login.groups_claim = options.groups_claim;
    login.audience = options.audience;
    login.ca_file = options.ca_file;
    return login;
}

/// As the API shows payloads to those who may not see what is sensitive.
std::function<Payload(const Payload&, const std::string&, int)> shown_payloads(
    const ServeOptions& options, Store& store
) {
    server::RedactionRules rules{.names = server::RedactionRules::default_names()};
    if (!options.redact_names.empty()) rules.names = options.redact_names;
    for (const std::string& text : options.redact_pointers) {
        rules.places.push_back(server::parse_redacted_place(text));
    }
    const auto redaction = std::make_shared<const server::Redaction>(
        std::move(rules),
        [&store](const std::string& name, int version) -> std::optional<std::string> {
            auto row = store.find_workflow(name, version);
            if (!row) return std::nullopt;
            return std::move(row->definition);
        }
    );
    const bool hides = options.hides_payloads;
    return [redaction, hides](const Payload& payload, const std::string& workflow, int version) {
        return hides ? Payload() : redaction->apply(payload, {workflow, version});
    };
}

std::optional<MailServer> mail_server(const ServeOptions& options) {
    if (options.smtp_url.empty()) return std::nullopt;
    if (!is_mail_url(options.smtp_url)) {
        throw Error(
            ErrorCode::InvalidArgument,
            "--smtp-url is not a URL such as smtp://mail.example.com:587 or smtps://..."
        );
    }
    if (!engine::is_mail_address(options.smtp_from)) {
        throw Error(
            ErrorCode::InvalidArgument,
            "--smtp-from is not the address of a sender, such as ebb@example.com."
        );
    }
    MailServer server{.url = options.smtp_url, .user = options.smtp_user};
    server.ca_file = options.smtp_ca_file;
    if (!options.smtp_password_file.empty()) {
        server.password = read_secret_file(options.smtp_password_file);
    }
    return server;
}

/// To which addresses besides those of the public internet webhooks go.
struct PrivateNetworks {
    bool has_all = false;
    std::vector<server::AddressRange> networks{};
};

PrivateNetworks private_networks(const std::vector<std::string>& texts) {
    PrivateNetworks result;
    if (texts.size() == 1 && (texts[0] == "true" || texts[0] == "false")) {
        result.has_all = texts[0] == "true";
        return result;
    }
    for (const std::string& text : texts) {
        try {
            result.networks.emplace_back(text);
        } catch (const Error& error) {
            throw Error(error.code(), fmt::format("--webhooks-allow-private: {}", error.what()));
        }
    }
    return result;
}

/// An address may carry a login: `smtp://user:password@host`.
std::string without_login(const std::string& text) {
    const std::size_t begin = text.find("://");
    if (begin == std::string::npos) return text;
    const std::size_t host = begin + 3;
    const std::size_t at = text.substr(0, text.find('/', host)).rfind('@');
    if (at == std::string::npos || at < host) return text;
    return text.substr(0, host) + "***" + text.substr(at);
}

SettingReport report_of(const ServeSetting& setting) {
    SettingReport report{.key = setting.key, .about = setting.about};
    if (setting.origin == "default" || setting.origin == "flag") {
        report.origin = setting.origin;
    } else {
        report.origin = setting.origin.find(':') == std::string::npos ? "environment" : "file";
        report.place = setting.origin;
    }
    if (setting.origin != "default") report.value = without_login(setting.text());
    return report;
}

}  // namespace

std::string ServeSetting::text() const {
    return fmt::format("{}", fmt::join(values, ", "));
}

std::string ServeSetting::json() const {
    const std::string value = text();
    const bool is_switch = value.empty() || value == "true" || value == "false";
    if (type == Type::List) return nlohmann::json(values).dump();
    if (type == Type::FlagOrList && !is_switch) return nlohmann::json(values).dump();
    if (type == Type::FlagOrList) return value.empty() ? "false" : value;
    if (type == Type::Flag) return value.empty() ? "false" : value;
    return type == Type::Number ? value : nlohmann::json(value).dump();
}

ServerOptions server_options(
    const ServeOptions& options, AdminStore* admin, LogSink* log, Metrics* metrics
) {
    ServerOptions server{
        .tls_certificate = options.tls_certificate,
        .tls_key = options.tls_key,
        .tls_client_ca = options.tls_client_ca,
        .behind_proxy = options.behind_proxy,
        .allows_plaintext = options.is_plaintext_allowed,
        .needs_login = !options.has_no_login,
        .proxy_login = proxy_login_of(options),
        .oidc = oidc_login_of(options.oidc),
        .public_url = options.public_url,
        .base_path = options.base_path,
        .allowed_hosts = options.allowed_hosts,
        .cors_origins = options.cors_origins,
        .connections_max = static_cast<std::size_t>(options.max_connections),
        .requests_per_second = options.requests_per_second,
        .redact_pointers = options.redact_pointers,
        .hides_payloads = options.hides_payloads,
        .title = options.title,
        .links = links_of(options),
        .has_worker = !options.has_no_worker,
        .is_dev = options.is_dev,
        .admin = admin,
        .log = log,
        .metrics = metrics,
        .has_public_metrics = options.has_public_metrics,
    };
    if (!options.hook_secrets.empty()) {
        server.hook_secret = [folder = options.hook_secrets](const std::string& name) {
            return read_secret_file((std::filesystem::path(folder) / name).string());
        };
    }
    if (!options.listen.empty()) server.listen = options.listen;
    if (!options.redact_names.empty()) server.redact_names = options.redact_names;
    return server;
}

webhooks::DeliveryOptions delivery_options(const ServeOptions& options, Store& store) {
    std::string site = options.public_url;
    while (site.ends_with('/')) site.pop_back();
    if (!site.empty()) {
        site += options.base_path;
        while (site.ends_with('/')) site.pop_back();
    }
    PrivateNetworks reached = private_networks(options.private_networks);
    std::function<bool(const std::string&)> may_reach;
    if (!reached.networks.empty()) {
        may_reach = [networks = std::move(reached.networks)](const std::string& address) {
            return std::any_of(networks.begin(), networks.end(), [&](const auto& network) {
                return network.contains(address);
            });
        };
    }
    return {
        .allows_private = reached.has_all,
        .may_reach = std::move(may_reach),
        .user_agent = "ebb/" EBB_VERSION,
        .site = site,
        .mail = mail_server(options),
        .mail_from = options.smtp_from,
        .shown = shown_payloads(options, store),
    };
}

void check_delivery_options(const ServeOptions& options) {
    private_networks(options.private_networks);
    mail_server(options);
    if (!options.smtp_ca_file.empty())
        static_cast<void>(read_file(options.smtp_ca_file, kCaBytesMax));
    // The folder may come after the server: it is read for each event.
    std::error_code failed;
    const bool needs_folder = options.is_check && !options.hook_secrets.empty();
    if (!needs_folder || std::filesystem::is_directory(options.hook_secrets, failed)) return;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "--hook-secrets: \"{}\" is not a folder that can be read.",
            one_line(options.hook_secrets)
        )
    );
}

std::vector<std::string> need_restart(const ServeOptions& now, const ServeOptions& fresh) {
    std::vector<std::string> keys;
    const auto compare = [&](const char* key, const auto& was, const auto& is) {
        if (was != is) keys.emplace_back(key);
    };
    compare("db", now.db, fresh.db);
    compare("db_read", now.db_read, fresh.db_read);
    compare("migrate", now.migrate, fresh.migrate);
    compare("no_wait", now.may_not_wait, fresh.may_not_wait);
    compare("definitions", now.definitions, fresh.definitions);
    compare("listen", now.listen, fresh.listen);
    compare("tls_cert", now.tls_certificate.empty(), fresh.tls_certificate.empty());
    compare("behind_proxy", now.behind_proxy, fresh.behind_proxy);
    compare("insecure_plaintext", now.is_plaintext_allowed, fresh.is_plaintext_allowed);
    compare("no_auth", now.has_no_login, fresh.has_no_login);
    compare("public_metrics", now.has_public_metrics, fresh.has_public_metrics);
    compare("proxy_secret_file", now.proxy_secret_file, fresh.proxy_secret_file);
    compare("proxy_user_header", now.proxy_user_header, fresh.proxy_user_header);
    compare("proxy_groups_header", now.proxy_groups_header, fresh.proxy_groups_header);
    compare("oidc", now.oidc, fresh.oidc);
    compare("public_url", now.public_url, fresh.public_url);
    compare("redact_names", now.redact_names, fresh.redact_names);
    compare("redact_pointers", now.redact_pointers, fresh.redact_pointers);
    compare("hide_payloads", now.hides_payloads, fresh.hides_payloads);
    compare("hook_secrets", now.hook_secrets, fresh.hook_secrets);
    compare("key", now.key, fresh.key);
    compare("old_key", now.old_key, fresh.old_key);
    compare("base_path", now.base_path, fresh.base_path);
    compare("title", now.title, fresh.title);
    compare("links", now.links, fresh.links);
    compare("max_connections", now.max_connections, fresh.max_connections);
    compare("cors_origins", now.cors_origins, fresh.cors_origins);
    compare("core_dumps", now.may_dump_core, fresh.may_dump_core);
    compare("no_worker", now.has_no_worker, fresh.has_no_worker);
    compare("smtp_url", now.smtp_url, fresh.smtp_url);
    compare("smtp_from", now.smtp_from, fresh.smtp_from);
    compare("smtp_user", now.smtp_user, fresh.smtp_user);
    compare("smtp_password_file", now.smtp_password_file, fresh.smtp_password_file);
    compare("smtp_ca_file", now.smtp_ca_file, fresh.smtp_ca_file);
    compare("webhooks_allow_private", now.private_networks, fresh.private_networks);
    compare("allow_exec", now.may_exec, fresh.may_exec);
    compare("audit_retention", now.audit_retention, fresh.audit_retention);
    compare("threads", now.threads, fresh.threads);
    compare("id", now.id, fresh.id);
    compare("verbose", now.is_verbose, fresh.is_verbose);
    return keys;
}

namespace {

/// Server::reload and a stop read them again.
bool is_live(const ServeSetting& setting) {
    constexpr std::array<std::string_view, 7> kLive{
        "tls_cert",
        "tls_key",
        "tls_client_ca",
        "allowed_hosts",
        "requests_per_second",
        "drain_timeout",
        "drain_delay"
    };
    return std::find(kLive.begin(), kLive.end(), setting.key) != kLive.end();
}

auto find_setting(const std::vector<ServeSetting>& settings, const std::string& key) {
    return std::find_if(settings.begin(), settings.end(), [&](const ServeSetting& one) {
        return one.key == key;
    });
}

}  // namespace

std::vector<std::string> changed_live_settings(
    const std::vector<ServeSetting>& before, const std::vector<ServeSetting>& after
) {
    std::vector<std::string> keys;
    for (const ServeSetting& setting : after) {
        const auto was = find_setting(before, setting.key);
        const bool is_same = was != before.end() && was->values == setting.values;
        if (is_live(setting) && !is_same) keys.push_back(setting.key);
    }
    return keys;
}

std::vector<SettingReport> setting_reports(
    const ServeOptions& now, const ServeOptions& fresh, const std::string& url
) {
    const std::vector<std::string> waiting = need_restart(now, fresh);
    std::vector<SettingReport> reports;
    for (const ServeSetting& setting : now.settings) {
        const auto is_of = [&](const std::string& key) {
            return setting.key == key || (key == "oidc" && setting.key.starts_with("oidc_"));
        };
        const auto found = find_setting(fresh.settings, setting.key);
        const bool is_fresh = is_live(setting) && found != fresh.settings.end();
        SettingReport report = report_of(is_fresh ? *found : setting);
        report.is_live = is_live(setting);
        report.needs_restart = std::any_of(waiting.begin(), waiting.end(), is_of);
        if (setting.key == "db") report.value = shown_url(url);
        if (setting.key == "db_read") report.value = shown_url(setting.text());
        reports.push_back(std::move(report));
    }
    return reports;
}

}  // namespace ebb::cli

#endif
