#include "server/api/problem.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "server/auth/oidc/oidc_error.h"
#include "store/stored_definition.h"
#include "view/problem_json.h"

namespace ebb::server {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view kTryAgain = "Send the same request again after the time in Retry-After.";

constexpr std::array kKinds = std::to_array<ProblemKind>({
    {"invalid_argument", 400, "A parameter or a member cannot be right", ""},
    {"invalid_expression",
     400,
     "The filter cannot be used",
     "docs/reference/filters.md says what a filter can do."},
    {"invalid_json", 400, "The body is not the JSON that is expected", ""},
    {"unknown_field", 400, "The body has a member that is not known", ""},
    {"cursor_mismatch", 400, "The cursor belongs to another query", "Begin again without a cursor."
    },
    {"bad_request", 400, "The request is not valid HTTP", ""},
    {"unauthenticated",
     401,
     "You are not logged in",
     "Send a token as \"Authorization: Bearer TOKEN\", or log in with a login link."},
    {"login_failed", 401, "The login did not succeed", "Begin again on the login page."},
    {"not_allowed", 403, "You may not do this", ""},
    {"csrf_refused", 403, "The request comes from another site", ""},
    {"workflow_not_found", 404, "There is no such workflow", ""},
    {"instance_not_found", 404, "There is no such instance", ""},
    {"handler_not_found", 404, "There is no such handler", ""},
    {"not_found", 404, "There is nothing here", "GET /api/v1/openapi.json lists what exists."},
    {"method_not_allowed", 405, "The method is not allowed here", ""},
    {"not_acceptable", 406, "The answer does not exist in that form", ""},
    {"timeout", 408, "The request took too long", ""},
    {"invalid_state", 409, "The instance cannot do this now", ""},
    {"not_waiting", 409, "Nothing waits for this", ""},
    {"workflow_conflict",
     409,
     "This version exists with other content",
     "Raise the version of the definition."},
    {"ambiguous", 409, "The name fits several instances", "Give more of the id."},
    {"conflict", 409, "It already exists", ""},
    {"stale_attempt", 409, "The attempt is over", ""},
    {"invalid_session", 409, "The session of the worker is over", "Open a new session."},
    {"worker_displaced", 409, "Another worker has the name", "Give each worker its own name."},
    {"precondition_failed",
     412,
     "It has changed since it was looked at",
     "Look at it again and decide whether you still want this."},
    {"payload_too_large", 413, "The body is too large", ""},
    {"uri_too_long", 414, "The request line is too long", ""},
    {"unsupported_media_type", 415, "The body has a media type that is not understood", ""},
    {"expectation_failed", 417, "The expectation cannot be met", ""},
    {"misdirected",
     421,
     "The server does not answer to this host",
     "Add the name to allowed_hosts, or set public_url."},
    {"invalid_config",
     422,
     "The settings of the server are not valid",
     "The settings before stay in force. Correct the file, and reload again."},
    {"invalid_definition", 422, "The definition has problems", ""},
    {"invalid_payload", 422, "A payload is not valid", ""},
    {"idempotency_key_reused", 422, "The key was used for another request", ""},
    {"limit_exceeded", 422, "A limit would be exceeded", ""},
    {"rate_limited", 429, "Too many requests", kTryAgain},
    {"too_many_streams", 429, "Too many live streams", kTryAgain},
    {"headers_too_large", 431, "The headers are too large", ""},
    {"internal", 500, "The server made a mistake", "The log has more under the request id."},
    {"corrupt_state", 500, "What is stored cannot be understood", ""},
    {"store_error", 500, "The database reported an error", "The log has more under the request id."
    },
    // HTTP demands 501 for a Transfer-Encoding that a server does not know (RFC 9112, 6.1).
    {"not_implemented",
     501,
     "This Transfer-Encoding is not supported",
     "Send the body with a Content-Length, or with the Transfer-Encoding chunked."},
    {"overloaded", 503, "The server has too much to do", kTryAgain},
    {"provider_unavailable",
     503,
     "The login provider does not answer as it should",
     "Try again later, or log in with a login link."},
    {"draining", 503, "The server shuts down", kTryAgain},
    {"store_unavailable", 503, "The database does not answer", kTryAgain},
    {"store_busy", 503, "The database is busy", kTryAgain},
    {"store_in_doubt",
     503,
     "It is not known whether it was done",
     "Send the same request again: nothing is done twice."},
    {"store_read_only", 503, "The database can only be read", kTryAgain},
    {"store_denied", 503, "The database denies the server a right", ""},
    {"store_version", 503, "The database has another version", ""},
    {"store_full", 507, "The database has no room left", ""},
});

}  // namespace

bool hides_detail(std::string_view code) {
    return code == "internal" || code == "corrupt_state" || code.starts_with("store_");
}

Problem::Problem(std::string code, const std::string& detail)
    : std::runtime_error(detail), code_(std::move(code)) {}

Problem&& Problem::with(const std::string& member, ordered_json value) && {
    members_[member] = std::move(value);
    return std::move(*this);
}

Problem&& Problem::with_header(std::string_view name, std::string value) && {
    headers_.push_back({std::string(name), std::move(value)});
    return std::move(*this);
}

Problem&& Problem::with_failed_login(std::string_view credential) && {
    failed_login_ = credential;
    return std::move(*this);
}

const ProblemKind& problem_kind(std::string_view code) {
    const auto found = std::find_if(kKinds.begin(), kKinds.end(), [&](const ProblemKind& kind) {
        return kind.code == code;
    });
    return found == kKinds.end() ? problem_kind("internal") : *found;
}

std::vector<ProblemKind> problem_kinds() {
    return {kKinds.begin(), kKinds.end()};
}

std::string_view problem_code(ErrorCode code) {
    switch (code) {
        case ErrorCode::RevisionChanged:
            return "precondition_failed";
        case ErrorCode::InvalidArgument:
        case ErrorCode::InvalidDefinition:
        case ErrorCode::InvalidPayload:
        case ErrorCode::PayloadTooLarge:
        case ErrorCode::WorkflowNotFound:
        case ErrorCode::WorkflowConflict:
        case ErrorCode::InstanceNotFound:
        case ErrorCode::InvalidState:
        case ErrorCode::NotWaiting:
        case ErrorCode::NotAllowed:
        case ErrorCode::HandlerNotFound:
        case ErrorCode::LimitExceeded:
        case ErrorCode::CorruptState:
        case ErrorCode::StoreUnavailable:
        case ErrorCode::StoreReadOnly:
        case ErrorCode::StoreFull:
        case ErrorCode::StoreDenied:
        case ErrorCode::StoreBusy:
        case ErrorCode::StoreVersion:
        case ErrorCode::StoreInDoubt:
        case ErrorCode::StoreError:
        case ErrorCode::Internal:
            return to_string(code);
    }
    return "internal";
}

Problem to_problem(const std::exception& error) {
    if (const auto* problem = dynamic_cast<const Problem*>(&error)) return *problem;
    if (const auto* invalid = dynamic_cast<const DefinitionError*>(&error)) {
        return Problem("invalid_definition", "The definition has problems.")
            .with("problems", view::problems_json(invalid->diagnostics()));
    }
    if (const auto* login = dynamic_cast<const oidc::OidcError*>(&error)) {
        const bool is_away = login->kind() == oidc::OidcError::Kind::Unavailable;
        if (is_away) return {"provider_unavailable", login->what()};
        return Problem("login_failed", login->what()).with_failed_login("oidc");
    }
    const auto* known = dynamic_cast<const Error*>(&error);
    if (known == nullptr) return {"internal", "Something went wrong inside the server."};
    std::string code(problem_code(known->code()));
    // A definition has no secrets, and its place says what to do.
    if (dynamic_cast<const UnreadableDefinition*>(known) != nullptr) return {code, known->what()};
    Problem problem(
        code,
        hides_detail(code) ? std::string(problem_kind(code).title) + "."
                           : std::string(known->what())
    );
    if (known->code() == ErrorCode::StoreInDoubt) {
        return std::move(problem).with("repeat", "safe");
    }
    return problem;
}

http::Response problem_response(
    const Problem& problem, const std::string& path, const std::string& request_id
) {
    const ProblemKind& kind = problem_kind(problem.code());
    ordered_json json = {
        {"type", fmt::format("/problems/{}", kind.code)},
        {"title", kind.title},
        {"status", kind.status},
        {"code", kind.code},
        {"detail", problem.what()},
        {"instance", path},
        {"request_id", request_id},
    };
    if (!kind.hint.empty()) json["hint"] = kind.hint;
    for (const auto& [member, value] : problem.members().items()) json[member] = value;
    http::Response response{.status = kind.status, .headers = problem.headers()};
    response.set("Content-Type", "application/problem+json");
    response.set("Cache-Control", "no-store");
    if (kind.status == 503 || kind.status == 429) {
        if (std::none_of(response.headers.begin(), response.headers.end(), [](const auto& header) {
                return header.name == "Retry-After";
            })) {
            response.set("Retry-After", "1");
        }
    }
    if (kind.status == 401) response.set("WWW-Authenticate", "Bearer realm=\"ebb\"");
    response.body = json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    return response;
}

}  // namespace ebb::server
