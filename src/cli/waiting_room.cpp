#ifdef EBB_WITH_SERVER

#include "cli/waiting_room.h"

#include <unistd.h>

#include <ebb/error.h>

#include "server/api/guard.h"
#include "server/api/problem.h"

namespace ebb::cli {

namespace {

/// It closes its sockets, and those that a service manager has passed are needed again.
http::Endpoint own_copy(http::Endpoint endpoint) {
    if (endpoint.kind == http::Endpoint::Kind::Descriptor) {
        endpoint.descriptor = dup(endpoint.descriptor);
    }
    return endpoint;
}

http::Response plain(int status, std::string text) {
    http::Response response{.status = status, .body = std::move(text)};
    response.set("Content-Type", "text/plain; charset=utf-8");
    response.set("Cache-Control", "no-store");
    return response;
}

}  // namespace

WaitingRoom::WaitingRoom(const ServerOptions& options) : is_tls_(!options.tls_certificate.empty()) {
    http::ServerOptions http;
    for (const std::string& text : options.listen) {
        http.listen.push_back(own_copy(http::parse_endpoint(text)));
    }
    http.threads = 1;
    if (is_tls_) {
        http.tls = {{.certificate = options.tls_certificate, .key = options.tls_key}};
    }
    http.handler = [this](const http::Request& request, const http::Responder& respond) {
        respond(answer(request.path));
    };
    // A request is read whole, so that its client sees the answer.
    http.body_bytes_max = [](const http::Request&) { return std::size_t{1} << 20; };
    http.refuse = [](const http::Refusal& refusal, const std::string&) {
        auto response =
            server::problem_response(server::Problem(refusal.code, refusal.detail), "-", "-");
        response.status = refusal.status;
        return response;
    };
    http_ = std::make_unique<http::Server>(std::move(http));
    http_->start();
}

http::Response WaitingRoom::answer(const std::string& path) const {
    const server::Problem problem(
        "store_unavailable", "The server waits for its database, which does not answer."
    );
    http::Response response;
    if (path == "/livez") {
        response = plain(200, "ok\n");
    } else if (path == "/readyz" || path == "/healthz") {
        // Not where the database is, because anyone may ask; the log says it.
        response = plain(503, std::string(problem.what()) + "\n");
    } else {
        response = server::problem_response(problem, path, "-");
    }
    response.closes = true;
    server::add_security_headers(response, is_tls_);
    return response;
}

}  // namespace ebb::cli

#endif
