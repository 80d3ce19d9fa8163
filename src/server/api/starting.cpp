// Routes that start instances, and the one that waits for the end of one.

#include "server/api/starting.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/model/label_values.h"
#include "engine/core.h"
#include "server/api/payloads.h"
#include "server/api/reserved_key.h"
#include "server/api/start_desk.h"
#include "server/live/hub.h"
#include "support/json.h"

namespace ebb::server {

namespace {

using view::Json;

constexpr std::size_t kKeyBytesMax = 256;
constexpr char kReservedKey = '~';
constexpr std::size_t kBatchLinesMax = 10'000;

Json result_json(const InstanceId& id, const Result& result, PayloadDocument& document) {
    return {
        {"id", id.to_string()},
        {"status", result.status},
        {"is_finished", result.is_finished},
        {"output", document.value(result.output)},
        {"error", document.value(result.error)},
    };
}

InstanceStart read_start(const Call& call) {
    Body body(call.request.body);
    InstanceStart start{.workflow = body.required_text("workflow", 128)};
    start.options.version = read_version(body);
    start.input = body.payload("input").value_or("null");
    start.options.key = read_start_key(body, call);
    if (const auto priority = body.integer("priority", -100, 100)) {
        start.options.priority = static_cast<int>(*priority);
    }
    if (const auto labels = body.payload("labels")) {
        start.options.labels = labels_from_json(ebb::Json::parse(*labels));
    }
    body.check_all_used();
    start.options.by = call.principal.name;
    return start;
}

/// What is needed of a request to start an instance after its call has returned.
struct Starting {
    InstanceStart start;
    std::optional<Duration> wait;
    AuditEntry entry;
    Principal principal;
    RequestTrace trace;
    TimePoint begun{};
    std::string base;  ///< of URLs of instances
    std::string path;
    std::string request_id;
    http::Responder respond;
};

void answer_start(Service& service, const Starting& starting, const StartedInstance& started) {
    const std::string& workflow = starting.start.workflow;
    // Only a caller with a trace of its own looks for it there.
    if (started.is_new && !starting.trace.parent_id.empty()) {
        service.telemetry->on_requested_start(
            starting.trace, workflow, started.id, starting.begun, service.clock.now()
        );
    }
    // Before anything is said of an instance that the key may belong to.
    const bool is_free = started.is_new || starting.principal.may_with("instances.read", workflow);
    const auto row = starting.wait || !is_free ? service.store.load(started.id) : std::nullopt;
    if (!is_free && (!row || !may_see(starting.principal, *row))) {
        throw Problem(
            "not_allowed",
            fmt::format(
                "The key belongs to an instance that {} has not started.", starting.principal.name
            )
        );
    }
    const StartOptions& options = starting.start.options;
    check_same_start(started, options.key, options.version);
    const std::string location = starting.base + started.id.to_string();
    PayloadView view = payload_view(
        service,
        starting.principal,
        {workflow, row ? row->version : 0},
        row && is_own(starting.principal, *row)
    );
    view.mode = "full";
    const auto answer =
        [started, location, view, respond = starting.respond](const std::optional<Result>& result) {
            PayloadDocument document(view);
            Json json = started_json(started);
            if (result) json["result"] = result_json(started.id, *result, document);
            auto response = json_response(started.is_new ? 201 : 200, document.text(json));
            if (started.is_new) response.set("Location", location);
            respond(std::move(response));
        };
    if (!starting.wait) return answer(std::nullopt);
    service.hub.wait(started.id, *starting.wait, [answer](const Result& result) {
        answer(result);
    });
}

void refuse_start(Service& service, const Starting& starting, const std::exception& error) {
    service.audit.note(refusal_of(starting.entry, true, error));
    const Problem problem = to_problem(error);
    if (hides_detail(problem.code()) && service.report) {
        service.report("http_failed", error.what());
    }
    starting.respond(problem_response(problem, starting.path, starting.request_id));
}

void start_instance(Service& service, StartDesk& desk, Call& call, const http::Responder& respond) {
    const auto wait = call.query.duration("wait", kWaitMax);
    call.query.check_all_used();
    InstanceStart start = read_start(call);
    check_workflow(call, start.workflow);
    check_reserved(service, start.options.key, start.workflow);
    call.workflow = start.workflow;
    start.options.labels.merge(owner_labels(call.principal, call.workflow, start.options.labels));
    const auto starting = std::make_shared<const Starting>(Starting{
        .start = std::move(start),
        .wait = wait,
        .entry = call.audit_entry("startInstance"),
        .principal = call.principal,
        .trace = call.trace,
        .begun = service.clock.now(),
        .base = call.href("/instances/"),
        .path = call.request.path,
        .request_id = call.request_id,
        .respond = respond,
    });
    desk.take({
        .start = starting->start,
        .entry = starting->entry,
        .done =
            [&service, starting](const StartOrder::Outcome& outcome) {
                try {
                    if (outcome.error) std::rethrow_exception(outcome.error);
                    answer_start(service, *starting, outcome.started);
                } catch (const std::exception& error) {
                    refuse_start(service, *starting, error);
                }
            },
    });
}

void get_result(Service& service, Call& call, const http::Responder& respond) {
    const InstanceId id = resolve(service, call);
    const Duration wait = call.query.duration("wait", kWaitMax).value_or(Duration::zero());
    PayloadView view = payload_view(service, call, id);
    // A result is asked for because of its value.
    view.mode = "full";
    call.query.check_all_used();
    if (!service.reads.load(id)) {
        throw Problem(
            "instance_not_found", fmt::format("There is no instance {}.", id.to_string())
        );
    }
    service.hub.wait(id, wait, [id, view, respond](const Result& result) {
        PayloadDocument document(view);
        const Json json = result_json(id, result, document);
        respond(json_response(result.is_finished ? 200 : 202, document.text(json)));
    });
}

/// Calls `take` with each line that is not empty, and its number.
template <typename Take>
void each_line(const std::string& body, Take take) {
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < body.size();) {
        const std::size_t end = std::min(body.find('\n', begin), body.size());
        std::string line = body.substr(begin, end - begin);
        begin = end + 1;
        ++number;
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (!line.empty()) take(std::move(line), number);
    }
}

std::vector<Payload> read_lines(const std::string& body) {
    std::vector<Payload> lines;
    each_line(body, [&](std::string line, std::size_t) {
        if (lines.size() >= kBatchLinesMax) {
            throw Problem(
                "limit_exceeded", fmt::format("There are more than {} lines.", kBatchLinesMax)
            );
        }
        lines.push_back(std::move(line));
    });
    if (lines.empty()) throw Problem("invalid_argument", "The body has no lines.");
    return lines;
}

/// Throws a problem that names the first line that is not JSON.
void check_lines(const std::string& body) {
    each_line(body, [](const std::string& line, std::size_t number) {
        try {
            check_payload(line, fmt::format("Line {}", number));
        } catch (const Error& error) {
            throw Problem("invalid_payload", error.what()).with("line", number);
        }
    });
}

/// The engine checks all inputs before it stores anything. Which line is wrong is looked for only
/// if one is.
std::vector<StartedInstance> start_lines(
    Service& service,
    const std::string& workflow,
    const std::string& body,
    const StartOptions& options,
    const std::string& key
) {
    const auto inputs = read_lines(body);
    if (!key.empty()) check_same_request(service.store, key, workflow, inputs.size());
    const auto keys = reserved_keys(key, inputs.size());
    try {
        return Engine::Core::of(service.engine).start_all(workflow, inputs, options, keys);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::InvalidPayload) check_lines(body);
        throw;
    }
}

http::Response start_batch(Service& service, Call& call) {
    const auto workflow = call.query.text("workflow");
    if (!workflow || workflow->empty()) {
        throw Problem("invalid_argument", "The parameter \"workflow\" is missing.");
    }
    StartOptions options{.by = call.principal.name};
    if (const auto version = call.query.integer("version", 1, 2'147'483'647)) {
        options.version = static_cast<int>(*version);
    }
    if (const auto priority = call.query.integer("priority", -100, 100)) {
        options.priority = static_cast<int>(*priority);
    }
    call.query.check_all_used();
    check_workflow(call, *workflow);
    options.labels = owner_labels(call.principal, *workflow, {});
    const std::string key = reserved_key(call);
    const auto started_all = start_lines(service, *workflow, call.request.body, options, key);
    for (const StartedInstance& started : started_all) {
        check_same_start(started, key, options.version);
    }
    const bool is_new = std::any_of(
        started_all.begin(), started_all.end(), [](const auto& started) { return started.is_new; }
    );
    http::Response response{.status = is_new ? 201 : 200};
    response.set("Content-Type", "application/x-ndjson");
    for (const StartedInstance& started : started_all) {
        response.body += fmt::format(
            "{{\"id\":\"{}\",\"is_new\":{}}}\n", started.id.to_string(), started.is_new
        );
    }
    return response;
}

/// A snapshot may be imported into the principal's own workflows only.
void check_snapshot(const Call& call) {
    if (call.principal.may_everywhere(call.permission)) return;
    const Json snapshot = Json::parse(call.request.body, nullptr, false);
    const Json workflow =
        snapshot.is_object() ? snapshot.value("workflow", Json::object()) : Json::object();
    const Json name = workflow.is_object() ? workflow.value("name", Json()) : Json();
    if (!name.is_string()) {
        throw Problem("invalid_argument", "The body is not a snapshot: it names no workflow.");
    }
    check_workflow(call, name.get<std::string>());
}

http::Response import_instance(Service& service, Call& call) {
    call.query.check_all_used();
    check_snapshot(call);
    const ImportedInstance imported =
        service.engine.import_snapshot(call.request.body, {.by = call.principal.name});
    auto response = json_response(
        imported.is_new ? 201 : 200,
        Json{{"id", imported.id.to_string()}, {"is_new", imported.is_new}}
    );
    if (imported.is_new) {
        response.set("Location", call.href("/instances/" + imported.id.to_string()));
    }
    return response;
}

}  // namespace

void check_reserved(Service& service, const std::string& key, const std::string& workflow) {
    if (key.starts_with(kReservedKey)) check_same_request(service.store, key, workflow);
}

std::optional<int> read_version(Body& body) {
    const auto version = body.integer("version", 1, 2'147'483'647);
    return version ? std::optional<int>(static_cast<int>(*version)) : std::nullopt;
}

std::string read_start_key(Body& body, const Call& call) {
    std::string key = body.text("key", kKeyBytesMax).value_or("");
    if (key.starts_with(kReservedKey)) {
        throw Problem("invalid_argument", "A key that begins with ~ is reserved.");
    }
    return key.empty() ? reserved_key(call) : key;
}

void check_same_start(
    const StartedInstance& started, const std::string& key, const std::optional<int>& version
) {
    if (started.is_new || !key.starts_with(kReservedKey)) return;
    const bool is_same_version = !version || started.has_same_version;
    if (is_same_version && started.has_same_input) return;
    throw Problem(
        "idempotency_key_reused",
        fmt::format(
            "The Idempotency-Key was used for the instance {}, with another input or "
            "version.",
            started.id.to_string()
        )
    );
}

view::Json started_json(const StartedInstance& started) {
    Json json = {{"id", started.id.to_string()}, {"is_new", started.is_new}};
    if (!started.is_new) {
        json["has_same_input"] = started.has_same_input;
        json["has_same_version"] = started.has_same_version;
    }
    return json;
}

void add_start_routes(Routes& routes, Service& service) {
    const auto desk = std::make_shared<StartDesk>(service.engine, service.audit);
    routes.push_back(
        {.method = "POST",
         .path = "/instances",
         .operation = "startInstance",
         .permission = "instances.start",
         .async = [&service, desk](
                      Call& call, const http::Responder& respond
                  ) { start_instance(service, *desk, call, respond); },
         .body_bytes_max = kJsonBytesMax,
         .media_types = {"application/json"},
         .reach = Reach::Project,
         .audited = Audited::Inside}
    );
    routes.push_back(
        {.method = "POST",
         .path = "/instances/batch",
         .operation = "startInstances",
         .permission = "instances.start",
         .handle = [&service](Call& call) { return start_batch(service, call); },
         .body_bytes_max = kBatchBytesMax,
         .media_types = {"application/x-ndjson"},
         .reach = Reach::Project}
    );
    routes.push_back(
        {.method = "POST",
         .path = "/instances/import",
         .operation = "importInstance",
         .permission = "instances.move",
         .handle = [&service](Call& call) { return import_instance(service, call); },
         .body_bytes_max = kBatchBytesMax,
         .media_types = {"application/json"},
         .reach = Reach::Project}
    );
    routes.push_back(
        {.method = "GET",
         .path = "/instances/{id}/result",
         .operation = "getResult",
         .permission = "instances.read",
         .async = [&service](
                      Call& call, const http::Responder& respond
                  ) { get_result(service, call, respond); },
         .reach = Reach::Project}
    );
}

}  // namespace ebb::server
