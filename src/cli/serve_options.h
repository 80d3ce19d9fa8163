#pragma once

#include <string>
#include <vector>

#include <ebb/time.h>

namespace ebb::cli {

class Session;

struct ServeOptions {
    std::vector<std::string> files{};
    std::vector<std::string> listen{};
    std::string tls_certificate{};
    std::string tls_key{};
    std::vector<std::string> behind_proxy{};
    std::vector<std::string> allowed_hosts{};
    std::string base_path = "/";
    std::string title{};
    std::string id{};
    int threads = 0;
    Duration drain_timeout = std::chrono::seconds(30);
    bool is_plaintext_allowed = false;
    bool has_no_login = false;
    bool has_no_worker = false;
    bool is_verbose = false;
};

struct TokenOptions {
    std::string action = "list";
    std::string name{};
    std::string role{};
    std::string expires{};
    std::vector<std::string> decision_roles{};
};

struct LoginLinkOptions {
    std::string url = "http://127.0.0.1:8322/";
    std::string user{};
    std::string role = "admin";
};

/// Creates, lists and revokes API tokens in the database itself.
int manage_tokens(Session& session, const TokenOptions& options);
/// Prints a link that logs a person in once.
int print_login_link(Session& session, const LoginLinkOptions& options);
int run_server(Session& session, const ServeOptions& options);

}  // namespace ebb::cli
