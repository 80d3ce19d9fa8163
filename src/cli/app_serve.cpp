// The command that serves the API and the web UI.

#include "cli/app.h"

namespace ebb::cli {

#ifdef EBB_WITH_SERVER

void CommandLine::add_serve() {
    CLI::App* serve = add_command(
        "serve",
        "Serve the API and the web UI, and run what is due",
        [this](Session& s) { return run_server(s, serve_); }
    );
    serve->group("Run");
    serve->add_option("FILE", serve_.files, "Workflows to register first");
    serve
        ->add_option(
            "--listen", serve_.listen, "HOST:PORT, unix:PATH or fd:N (default: 127.0.0.1:8322)"
        )
        ->type_name("ADDRESS")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    serve->add_option("--tls-cert", serve_.tls_certificate, "Serve HTTPS with this certificate")
        ->type_name("FILE");
    serve->add_option("--tls-key", serve_.tls_key, "Its private key")->type_name("FILE");
    serve
        ->add_option("--behind-proxy", serve_.behind_proxy, "Serve only proxies at these addresses")
        ->type_name("CIDR,...")
        ->delimiter(',');
    serve->add_flag(
        "--insecure-plaintext", serve_.is_plaintext_allowed, "Serve other machines without TLS"
    );
    serve->add_flag("--no-auth", serve_.has_no_login, "No login; only for loopback addresses");
    serve->add_option("--allowed-hosts", serve_.allowed_hosts, "Further names of this server")
        ->type_name("NAME,...")
        ->delimiter(',');
    serve->add_option("--base-path", serve_.base_path, "Serve everything below this path (/)")
        ->type_name("PATH");
    serve->add_option("--title", serve_.title, "Shown by the web UI")->type_name("TEXT");
    serve->add_flag("--no-worker", serve_.has_no_worker, "Run no handlers in this process");
    add_threads(serve, serve_.threads);
    serve->add_option("--id", serve_.id, "This worker's name (default: host, process, chance)")
        ->type_name("NAME");
    add_duration(
        serve,
        "--drain-timeout",
        serve_.drain_timeout,
        "How long handlers may go on after SIGTERM (30s)"
    );
    serve->add_flag("-v,--verbose", serve_.is_verbose, "Log every event");
}

void CommandLine::add_token() {
    CLI::App* token =
        add_command("token", "Create, list and revoke API tokens", [this](Session& s) {
            return manage_tokens(s, token_);
        });
    token->group("Other");
    token->add_option("ACTION", token_.action, "list (default), create or revoke");
    token->add_option("NAME", token_.name, "Of create and revoke: its name");
    add_choice(
        token,
        "--role",
        token_.role,
        "Of create: what it may do",
        {"viewer", "approver", "operator", "developer", "admin", "worker", "starter"}
    );
    token->add_option("--expires", token_.expires, "Of create: a duration or never (2160h)")
        ->type_name("DURATION");
    token->add_option("--decision-roles", token_.decision_roles, "Of create: decides only as these")
        ->type_name("ROLE,...")
        ->delimiter(',');
}

void CommandLine::add_login_link() {
    CLI::App* link =
        add_command("login-link", "Print a link that logs a person in once", [this](Session& s) {
            return print_login_link(s, login_link_);
        });
    link->group("Other");
    link->add_option("--url", login_link_.url, "Of the server (http://127.0.0.1:8322/)")
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

#else

void CommandLine::add_serve() {}

void CommandLine::add_token() {}

void CommandLine::add_login_link() {}

#endif

}  // namespace ebb::cli
