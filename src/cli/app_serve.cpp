// The command that serves the API and the web UI.

#include "cli/app.h"

#ifdef EBB_WITH_SERVER

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include <ebb/server.h>

#include "cli/serve_config.h"
#include "cli/text.h"
#include "server/api/guard.h"

namespace ebb::cli {

namespace {

/// What a file or the environment cannot say: it would come too late.
constexpr std::array<std::string_view, 6> kOnlyFlags{
    "help", "config", "check", "print-config", "demo", "dev"
};

std::string key_of(const CLI::Option& option) {
    std::string key = option.get_lnames().empty() ? "" : option.get_lnames().front();
    if (std::find(kOnlyFlags.begin(), kOnlyFlags.end(), key) != kOnlyFlags.end()) return {};
    std::replace(key.begin(), key.end(), '-', '_');
    return key;
}

std::string variable_of(std::string key) {
    std::transform(key.begin(), key.end(), key.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return "EBB_" + key;
}

std::vector<std::string> split_at_commas(const std::string& text) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t comma = text.find(','); comma != std::string::npos;
         begin = comma + 1, comma = text.find(',', begin)) {
        parts.push_back(text.substr(begin, comma - begin));
    }
    parts.push_back(text.substr(begin));
    return parts;
}

bool is_flag(const CLI::Option& option) {
    return option.get_expected_max() == 0;
}

bool is_list(const CLI::Option& option) {
    return option.get_expected_max() > 1 || option.get_delimiter() != '\0' ||
           option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
}

ServeSetting::Type type_of(const CLI::Option& option) {
    if (is_flag(option)) {
        return is_list(option) ? ServeSetting::Type::FlagOrList : ServeSetting::Type::Flag;
    }
    if (is_list(option)) return ServeSetting::Type::List;
    return option.get_type_name() == "N" ? ServeSetting::Type::Number : ServeSetting::Type::Text;
}

/// Gives the option these values, as if they stood on the command line.
void set_option(
    CLI::Option& option, const std::vector<std::string>& values, const std::string& origin
) {
    const bool is_off = is_flag(option) && values == std::vector<std::string>{"false"};
    try {
        for (const std::string& value : values) {
            if (is_off) break;
            if (!is_flag(option) || is_list(option) || value == "true") {
                option.add_result(value);
            } else {
                throw CLI::ValidationError(fmt::format("\"{}\" is not true or false", value));
            }
        }
        if (option.count() > 0) option.run_callback();
    } catch (const CLI::ParseError& error) {
        throw Error(
            ErrorCode::InvalidArgument, fmt::format("{}: {}.", origin, one_line(error.what()))
        );
    }
}

/// 1 and 0 are what a shell calls true and false.
std::vector<std::string> values_of_variable(const CLI::Option& option, const std::string& text) {
    if (is_list(option)) return split_at_commas(text);
    if (is_flag(option) && text == "1") return {"true"};
    if (is_flag(option) && text == "0") return {"false"};
    return {text};
}

const ConfigEntry* find_entry(const std::vector<ConfigEntry>& entries, const std::string& key) {
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) {
        return entry.key == key;
    });
    return found == entries.end() ? nullptr : &*found;
}

/// The value of an option that also stands alone is written after `=`: a network behind a space
/// would be a workflow's file.
void check_files(const std::vector<std::string>& files) {
    for (const std::string& file : files) {
        std::error_code failed;
        if (std::filesystem::exists(file, failed)) continue;
        try {
            for (const std::string& network : split_at_commas(file)) server::AddressRange{network};
        } catch (const Error&) {
            continue;
        }
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "\"{0}\" is a network, not the file of a workflow: write "
                "--webhooks-allow-private={0}, without a space.",
                one_line(file)
            )
        );
    }
}

void check_keys(const std::vector<ConfigEntry>& entries, const std::vector<std::string>& known) {
    for (const ConfigEntry& entry : entries) {
        if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
        const std::string meant = closest(entry.key, known);
        throw ConfigError(
            entry.place,
            fmt::format(
                "There is no setting \"{}\"{}",
                one_line(entry.key),
                meant.empty() ? "." : fmt::format("; did you mean \"{}\"?", meant)
            )
        );
    }
}

void add_limit_flags(
    CLI::App& serve,
    ServeOptions& options,
    const CLI::Validator& rates,
    const CLI::Validator& counts
) {
    serve
        .add_option(
            "--requests-per-second",
            options.requests_per_second,
            "Per token or person; 0 = no limit (1000)"
        )
        ->type_name("N")
        ->check(rates);
    serve
        .add_option(
            "--max-connections",
            options.max_connections,
            "Open connections, streams included (4096)"
        )
        ->type_name("N")
        ->check(counts);
}

void add_page_flags(CLI::App& serve, ServeOptions& options) {
    serve.add_option("--title", options.title, "Shown by the web UI")->type_name("TEXT");
    serve.add_option("--links", options.links, "From each instance to its logs, its trace, ...")
        ->type_name("NAME=URL")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_worker_flags(CLI::App& serve, ServeOptions& options) {
    serve.add_flag("--no-worker", options.has_no_worker, "Run no handlers in this process");
    serve
        .add_flag(
            "--webhooks-allow-private",
            options.private_networks,
            "Deliver webhooks to all private addresses, or only to =NETWORK,..."
        )
        ->delimiter(',');
    const auto add = [&](const char* name, std::string& target, const char* about, const char* type
                     ) { serve.add_option(name, target, about)->type_name(type); };
    add("--smtp-url", options.smtp_url, "Send mail by smtp://HOST:PORT or smtps://...", "URL");
    add("--smtp-from", options.smtp_from, "The address that sends mail", "ADDRESS");
    add("--smtp-user", options.smtp_user, "Log in to the mail server with this name", "NAME");
    add("--smtp-password-file", options.smtp_password_file, "And with this password", "FILE");
    add("--smtp-ca-file", options.smtp_ca_file, "Trust these certificates for mail", "FILE");
}

}  // namespace

/// Environment and file fill what the command line leaves open, in this order.
void CommandLine::configure_serve(Session& session) {
    const auto variable = [&](const std::string& key) {
        return session.streams().environment(variable_of(key));
    };
    if (serve_.config.empty()) serve_.config = variable("config").value_or("");
    Config config;
    if (!serve_.config.empty()) config = read_config(serve_.config);
    const std::vector<ConfigEntry>& entries = config.entries;
    serve_.declared = std::move(config.declared);
    std::vector<std::string> known{"db"};
    known.insert(known.end(), Declared::kSections.begin(), Declared::kSections.end());
    const CLI::App* serve = app_.get_subcommand("serve");
    for (const CLI::Option* option : serve->get_options()) {
        if (const std::string key = key_of(*option); !key.empty()) known.push_back(key);
    }
    check_keys(entries, known);

    ServeSetting db{.key = "db", .origin = "default", .about = "The database"};
    if (!session.options().db.empty()) {
        db.origin = app_.get_option("--db")->count() > 0 ? "flag" : "EBB_DB";
    } else if (const ConfigEntry* entry = find_entry(entries, "db")) {
        if (entry->is_list) {
            throw ConfigError(entry->place, "db is one text, not a list.");
        }
        serve_.db = entry->values.front();
        db.origin = entry->place;
    }
    serve_.settings.push_back(std::move(db));
    for (const CLI::Option* seen : serve->get_options()) {
        const std::string key = key_of(*seen);
        if (key.empty()) continue;
        CLI::Option& option = *app_.get_subcommand("serve")->get_option(seen->get_name());
        ServeSetting setting{
            .key = key, .type = type_of(option), .about = option.get_description()
        };
        const ConfigEntry* entry = find_entry(entries, key);
        if (option.count() > 0) {
            setting.origin = "flag";
        } else if (const auto text = variable(key)) {
            setting.origin = variable_of(key);
            set_option(option, values_of_variable(option, *text), setting.origin);
        } else if (entry != nullptr) {
            setting.origin = entry->place;
            if (entry->is_list && !is_list(option)) {
                throw ConfigError(entry->place, key + " is one value, not a list.");
            }
            try {
                set_option(option, entry->values, key);
            } catch (const Error& error) {
                throw ConfigError(entry->place, error.what());
            }
        } else {
            setting.origin = "default";
        }
        setting.values = option.results();
        serve_.settings.push_back(std::move(setting));
    }
    check_files(serve_.files);
    if (!serve_.is_dev) return;
    if (serve_.definitions.empty()) serve_.definitions = ".";
    serve_.is_verbose = true;
}

int CommandLine::serve(Session& session) {
    configure_serve(session);
    serve_.reread = [args = args_](Session& again) {
        CommandLine fresh;
        fresh.parse(args);
        fresh.configure_serve(again);
        return fresh.serve_;
    };
    return run_server(session, serve_);
}

void CommandLine::add_serve() {
    CLI::App* serve =
        add_command("serve", "Serve the API and the web UI, and run due tasks", [this](Session& s) {
            return this->serve(s);
        });
    serve->group("Run");
    serve->add_option("FILE", serve_.files, "Workflows to register first");
    serve
        ->add_option(
            "--config", serve_.config, "Settings in YAML; a flag or EBB_NAME overrides them"
        )
        ->type_name("FILE");
    serve
        ->add_option(
            "--definitions",
            serve_.definitions,
            "Register this folder's workflows, now and on change"
        )
        ->type_name("DIR");
    serve->add_flag("--demo", serve_.is_demo, "Fill an empty database with a month of sample data");
    serve->add_flag(
        "--dev",
        serve_.is_dev,
        "Develop: each change in this folder becomes the next version; for a new database"
    );
    add_serve_database(serve);
    serve->add_flag("--check", serve_.is_check, "Only check the settings and workflows");
    serve->add_flag(
        "--print-config",
        serve_.prints_settings,
        "Only print the settings and where each comes from"
    );
    add_serve_network(serve);
    add_serve_access(serve);
    serve->add_option("--base-path", serve_.base_path, "Serve everything below this path (/)")
        ->type_name("PATH");
    add_limit_flags(*serve, serve_, within(0, 1'000'000), within(1, 100'000));
    add_page_flags(*serve, serve_);
    add_worker_flags(*serve, serve_);
    add_allow_exec(serve, serve_.may_exec);
    add_threads(serve, serve_.threads);
    serve->add_option("--id", serve_.id, "This worker's name (default: host, process, random)")
        ->type_name("NAME");
    add_duration(
        serve,
        "--drain-timeout",
        serve_.drain_timeout,
        "How long handlers may continue after SIGTERM (30s)"
    );
    add_duration(
        serve,
        "--drain-delay",
        serve_.drain_delay,
        "At SIGTERM, how long to serve while /readyz says draining (0s)"
    );
    serve->add_flag(
        "--core-dumps",
        serve_.may_dump_core,
        "Let a crash write a core dump, which contains secrets, and let debuggers attach"
    );
    serve->add_flag("-v,--verbose", serve_.is_verbose, "Log every event");
}

/// Where it keeps and finds everything.
void CommandLine::add_serve_database(CLI::App* serve) {
    serve
        ->add_option(
            "--db-read", serve_.db_read, "Read for the API from this replica (default: --db)"
        )
        ->type_name("URL");
    add_choice(
        serve,
        "--migrate",
        serve_.migrate,
        "Bring the tables up to date at the start (auto), or refuse others (check)",
        {"auto", "check"}
    );
    serve->add_flag(
        "--no-wait", serve_.may_not_wait, "End if the database does not answer at the start"
    );
}

/// Where it listens, and to whom.
void CommandLine::add_serve_network(CLI::App* serve) {
    serve
        ->add_option(
            "--listen", serve_.listen, "HOST:PORT, unix:PATH or fd:N (default: 127.0.0.1:8322)"
        )
        ->type_name("ADDRESS")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    serve->add_option("--tls-cert", serve_.tls_certificate, "Serve HTTPS with this certificate")
        ->type_name("FILE");
    serve->add_option("--tls-key", serve_.tls_key, "The private key of the certificate")
        ->type_name("FILE");
    serve
        ->add_option(
            "--tls-client-ca",
            serve_.tls_client_ca,
            "Log in clients with a certificate that these authorities have signed"
        )
        ->type_name("FILE");
    serve
        ->add_option("--behind-proxy", serve_.behind_proxy, "Serve only proxies at these addresses")
        ->type_name("CIDR,...")
        ->delimiter(',');
    serve->add_flag(
        "--insecure-plaintext", serve_.is_plaintext_allowed, "Serve other machines without TLS"
    );
    serve->add_flag("--no-auth", serve_.has_no_login, "No login; only for loopback addresses");
    serve->add_flag(
        "--login-link",
        serve_.prints_login,
        "Print a login link for an administrator even if the output is not a terminal"
    );
    serve->add_option("--allowed-hosts", serve_.allowed_hosts, "Further names of this server")
        ->type_name("NAME,...")
        ->delimiter(',');
    serve
        ->add_option(
            "--cors-origins",
            serve_.cors_origins,
            "Let pages of these origins call the API with a token (none)"
        )
        ->type_name("ORIGIN,...")
        ->delimiter(',');
}

void CommandLine::add_token() {
    CLI::App* token =
        add_command("token", "Create, list and revoke API tokens", [this](Session& s) {
            return manage_tokens(s, token_);
        });
    token->group("Other");
    token->add_option("ACTION", token_.action, "list (default), create or revoke");
    token->add_option("NAME", token_.name, "Of create and revoke: its name");
    token->add_option("--expires", token_.expires, "Of create: a duration or never (2160h)")
        ->type_name("DURATION");
    add_given_role(token, token_.given, "Of create: ");
}

void CommandLine::add_login_link() {
    CLI::App* link =
        add_command("login-link", "Print a link that logs a person in once", [this](Session& s) {
            return print_login_link(s, login_link_);
        });
    link->group("Other");
    link->add_option("--url", login_link_.url, "Of the server (default: what it has recorded)")
        ->type_name("URL");
    link->add_option("--user", login_link_.user, "Who logs in (default: $USER)")->type_name("NAME");
    add_choice(
        link,
        "--role",
        login_link_.role,
        "What the person may do (admin)",
        {"viewer", "approver", "operator", "developer", "admin"}
    );
}

void CommandLine::add_openapi() {
    add_command("openapi", "Print the document of the HTTP API (OpenAPI 3.1)", print_openapi)
        ->group("Other");
}

}  // namespace ebb::cli

#else

namespace ebb::cli {

void CommandLine::add_serve() {}

void CommandLine::add_token() {}

void CommandLine::add_login_link() {}

void CommandLine::add_openapi() {}

void CommandLine::add_access() {}

}  // namespace ebb::cli

#endif
