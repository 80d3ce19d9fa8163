#include "cli/api_call.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include <ebb/error.h>

#include "cli/api_object.h"
#include "cli/payload_argument.h"
#include "cli/text.h"

namespace ebb::cli {

namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::size_t kTokenBytesMax = 4'096;
/// Of a path outside of the server's base path.
constexpr std::string_view kNothingHere = "There is nothing at this path.";
/// A page of whole payloads, or a snapshot.
constexpr std::size_t kAnswerBytesMax = std::size_t{256} << 20;

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::InvalidArgument, why);
}

/// The error that the server threw, where it is one of Ebb's own.
std::optional<ErrorCode> known_code(std::string_view code) {
    if (code == "precondition_failed") return ErrorCode::RevisionChanged;
    if (code == "unauthenticated" || code == "csrf_refused") return ErrorCode::NotAllowed;
    if (code == "ambiguous" || code == "invalid_expression" || code == "not_found") {
        return ErrorCode::InvalidArgument;
    }
    if (code == "idempotency_key_reused" || code == "conflict") return ErrorCode::InvalidState;
    if (code == "rate_limited" || code == "overloaded" || code == "draining") {
        return ErrorCode::StoreUnavailable;
    }
    for (int i = 0; i <= static_cast<int>(ErrorCode::RevisionChanged); ++i) {
        const auto known = static_cast<ErrorCode>(i);
        if (to_string(known) == code) return known;
    }
    return std::nullopt;
}

std::vector<Diagnostic> diagnostics_of(const ApiObject& problem) {
    std::vector<Diagnostic> all;
    for (const ApiObject& each : problem.objects("problems")) {
        all.push_back({
            .code = each.text("code"),
            .path = each.text("pointer"),
            .message = each.text("message"),
            .line = each.number("line").value_or(0),
            .column = each.number("column").value_or(0),
        });
    }
    return all;
}

[[noreturn]] void throw_problem(const HttpResponse& response, const std::string& url) {
    const auto kind = response.headers.find("content-type");
    const bool is_problem =
        kind != response.headers.end() && kind->second.starts_with("application/problem+json");
    if (!is_problem) {
        throw Error(
            response.status >= 500 ? ErrorCode::StoreUnavailable : ErrorCode::InvalidArgument,
            fmt::format(
                "{} answers with status {} and is not the API of an Ebb server.",
                url,
                response.status
            )
        );
    }
    const ApiObject problem(response.body);
    const std::string code = problem.text("code");
    if (code == "invalid_definition" && problem.has("problems")) {
        throw DefinitionError(diagnostics_of(problem));
    }
    std::string detail = problem.text("detail");
    if (code == "unauthenticated") {
        detail +=
            " Set EBB_TOKEN, or EBB_TOKEN_FILE; `ebb token create` beside the server makes "
            "a token.";
    }
    if (code == "not_found" && detail == kNothingHere) {
        detail = fmt::format(
            "{} has no API at this path. If the server has a --base-path, it is part of the "
            "address: "
            "http://HOST:PORT/PATH or unix:SOCKET:/PATH.",
            url
        );
    }
    if (const auto known = known_code(code)) throw Error(*known, detail);
    throw Error(ErrorCode::StoreError, fmt::format("{} ({})", detail, code));
}

/// Whether the request may have reached the server.
bool is_in_doubt(HttpError::Kind kind) {
    return kind == HttpError::Kind::ConnectionFailed || kind == HttpError::Kind::TimedOut ||
           kind == HttpError::Kind::ResponseTooLarge || kind == HttpError::Kind::InvalidResponse;
}

bool is_plain(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

}  // namespace

ServerAddress parse_server(std::string_view text) {
    if (text.starts_with(kUnix)) {
        const std::string_view path = text.substr(kUnix.size());
        const std::size_t base = std::min(path.rfind(":/"), path.size());
        if (base == 0) refuse("--server: unix: needs the path of a socket.");
        ServerAddress address;
        address.url = "http://localhost";
        address.socket = path.substr(0, base);
        if (base < path.size()) address.url += path.substr(base + 1);
        while (address.url.ends_with('/')) address.url.pop_back();
        return address;
    }
    std::string url(text);
    const auto parts = parse_url(url);
    const bool is_web = parts && (parts->scheme == "http" || parts->scheme == "https");
    if (!is_web || parts->host.empty() || url.find_first_of("?#@") != std::string::npos) {
        refuse(fmt::format(
            "--server: \"{}\" is not the address of a server; give http://HOST:PORT, "
            "https://HOST, or unix:PATH.",
            one_line(text)
        ));
    }
    while (url.ends_with('/')) url.pop_back();
    ServerAddress address;
    address.url = std::move(url);
    return address;
}

std::string read_token(const CliStreams& streams) {
    std::string token = streams.environment("EBB_TOKEN").value_or("");
    const std::string path = streams.environment("EBB_TOKEN_FILE").value_or("");
    if (token.empty() && !path.empty()) {
        using std::filesystem::perms;
        std::error_code failed;
        const auto status = std::filesystem::status(path, failed);
        if (!failed && (status.permissions() & perms::others_read) != perms::none) {
            refuse(fmt::format(
                "EBB_TOKEN_FILE: all users can read {}; use `chmod 600`.", one_line(path)
            ));
        }
        token = read_file(path, kTokenBytesMax);
    }
    while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
    const bool is_printable =
        std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (!is_printable) refuse("The token contains characters that a token cannot have.");
    return token;
}

std::string escape_segment(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (is_plain(c)) {
            escaped += c;
        } else {
            escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return escaped;
}

UrlQuery& UrlQuery::add(std::string_view name, std::string_view value) {
    text_ += text_.empty() ? '?' : '&';
    text_ += fmt::format("{}={}", name, escape_segment(value));
    return *this;
}

ApiCalls::ApiCalls(ServerAddress address, std::string token)
    : address_(std::move(address)), token_(std::move(token)) {}

ApiCalls::Answer ApiCalls::perform(HttpRequest request) {
    const bool changes = request.method != "GET";
    request.url = address_.url + "/api/v1" + request.url;
    request.unix_socket = address_.socket;
    request.ca_file = address_.ca_file;
    request.client_cert = address_.client_cert;
    request.client_key = address_.client_key;
    request.response_bytes_max = kAnswerBytesMax;
    request.headers.emplace_back("Accept", "application/json");
    if (!token_.empty()) request.headers.emplace_back("Authorization", "Bearer " + token_);
    const std::string& shown = address_.socket.empty() ? address_.url : address_.socket;
    HttpResponse response;
    try {
        response = client_.perform(request);
    } catch (const HttpError& error) {
        if (error.kind() == HttpError::Kind::InvalidUrl) refuse(error.what());
        if (changes && error.was_connected() && is_in_doubt(error.kind())) {
            throw Error(
                ErrorCode::StoreInDoubt,
                fmt::format(
                    "The server {} may have done it, but its answer was lost: {}.",
                    shown,
                    error.what()
                )
            );
        }
        throw Error(
            ErrorCode::StoreUnavailable,
            fmt::format("The server {} does not answer: {}.", shown, error.what())
        );
    }
    const bool is_fine =
        (response.status >= 200 && response.status < 300) || response.status == 304;
    const auto kind = response.headers.find("content-type");
    const bool is_page = kind != response.headers.end() && kind->second.starts_with("text/html");
    if (!is_fine || is_page) throw_problem(response, shown);
    return {response.status, std::move(response.body), response.headers["etag"]};
}

ApiCalls::Answer ApiCalls::get(const std::string& path, const std::string& etag) {
    HttpRequest request{.method = "GET", .url = path};
    if (!etag.empty()) request.headers.emplace_back("If-None-Match", etag);
    return perform(std::move(request));
}

ApiCalls::Answer ApiCalls::send(const Message& message) {
    HttpRequest request{.method = message.method, .url = message.path};
    request.timeout = message.timeout;
    if (!message.body.empty()) {
        request.body = message.body;
        request.headers.emplace_back("Content-Type", "application/json");
    }
    if (!message.if_match.empty()) request.headers.emplace_back("If-Match", message.if_match);
    return perform(std::move(request));
}

}  // namespace ebb::cli
