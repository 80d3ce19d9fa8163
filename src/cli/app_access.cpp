// The commands about who may use the servers of a database.

#include "cli/app.h"

#ifdef EBB_WITH_SERVER

namespace ebb::cli {

namespace {

/// Names between commas.
void add_names(
    CLI::App* command, const std::string& name, std::vector<std::string>& target, std::string about
) {
    command->add_option(name, target, std::move(about))->type_name("NAME,...")->delimiter(',');
}

void add_text(CLI::App& command, const std::string& name, std::string& target, std::string about) {
    command.add_option(name, target, std::move(about))->type_name("TEXT");
}

void add_oidc(CLI::App& serve, OidcOptions& oidc) {
    serve
        .add_option("--oidc-issuer", oidc.issuer, "Let people log in through this OpenID provider")
        ->type_name("URL");
    add_text(
        serve, "--oidc-client-id", oidc.client_id, "The client id of this server at the provider"
    );
    serve
        .add_option(
            "--oidc-client-secret-file", oidc.client_secret_file, "A file with the client secret"
        )
        ->type_name("FILE");
    add_text(serve, "--oidc-name", oidc.name, "The provider's name on the login page (its host)");
    add_names(&serve, "--oidc-scopes", oidc.scopes, "The scopes to ask for (openid,profile,email)");
    add_text(
        serve,
        "--oidc-groups-claim",
        oidc.groups_claim,
        "The claim with a person's groups, or a JSON pointer to it (groups)"
    );
    add_text(
        serve,
        "--oidc-audience",
        oidc.audience,
        "Accept access tokens that were issued for this audience"
    );
    serve.add_option("--oidc-ca-file", oidc.ca_file, "Trust these certificates of the provider")
        ->type_name("FILE");
}

}  // namespace

void CommandLine::add_given_role(CLI::App* command, GivenRole& given, const std::string& of) {
    add_choice(
        command,
        "--role",
        given.role,
        of + "what it may do",
        {"viewer", "approver", "operator", "developer", "admin", "worker", "starter"}
    );
    command->add_option("--project", given.project, of + "in which project (default: everywhere)")
        ->type_name("NAME");
    add_names(command, "--decision-roles", given.decision_roles, of + "decides only as these");
    add_names(command, "--handlers", given.handlers, of + "a worker's handlers, such as mail_*");
    add_names(command, "--queues", given.queues, of + "a worker's queues");
    command->add_flag("--act-as", given.may_act_as, of + "may act in the name of its users");
}

/// What `ebb serve` believes and shows.
void CommandLine::add_serve_access(CLI::App* serve) {
    serve->add_flag(
        "--public-metrics", serve_.has_public_metrics, "Let anyone read /metrics without a login"
    );
    serve
        ->add_option(
            "--proxy-secret-file",
            serve_.proxy_secret_file,
            "Trust the login headers of a proxy that sends the secret in this file"
        )
        ->type_name("FILE");
    serve
        ->add_option(
            "--proxy-user-header",
            serve_.proxy_user_header,
            "The header with the user's name (X-Forwarded-User)"
        )
        ->type_name("NAME");
    serve
        ->add_option(
            "--proxy-groups-header",
            serve_.proxy_groups_header,
            "The header with the user's groups (X-Forwarded-Groups)"
        )
        ->type_name("NAME");
    add_oidc(*serve, serve_.oidc);
    add_duration(
        serve,
        "--audit-retention",
        serve_.audit_retention,
        "Remove older rows of the audit (400d; 0s = never)"
    );
    serve
        ->add_option(
            "--public-url", serve_.public_url, "Where browsers find the server (from the request)"
        )
        ->type_name("URL");
    serve
        ->add_option(
            "--redact-names", serve_.redact_names, "Members of payloads to hide (password, ...)"
        )
        ->type_name("NAME,...")
        ->delimiter(',');
    serve->add_option("--redact-pointers", serve_.redact_pointers, "Values of payloads to hide")
        ->type_name("WORKFLOW:/POINTER,...")
        ->delimiter(',');
    serve
        ->add_option(
            "--hook-secrets", serve_.hook_secrets, "A folder of secrets that hooks may name"
        )
        ->type_name("DIR");
    serve->add_option("--key", serve_.key, "Encrypt the secrets in the database with this key")
        ->type_name("FILE");
    serve->add_option("--old-key", serve_.old_key, "Also open what this key has encrypted")
        ->type_name("FILE");
    serve->add_flag("--hide-payloads", serve_.hides_payloads, "Show only the sizes of payloads");
}

void CommandLine::add_access() {
    add_project();
    add_grant();
    add_audit();
    add_hook();
    add_key();
    add_session();
}

void CommandLine::add_project() {
    CLI::App* project =
        add_command("project", "List and change projects of workflows", [this](Session& s) {
            return manage_projects(s, project_);
        });
    project->group("Other");
    project->add_option("ACTION", project_.action, "list (default), set or remove");
    project->add_option("NAME", project_.name, "Of set and remove: its name");
    project->add_option("--title", project_.title, "Of set: shown by the web UI")
        ->type_name("TEXT");
    add_names(project, "--workflows", project_.workflows, "Of set: patterns such as billing.*");
    add_names(project, "--queues", project_.queues, "Of set: patterns of queues");
}

void CommandLine::add_grant() {
    CLI::App* grant =
        add_command("grant", "List and change the roles of users and groups", [this](Session& s) {
            return manage_grants(s, grant_);
        });
    grant->group("Other");
    grant->add_option("ACTION", grant_.action, "list (default), set or remove");
    grant->add_option("ID", grant_.id, "Of set and remove: its id");
    grant
        ->add_option(
            "--subject", grant_.subject, "Of set: token:, user:, group: or cert: and a name"
        )
        ->type_name("SUBJECT");
    add_given_role(grant, grant_.given, "Of set: ");
}

void CommandLine::add_audit() {
    CLI::App* audit = add_command("audit", "Print or check who did what", [this](Session& s) {
        return show_audit(s, audit_);
    });
    audit->group("Other");
    audit->add_flag(
        "--verify", audit_.verifies, "Find rows that were changed, removed or inserted"
    );
    add_duration(audit, "--purge", audit_.purges, "Remove older rows, in whole days");
    add_names(audit, "--anchor", audit_.anchors, "With --verify: hashes from the log");
    audit->add_option("--who", audit_.who, "Only by this principal, such as user:ann")
        ->type_name("NAME");
    audit->add_option("--action", audit_.action, "Only this operation")->type_name("NAME");
    audit->add_option("--target", audit_.target, "Only about this path")->type_name("PATH");
    audit->add_option("--workflow", audit_.workflow, "Only about this workflow")->type_name("NAME");
    audit->add_option("--limit", audit_.limit, "At most this many rows (50)")
        ->type_name("N")
        ->check(within(1, 10'000));
}

void CommandLine::add_hook() {
    CLI::App* hook = add_command(
        "hook",
        "Let events of other programs start and signal instances",
        [this](Session& s) { return manage_hooks(s, hook_); }
    );
    hook->group("Control");
    add_choice(
        hook,
        "ACTION",
        hook_.action,
        "What to do (default: list)",
        {"list", "show", "put", "delete"}
    );
    hook->add_option("NAME", hook_.name, "The hook");
    add_choice(
        hook,
        "--scheme",
        hook_.scheme,
        "put: how events are signed",
        {"standard", "github", "stripe", "hmac", "token"}
    );
    const auto add = [&](const char* name, std::string& target, const char* about, const char* type
                     ) { hook->add_option(name, target, about)->type_name(type); };
    add("--workflow", hook_.workflow, "put: of the instance that is started or signaled", "NAME");
    add("--signal", hook_.signal, "put: send this signal; default: start an instance", "NAME");
    add("--key", hook_.key, "put: the instance's key, such as '${ body.id }'", "TEMPLATE");
    add("--when", hook_.when, "put: only events for which this holds", "EXPRESSION");
    add("--input", hook_.input, "put: the input; default: '\"${ body }\"'", "JSON");
    add("--header", hook_.header, "put: with hmac and token: where the signature is", "NAME");
    add("--prefix", hook_.prefix, "put: with hmac: what precedes it, such as sha256=", "TEXT");
    add_choice(hook, "--encoding", hook_.encoding, "put: with hmac (hex)", {"hex", "base64"});
    add("--secret-file", hook_.secret_file, "put: the secret is in this file", "FILE");
    add("--secret-env", hook_.secret_env, "put: the server has it in EBB_HOOK_...", "NAME");
    add("--server-file", hook_.server_file, "put: it is in the folder of --hook-secrets", "NAME");
    hook->add_flag("--disabled", hook_.is_disabled, "put: keep it, but accept nothing");
}

void CommandLine::add_session() {
    CLI::App* session =
        add_command("session", "List and end the logins of browsers", [this](Session& s) {
            return manage_sessions(s, session_);
        });
    session->group("Other");
    add_choice(session, "ACTION", session_.action, "What to do (default: list)", {"list", "end"});
    session->add_option("ID", session_.id, "Of end: the session");
    session->add_option("--user", session_.user, "Only of this user, such as user:ann")
        ->type_name("PRINCIPAL");
}

void CommandLine::add_key() {
    CLI::App* key =
        add_command("key", "Change the key that encrypts the secrets", [this](Session& s) {
            return manage_key(s, key_);
        });
    key->group("Other");
    add_choice(key, "ACTION", key_.action, "Encrypt the secrets with this key", {"rotate"});
    key->get_option("ACTION")->required();
    key->add_option("--key", key_.key, "The new key (EBB_KEY)")->type_name("FILE");
    key->add_option("--old-key", key_.old_key, "The key before it (EBB_OLD_KEY)")
        ->type_name("FILE");
}

}  // namespace ebb::cli

#endif
