// Routes about hooks: other programs report events here, which start or signal instances.

#include <cctype>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "plugins/hooks/check.h"
#include "plugins/hooks/hook.h"
#include "plugins/hooks/mapping.h"
#include "plugins/hooks/signature.h"
#include "server/api/body.h"
#include "server/api/hook_call.h"
#include "server/api/service.h"
#include "support/os_environment.h"

namespace ebb::server {

namespace {

using OrderedJson = nlohmann::ordered_json;
using hooks::Hook;

/// Read completely before the signature can be checked.
constexpr std::size_t kHookBytesMax = std::size_t{1} << 20;

[[noreturn]] void throw_no_hook() {
    throw Problem("not_found", "There is no hook of this name.");
}

Hook find(Service& service, const Call& call) {
    auto hook = hooks::find_hook(service.admin, call.parameter("name"));
    if (!hook) throw_no_hook();
    return *std::move(hook);
}

http::Response list_hooks(Service& service, Call& call) {
    call.query.check_all_used();
    OrderedJson items = OrderedJson::array();
    for (const Hook& hook : hooks::list_hooks(service.admin)) {
        items.push_back(OrderedJson(hooks::hook_json(hook)));
    }
    return json_response(200, OrderedJson{{"items", std::move(items)}});
}

http::Response get_hook(Service& service, Call& call) {
    call.query.check_all_used();
    return json_response(200, OrderedJson(hooks::hook_json(find(service, call))));
}

http::Response put_hook(Service& service, Call& call) {
    call.query.check_all_used();
    // Refuses what is not one JSON object with unique members.
    const Body checked(call.request.body);
    const Json settings =
        call.request.body.empty() ? Json::object() : Json::parse(call.request.body);
    const Json json = hooks::put_hook(
        service.admin, hooks::read_hook(call.parameter("name"), settings), service.box
    );
    http::Response response = json_response(200, OrderedJson(json));
    response.set("Cache-Control", "no-store");
    return response;
}

http::Response delete_hook(Service& service, Call& call) {
    call.query.check_all_used();
    if (!hooks::remove_hook(service.admin, call.parameter("name"))) throw_no_hook();
    return {.status = 204};
}

/// The secrets, wherever they are.
std::vector<std::string> secrets_of(Service& service, const Hook& hook) {
    std::string text = hooks::open_text(hook, service.box);
    if (!hook.secret.variable.empty()) {
        text = environment_variable(hook.secret.variable).value_or("");
    } else if (!hook.secret.file.empty() && service.hook_secret) {
        text = service.hook_secret(hook.secret.file);
    }
    return hooks::split_secrets(hook, text);
}

/// What the expressions of a hook may read: not what proves who has sent it.
std::map<std::string, std::string> shown_headers(const Hook& hook, const http::Request& request) {
    std::map<std::string, std::string> headers;
    const std::string hidden = hooks::signature_header(hook);
    for (const http::Header& header : request.headers) {
        const bool is_secret = http::is_same_name(header.name, hidden) ||
                               http::is_same_name(header.name, "Authorization") ||
                               http::is_same_name(header.name, "Cookie") ||
                               http::is_same_name(header.name, "X-Ebb-Proxy-Secret");
        if (is_secret) continue;
        std::string name = header.name;
        for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        headers.emplace(std::move(name), header.value);
    }
    return headers;
}

/// Its status is that of a missing login, but a sender of events has none.
Problem not_genuine(const std::string& detail) {
    return Problem("unauthenticated", detail)
        .with("title", "The event is not signed with the secret of this hook")
        .with(
            "hint",
            "docs/how-to/hooks.md says what a sender signs, and which header has the signature."
        );
}

/// Only who has the secret of the hook may send events to it. A login is of no use here.
Principal identify_sender(Service& service, Call& call) {
    Hook hook = find(service, call);
    if (!hook.is_enabled) throw_no_hook();
    std::vector<std::string> secrets;
    try {
        secrets = secrets_of(service, hook);
    } catch (const std::exception& error) {
        if (service.report) service.report("hook_without_secret", hook.name + ": " + error.what());
        throw not_genuine("The server cannot read the secret of this hook.");
    }
    const hooks::HookRequest request{
        .header = [&](std::string_view name) { return call.request.header(name); },
        .body = call.request.body,
    };
    const hooks::Verdict verdict = hooks::verify(hook, secrets, request, service.clock.now());
    if (!verdict.is_genuine()) throw not_genuine(verdict.problem).with_failed_login("hook");
    call.workflow = hook.workflow;
    hooks::HookEvent event{
        .delivery = verdict.delivery,
        .headers = shown_headers(hook, call.request),
        .body = call.request.body,
    };
    Principal sender{.name = "hook:" + hook.name, .credential = hook.name};
    call.hook = std::make_shared<const HookCall>(HookCall{std::move(hook), std::move(event)});
    return sender;
}

http::Response accepted(const HookCall& call, const char* outcome, const InstanceId* instance) {
    return json_response(
        202,
        OrderedJson{
            {"delivery", call.event.delivery},
            {"outcome", outcome},
            {"instance", instance == nullptr ? OrderedJson(nullptr) : instance->to_string()}
        }
    );
}

http::Response send_signal(
    Service& service, const Call& call, const hooks::HookAct& act, const RequestOptions& options
) {
    const Hook& hook = call.hook->hook;
    const auto id = service.engine.find_key(hook.workflow, act.key);
    if (!id) throw Problem("instance_not_found", "There is no instance with the event's key yet.");
    service.engine.signal(*id, hook.signal, act.input, options);
    return accepted(*call.hook, "signaled", &*id);
}

/// The answer comes after the commit: an event that was accepted is not lost.
http::Response receive_event(Service& service, Call& call) {
    call.query.check_all_used();
    const Hook& hook = call.hook->hook;
    const hooks::HookAct act = hooks::act_of(hook, call.hook->event);
    if (!act.is_wanted) return accepted(*call.hook, "ignored", nullptr);
    const std::string by = call.principal.name;
    if (!hook.signal.empty()) {
        return send_signal(service, call, act, {.by = by, .request_id = act.request_id});
    }
    const StartedInstance started =
        service.engine.start(hook.workflow, act.input, {.key = act.key, .by = by});
    return accepted(*call.hook, started.is_new ? "started" : "known", &started.id);
}

}  // namespace

void add_hook_routes(Routes& routes, Service& service) {
    const auto add = [&](std::string_view method,
                         std::string_view path,
                         std::string_view operation,
                         http::Response (*handle)(Service&, Call&)) {
        routes.push_back(
            {.method = method,
             .path = path,
             .operation = operation,
             .permission = "hooks.write",
             .handle = [&service, handle](Call& call) { return handle(service, call); }}
        );
    };
    add("GET", "/hooks", "listHooks", list_hooks);
    add("GET", "/hooks/{name}", "getHook", get_hook);
    add("DELETE", "/hooks/{name}", "deleteHook", delete_hook);
    add("PUT", "/hooks/{name}", "putHook", put_hook);
    routes.back().body_bytes_max = kJsonBytesMax;
    routes.back().media_types = {"application/json"};
    routes.push_back(
        {.method = "POST",
         .path = "/hooks/{name}",
         .operation = "receiveEvent",
         .permission = "none",
         .handle = [&service](Call& call) { return receive_event(service, call); },
         .body_bytes_max = kHookBytesMax,
         .media_types = {"application/json"},
         .identify = [&service](Call& call) { return identify_sender(service, call); }}
    );
}

}  // namespace ebb::server
