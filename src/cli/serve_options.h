#pragma once

#include <functional>
#include <string>
#include <vector>

#include <ebb/time.h>

#include "cli/serve_config.h"

namespace ebb::cli {

class Session;

/// A setting of `ebb serve` and where it comes from.
struct ServeSetting {
    enum class Type { Text, Number, Flag, List, FlagOrList };

    std::string key{};
    Type type = Type::Text;
    std::vector<std::string> values{};  ///< at most one, unless it is a list; none: the default
    std::string origin{};               ///< `flag`, `EBB_LISTEN`, `serve.yaml:3:1`, `default`
    std::string about{};

    /// As people read it: `a, b` of a list.
    std::string text() const;
    /// As the configuration file has it, in JSON: `true`, `3`, `["a", "b"]`, `"a"`.
    std::string json() const;
};

/// Who logs people in, by OpenID Connect.
struct OidcOptions {
    std::string issuer{};  ///< empty: no one does
    std::string client_id{};
    std::string client_secret_file{};
    std::string name{};
    std::vector<std::string> scopes{};
    std::string groups_claim{};
    std::string audience{};
    std::string ca_file{};

    bool operator==(const OidcOptions&) const = default;
};

struct ServeOptions {
    std::string config{};          ///< a file
    std::string db{};              ///< of the configuration file, if nothing else names one
    std::string db_read{};         ///< a replica for the API; empty = the database itself
    std::string migrate = "auto";  ///< or `check`: other versions of the tables are refused
    std::vector<std::string> files{};
    std::string definitions{};  ///< a folder
    std::vector<std::string> listen{};
    std::string tls_certificate{};
    std::string tls_key{};
    std::string tls_client_ca{};
    std::vector<std::string> behind_proxy{};
    std::vector<std::string> allowed_hosts{};
    std::string proxy_secret_file{};  ///< not empty: the proxy logs people in
    std::string proxy_user_header{};
    std::string proxy_groups_header{};
    OidcOptions oidc{};
    std::string public_url{};
    std::vector<std::string> redact_names{};
    std::vector<std::string> redact_pointers{};
    bool hides_payloads = false;
    std::string hook_secrets{};  ///< a folder
    std::string key{};           ///< a file: it encrypts the secrets in the database
    std::string old_key{};
    std::string base_path = "/";
    std::string title{};
    std::vector<std::string> links{};  ///< NAME=URL
    std::string id{};
    int threads = 0;
    int requests_per_second = 1'000;
    int max_connections = 4'096;
    Duration drain_timeout = std::chrono::seconds(30);
    Duration drain_delay = Duration::zero();  ///< from /readyz's `draining` to the end of listening
    Duration audit_retention = std::chrono::hours(24 * 400);
    bool is_plaintext_allowed = false;
    bool has_no_login = false;
    bool prints_login = false;  ///< a login link, although the output is not a terminal
    bool has_public_metrics = false;
    std::vector<std::string> cors_origins{};
    bool may_dump_core = false;
    bool has_no_worker = false;
    std::string smtp_url{};
    std::string smtp_from{};
    std::string smtp_user{};
    std::string smtp_password_file{};
    std::string smtp_ca_file{};
    /// To which loopback and private addresses webhooks go: `true` = to all, or networks.
    std::vector<std::string> private_networks{};
    bool is_demo = false;
    bool is_dev = false;
    bool may_not_wait = false;  ///< for a database that does not answer at the start
    bool may_exec = false;      ///< programs that only the database names
    bool is_verbose = false;
    bool is_check = false;         ///< look at everything, serve nothing
    bool prints_settings = false;  ///< the same, and print what is in force
    std::vector<ServeSetting> settings{};
    std::vector<Declared> declared{};  ///< by the configuration file
    /// Reads environment and file again, as this process was started.
    std::function<ServeOptions(Session&)> reread{};
};

/// What a token or a grant gives.
struct GivenRole {
    std::string role{};
    std::string project{};
    std::vector<std::string> decision_roles{};
    std::vector<std::string> handlers{};
    std::vector<std::string> queues{};
    bool may_act_as = false;
};

struct TokenOptions {
    std::string action = "list";
    std::string name{};
    std::string expires{};
    GivenRole given{};
};

struct ProjectOptions {
    std::string action = "list";
    std::string name{};
    std::string title{};
    std::vector<std::string> workflows{};
    std::vector<std::string> queues{};
};

struct GrantOptions {
    std::string action = "list";
    std::string id{};
    std::string subject{};
    GivenRole given{};
};

struct AuditOptions {
    bool verifies = false;
    Duration purges{0};  ///< rows that are older; zero = it purges nothing
    std::vector<std::string> anchors{};
    std::string who{};
    std::string action{};
    std::string target{};
    std::string workflow{};
    int limit = 50;
};

struct HookOptions {
    std::string action = "list";
    std::string name{};
    std::string scheme{};
    std::string workflow{};
    std::string signal{};
    std::string key{};
    std::string when{};
    std::string input{};
    std::string header{};
    std::string prefix{};
    std::string encoding{};
    std::string secret_file{};  ///< is read here
    std::string secret_env{};   ///< of the server
    std::string server_file{};  ///< in the server's folder of secrets
    bool is_disabled = false;
};

struct KeyOptions {
    std::string action{};
    std::string key{};  ///< files
    std::string old_key{};
};

struct SessionOptions {
    std::string action = "list";
    std::string id{};
    std::string user{};  ///< a principal, such as `user:ann`
};

struct LoginLinkOptions {
    std::string url{};  ///< empty = of --server, or what the server has recorded
    std::string user{};
    std::string role = "admin";
};

/// Creates, lists and revokes API tokens in the database itself.
int manage_tokens(Session& session, const TokenOptions& options);
int manage_projects(Session& session, const ProjectOptions& options);
int manage_grants(Session& session, const GrantOptions& options);
int manage_hooks(Session& session, const HookOptions& options);
/// Encrypts the secrets of a database with another key.
int manage_key(Session& session, const KeyOptions& options);
/// Lists and ends the logins of browsers.
int manage_sessions(Session& session, const SessionOptions& options);
/// Prints the audit, or checks it.
int show_audit(Session& session, const AuditOptions& options);
/// Prints a link that logs a person in once.
int print_login_link(Session& session, const LoginLinkOptions& options);
/// Prints the document of the API.
int print_openapi(Session& session);
int run_server(Session& session, const ServeOptions& options);

}  // namespace ebb::cli
