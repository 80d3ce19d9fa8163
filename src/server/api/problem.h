#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "server/http/http.h"

// Errors of requests, in the form of RFC 9457.

namespace ebb::server {

/// Thrown by code that cannot do what a request asks for.
class Problem : public std::runtime_error {
 public:
    /// `code` decides the status and the title. `detail` is a whole sentence.
    Problem(std::string code, const std::string& detail);

    const std::string& code() const { return code_; }

    /// Adds a member to the document.
    Problem&& with(const std::string& member, nlohmann::ordered_json value) &&;
    Problem&& with_header(std::string_view name, std::string value) &&;
    /// The request has a credential that is not valid; `credential` is its kind, such as `token`.
    /// Such problems are logged and counted. `detail` has no part of the credential.
    Problem&& with_failed_login(std::string_view credential) &&;

    const nlohmann::ordered_json& members() const { return members_; }

    const std::vector<http::Header>& headers() const { return headers_; }

    /// The kind of the credential that is not valid; empty = there is none.
    const std::string& failed_login() const { return failed_login_; }

 private:
    std::string code_;
    std::string failed_login_;
    nlohmann::ordered_json members_ = nlohmann::ordered_json::object();
    std::vector<http::Header> headers_;
};

/// A kind of problem.
struct ProblemKind {
    std::string_view code;
    int status;
    std::string_view title;
    std::string_view hint;
};

/// All kinds, by code; `internal` for an unknown one.
const ProblemKind& problem_kind(std::string_view code);
std::vector<ProblemKind> problem_kinds();

/// The problem code that a client gets for an error of the engine.
std::string_view problem_code(ErrorCode code);

/// Whether the message of an error with this code is for the log and not for clients: it may name
/// the database and its address, or what is wrong inside.
bool hides_detail(std::string_view code);

/// The problem that a client gets for a caught exception, without what hides_detail() says.
Problem to_problem(const std::exception& error);

/// The whole answer. `path` and `request_id` are those of the request.
http::Response problem_response(
    const Problem& problem, const std::string& path, const std::string& request_id
);

}  // namespace ebb::server
