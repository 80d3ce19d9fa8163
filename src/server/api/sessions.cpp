// Routes by which people log in and out, and that show who is logged in.

#include <memory>

#include <fmt/format.h>

#include "server/api/body.h"
#include "server/api/failed_logins.h"
#include "server/api/guard.h"
#include "server/api/me.h"
#include "server/api/service.h"
#include "server/api/sign_in.h"
#include "view/payload_json.h"

namespace ebb::server {

namespace {

using view::Json;

constexpr std::string_view kSessionCookie = "ebb";
/// Holds together the two requests of a login by a provider.
constexpr std::string_view kLoginCookie = "ebb-login";

/// With TLS the name's prefix binds the cookie to this host and to encrypted connections.
std::string cookie_name(const Call& call, std::string_view name) {
    return fmt::format("{}{}", call.request.is_tls ? "__Host-" : "", name);
}

/// An empty value removes the cookie.
http::Header make_cookie(
    const Call& call, std::string_view name, const std::string& value, Duration life = {}
) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(life).count();
    const bool has_end = value.empty() || seconds > 0;
    return {
        "Set-Cookie",
        fmt::format(
            "{}={}; Path=/; HttpOnly; SameSite=Lax{}{}",
            cookie_name(call, name),
            value,
            call.request.is_tls ? "; Secure" : "",
            has_end ? fmt::format("; Max-Age={}", seconds) : ""
        )
    };
}

Visitor visitor_of(const Call& call) {
    return {
        .address = call.request.remote, .agent = std::string(call.request.header("User-Agent"))
    };
}

/// The login is in the audit before the browser gets the session.
void record_login(Service& service, Call& call, const Access::Login& login, const char* method) {
    // A new login ends the old one of this browser.
    service.access.log_out(call.principal);
    call.principal = login.principal;
    AuditEntry entry = call.audit_entry("loggedIn");
    entry.detail = Json{{"method", method}}.dump();
    service.audit.write(std::move(entry));
}

http::Response get_login(Service& service, Call& call) {
    call.query.check_all_used();
    Json oidc = nullptr;
    if (service.sign_in != nullptr) {
        oidc = Json{{"name", service.sign_in->name()}, {"href", call.href("/session/oidc")}};
    }
    return json_response(200, Json{{"is_needed", service.needs_login}, {"oidc", std::move(oidc)}});
}

http::Response log_in(Service& service, Call& call) {
    call.query.check_all_used();
    Body body(call.request.body);
    const std::string secret = body.required_text("login", 256);
    body.check_all_used();
    const auto login = service.access.log_in(secret, visitor_of(call));
    if (!login) {
        AuditEntry entry = call.audit_entry("login");
        entry.outcome = "refused";
        service.audit.note(std::move(entry));
        throw Problem(
            "unauthenticated",
            "The login link is not valid: it works once, within 10 minutes. `ebb login-link` makes "
            "another one."
        )
            .with_failed_login("login_link");
    }
    record_login(service, call, *login, "link");
    auto response = json_response(200, me_json(login->principal));
    response.headers.push_back(make_cookie(call, kSessionCookie, login->secret));
    return response;
}

http::Response log_out(Service& service, Call& call) {
    call.query.check_all_used();
    const std::string elsewhere = service.access.log_out(call.principal);
    http::Response response{.status = 204};
    if (!elsewhere.empty()) response = json_response(200, Json{{"logout_url", elsewhere}});
    response.headers.push_back(make_cookie(call, kSessionCookie, ""));
    return response;
}

/// Whose sessions the caller may see and end; empty = everyone's.
std::string own_sessions(const Call& call) {
    return call.principal.may_everywhere("admin") ? "" : call.principal.name;
}

http::Response list_sessions(Service& service, Call& call) {
    const auto wanted = call.query.text("principal");
    call.query.check_all_used();
    const std::string own = own_sessions(call);
    const std::string of = wanted.value_or(own);
    if (!own.empty() && of != own) {
        throw Problem("not_allowed", "Only an administrator sees the sessions of other people.");
    }
    return json_response(200, Json{{"items", service.access.sessions(of, call.principal)}});
}

http::Response end_session(Service& service, Call& call) {
    call.query.check_all_used();
    if (!service.access.end_session(call.parameter("id"), own_sessions(call))) {
        throw Problem("not_found", "There is no session with this id.");
    }
    return {.status = 204};
}

http::Response redirect(const std::string& location) {
    http::Response response{.status = 302};
    response.set("Location", location);
    response.set("Cache-Control", "no-store");
    return response;
}

/// A person gets the login page, which says in the person's language what kind of thing went wrong.
http::Response failed_login(Service& service, Call& call, const std::exception& error) {
    const Problem problem = to_problem(error);
    service.failed_logins.note(problem, {call.route, call.request.remote, call.request_id});
    AuditEntry entry = call.audit_entry("login");
    entry.outcome = "refused";
    entry.detail = Json{
        {"status", problem_kind(problem.code()).status},
        {"code", problem.code()},
        {"method", "oidc"},
        {"reason", problem.what()}
    }.dump();
    service.audit.note(std::move(entry));
    if (!wants_page(call.request)) {
        return problem_response(problem, call.request.path, call.request_id);
    }
    const auto* login = dynamic_cast<const oidc::OidcError*>(&error);
    const bool is_denied = login != nullptr && login->kind() == oidc::OidcError::Kind::Denied;
    return redirect(
        fmt::format("{}/#login_problem={}", call.base, is_denied ? "login_denied" : problem.code())
    );
}

/// Lets a thread that may wait for the provider answer.
void answer_later(
    Service& service,
    const Call& call,
    const http::Responder& respond,
    http::Response (*handle)(Service&, Call&)
) {
    auto kept = std::make_shared<Call>(call);
    const auto fail = [&service, kept, respond](const std::exception& error) {
        respond(failed_login(service, *kept, error));
    };
    const auto work = [&service, kept, respond, handle, fail] {
        try {
            respond(handle(service, *kept));
        } catch (const std::exception& error) {
            fail(error);
        }
    };
    const Problem busy("overloaded", "Too many people log in at the moment.");
    if (!service.sign_in->post(work, [fail, busy] { fail(busy); })) fail(busy);
}

void check_sign_in(Service& service) {
    if (service.sign_in != nullptr) return;
    throw Problem("not_found", "This server has no login by an OpenID provider.");
}

http::Response begin_login(Service& service, Call& call) {
    const std::string return_to = call.query.text("return_to").value_or(call.base + "/");
    call.query.check_all_used();
    if (!oidc::is_own_path(return_to, call.base)) {
        throw Problem(
            "invalid_argument",
            fmt::format(
                "The parameter \"return_to\" is not a path of this server: it has at most {} "
                "bytes and begins with {}/.",
                oidc::kReturnBytesMax,
                call.base
            )
        )
            .with("parameter", "return_to");
    }
    const auto started = service.sign_in->logins().start({
        .browser = std::string(cookie(call.request, cookie_name(call, kLoginCookie))),
        .return_to = return_to,
        .redirect_uri =
            service.sign_in->origin_of(call.request) + call.href("/session/oidc/callback"),
    });
    http::Response response = redirect(started.location);
    response.headers.push_back(make_cookie(call, kLoginCookie, started.browser, oidc::kLoginLife));
    return response;
}

http::Response finish_login(Service& service, Call& call) {
    const auto given = [&](std::string_view name) {
        std::string text = call.query.any_text(name).value_or("");
        if (text.size() <= oidc::kParameterBytesMax) return text;
        throw Problem(
            "invalid_argument",
            fmt::format(
                "The parameter \"{}\" has more than {} bytes.", name, oidc::kParameterBytesMax
            )
        );
    };
    // Providers add parameters of their own, so others than these are ignored.
    const auto finished = service.sign_in->logins().finish(
        {.state = given("state"),
         .code = given("code"),
         .error = given("error"),
         .issuer = given("iss"),
         .browser = std::string(cookie(call.request, cookie_name(call, kLoginCookie)))},
        service.sign_in->origin_of(call.request) + call.base + "/"
    );
    const auto login =
        service.access.log_in(finished.person, visitor_of(call), finished.logout_url);
    record_login(service, call, login, "oidc");
    http::Response response = redirect(finished.return_to);
    response.headers.push_back(make_cookie(call, kLoginCookie, ""));
    response.headers.push_back(make_cookie(call, kSessionCookie, login.secret));
    return response;
}

}  // namespace

void add_session_routes(Routes& routes, Service& service) {
    const auto add = [&](std::string_view method,
                         std::string_view path,
                         std::string_view operation,
                         Permission permission,
                         http::Response (*handle)(Service&, Call&)) -> Route& {
        routes.push_back(
            {.method = method,
             .path = path,
             .operation = operation,
             .permission = permission,
             .handle = [&service, handle](Call& call) { return handle(service, call); }}
        );
        return routes.back();
    };
    const auto add_later = [&](std::string_view path,
                               std::string_view operation,
                               http::Response (*handle)(Service&, Call&)) {
        routes.push_back(
            {.method = "GET",
             .path = path,
             .operation = operation,
             .permission = "none",
             .async =
                 [&service, handle](Call& call, const http::Responder& respond) {
                     check_sign_in(service);
                     answer_later(service, call, respond, handle);
                 },
             .audited = Audited::Never}
        );
    };
    add("GET", "/session", "getLogin", "none", get_login);
    Route& login = add("POST", "/session", "login", "none", log_in);
    login.body_bytes_max = kJsonBytesMax;
    login.media_types = {"application/json"};
    // It says itself who has logged in.
    login.audited = Audited::Never;
    add("DELETE", "/session", "logout", "any", log_out);
    add_later("/session/oidc", "beginLogin", begin_login);
    add_later("/session/oidc/callback", "finishLogin", finish_login);
    add("GET", "/sessions", "listSessions", "any", list_sessions);
    add("DELETE", "/sessions/{id}", "endSession", "any", end_session);
}

}  // namespace ebb::server
