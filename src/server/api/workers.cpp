// The routes of remote workers: programs in any language that run handlers.

#include <algorithm>

#include <fmt/format.h>

#include "engine/queue_name.h"
#include "server/api/body.h"
#include "server/api/service.h"
#include "server/remote/desk.h"
#include "support/clock.h"
#include "support/json.h"
#include "support/json_reader.h"
#include "view/payload_json.h"

namespace ebb::server {

namespace {

using view::Json;

constexpr std::size_t kNameBytesMax = 128;
constexpr std::size_t kSessionBytesMax = std::size_t{128} << 10;
constexpr std::size_t kTokenBytesMax = 1'024;
constexpr std::size_t kMessageBytesMax = std::size_t{64} << 10;
constexpr std::size_t kLineBytesMax = std::size_t{8} << 10;
constexpr std::size_t kCodeBytesMax = 64;

[[noreturn]] void refuse(const std::string& detail) {
    throw Problem("invalid_argument", detail);
}

Duration read_duration(Body& body, std::string_view name, Duration otherwise) {
    const auto text = body.text(name, 32);
    if (!text) return otherwise;
    const auto duration = parse_duration(*text);
    if (!duration || *duration < Duration::zero()) {
        refuse(fmt::format("The member \"{}\" is not a duration such as 30s.", name));
    }
    return *duration;
}

/// The objects in a list.
std::vector<Body> objects(Body& body, std::string_view name, std::size_t count_max) {
    std::vector<Body> found;
    const auto list = body.payload(name);
    if (!list) return found;
    if (list->front() != '[') refuse(fmt::format("The member \"{}\" is not a list.", name));
    JsonReader reader(*list);
    reader.array([&] {
        if (found.size() == count_max) {
            refuse(fmt::format("The member \"{}\" has more than {} items.", name, count_max));
        }
        if (reader.peek() != '{') {
            refuse(fmt::format("An item of \"{}\" is not an object.", name));
        }
        found.emplace_back(reader.raw(), fmt::format("{}[{}].", name, found.size()));
    });
    return found;
}

void check_name(const std::string& what, const std::string& name) {
    const bool is_name = !name.empty() && name.size() <= kNameBytesMax &&
                         std::all_of(name.begin(), name.end(), [](char c) {
                             return static_cast<unsigned char>(c) > 0x20 && c != 0x7f;
                         });
    if (is_name) return;
    refuse(fmt::format("{} has 1 to {} bytes and no spaces.", what, kNameBytesMax));
}

void check_handler(const std::string& name) {
    check_name("The name of a handler", name);
    if (is_system_workflow(name)) {
        throw Problem(
            "not_allowed",
            fmt::format("Handlers whose names begin with {} are Ebb's own.", kSystemPrefix)
        );
    }
}

/// A grant may be for some handlers and queues only.
void check_granted(
    const std::string& principal,
    const std::vector<std::string>& patterns,
    const std::string& name,
    std::string_view what
) {
    const auto fits = [&](const std::string& pattern) { return fits_pattern(pattern, name); };
    if (patterns.empty() || std::any_of(patterns.begin(), patterns.end(), fits)) return;
    throw Problem(
        "not_allowed",
        fmt::format(
            "{} may serve only the {} {}, not {}.", principal, what, fmt::join(patterns, ", "), name
        )
    );
}

void check_grant(const std::string& principal, const Grant& grant, const WorkerRequest& request) {
    for (const std::string& handler : request.handlers) {
        check_granted(principal, grant.handlers, handler, "handlers");
    }
    for (const std::string& queue : request.queues) {
        check_granted(principal, grant.queues, queue, "queues");
    }
    if (!request.queues.empty() || grant.queues.empty()) return;
    throw Problem(
        "not_allowed",
        fmt::format(
            "{} must name its queues: it may serve only {}.",
            principal,
            fmt::join(grant.queues, ", ")
        )
    );
}

/// One grant must be for all of it.
void check_grants(const Principal& principal, const WorkerRequest& request) {
    std::optional<Problem> refusal;
    for (const Grant& grant : principal.grants) {
        if (!grant.has("worker") || !grant.is_everywhere()) continue;
        try {
            return check_grant(principal.name, grant, request);
        } catch (const Problem& problem) {
            refusal = problem;
        }
    }
    if (refusal) throw Problem(*refusal);
}

http::Response open_session(Service& service, Call& call) {
    call.query.check_all_used();
    Body body(call.request.body);
    WorkerRequest request;
    request.worker = body.text("worker_id", kNameBytesMax).value_or("");
    if (!request.worker.empty()) check_name("The name of a worker", request.worker);
    request.handlers = body.texts("handlers", WorkerDesk::kHandlersMax);
    request.queues = body.texts("queues", WorkerDesk::kQueuesMax);
    request.slots = static_cast<int>(body.integer("slots", 1, WorkerDesk::kTasksMax).value_or(1));
    request.lease = read_duration(body, "lease", request.lease);
    body.text("sdk", kNameBytesMax);
    body.check_all_used();
    if (request.handlers.empty()) refuse("The member \"handlers\" names no handler.");
    std::sort(request.handlers.begin(), request.handlers.end());
    const auto unique = std::unique(request.handlers.begin(), request.handlers.end());
    request.handlers.erase(unique, request.handlers.end());
    for (const std::string& handler : request.handlers) check_handler(handler);
    for (const std::string& queue : request.queues) engine::check_queue_name(queue);
    if (request.lease < WorkerDesk::kLeaseMin || request.lease > WorkerDesk::kLeaseMax) {
        refuse("The member \"lease\" is from 1s to 1h.");
    }
    check_grants(call.principal, request);
    const OpenedSession opened = service.desk.open(request, call.principal);
    auto response = json_response(
        201,
        Json{
            {"session", opened.session},
            {"worker_id", opened.about.worker},
            {"lease", format_duration(opened.about.lease)},
            {"max_tasks", opened.about.slots},
            {"max_wait",
             format_duration(std::min<Duration>(WorkerDesk::kWaitMax, opened.about.lease / 2))},
            {"server_time", view::time_json(service.store.now())},
        }
    );
    response.set("Cache-Control", "no-store");
    return response;
}

HandlerFailure::Options read_failure(Body& failed) {
    HandlerFailure::Options options;
    options.code = failed.text("code", kCodeBytesMax).value_or("error");
    const bool is_code =
        !options.code.empty() && std::all_of(options.code.begin(), options.code.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '_' || c == '-' || c == '.';
        });
    if (!is_code) refuse("The code of a failure has letters, digits and _ - . only.");
    options.is_permanent = failed.boolean("permanent", false);
    if (failed.has("retry_after")) {
        options.retry_after = read_duration(failed, "retry_after", Duration::zero());
    }
    options.details = failed.payload("details").value_or("");
    return options;
}

TaskReport read_report(Body body) {
    TaskReport report{.token = body.required_text("task", kTokenBytesMax)};
    auto completed = body.object("completed");
    auto failed = body.object("failed");
    const bool is_paused = body.boolean("paused", false);
    body.check_all_used();
    if (int{completed.has_value()} + int{failed.has_value()} + int{is_paused} != 1) {
        refuse("A report has one of \"completed\", \"failed\" and \"paused\".");
    }
    if (completed) {
        report.result.output = completed->payload("output").value_or("null");
        report.result.choice.handle = completed->text("handle", kNameBytesMax).value_or("");
        completed->check_all_used();
    } else if (failed) {
        report.kind = TaskReport::Kind::Failed;
        report.message = failed->text("message", kMessageBytesMax).value_or("");
        report.failure = read_failure(*failed);
        failed->check_all_used();
    } else {
        report.kind = TaskReport::Kind::Paused;
    }
    return report;
}

LogLevel read_level(Body& line) {
    const std::string text = line.text("level", 16).value_or("info");
    for (const LogLevel level :
         {LogLevel::Debug, LogLevel::Info, LogLevel::Warning, LogLevel::Error}) {
        if (to_string(level) == text) return level;
    }
    refuse("The level of a log line is debug, info, warning or error.");
}

TaskNote read_note(Body body) {
    TaskNote note{.token = body.required_text("task", kTokenBytesMax)};
    note.progress = body.payload("progress");
    if (note.progress && note.progress->size() > StepContext::kProgressBytesMax) {
        refuse(fmt::format(
            "A progress has more than {} bytes of JSON.", StepContext::kProgressBytesMax
        ));
    }
    for (Body& line : objects(body, "log", WorkerDesk::kLinesMax)) {
        const LogLevel level = read_level(line);
        note.lines.emplace_back(level, line.required_text("message", kLineBytesMax));
        line.check_all_used();
    }
    body.check_all_used();
    return note;
}

void read_reports(Body& body, PollRequest& request) {
    for (Body& item : objects(body, "done", WorkerDesk::kReportsMax)) {
        request.done.push_back(read_report(std::move(item)));
    }
    for (Body& item : objects(body, "notes", WorkerDesk::kReportsMax)) {
        request.notes.push_back(read_note(std::move(item)));
    }
}

void poll(Service& service, Call& call, const http::Responder& respond) {
    call.query.check_all_used();
    Body body(call.request.body);
    const std::string session = body.required_text("session", kSessionBytesMax);
    PollRequest request;
    request.free = static_cast<int>(body.integer("free", 0, WorkerDesk::kTasksMax).value_or(0));
    request.wait = read_duration(body, "wait", Duration::zero());
    request.has_held = true;
    request.held = body.texts("held", WorkerDesk::kReportsMax);
    read_reports(body, request);
    body.check_all_used();
    service.desk.poll(session, call.principal, std::move(request), respond);
}

void complete(Service& service, Call& call, const http::Responder& respond) {
    call.query.check_all_used();
    Body body(call.request.body);
    const std::string session = body.required_text("session", kSessionBytesMax);
    PollRequest request;
    read_reports(body, request);
    body.check_all_used();
    service.desk.poll(session, call.principal, std::move(request), respond);
}

http::Response close_session(Service& service, Call& call) {
    call.query.check_all_used();
    Body body(call.request.body);
    const std::string session = body.required_text("session", kSessionBytesMax);
    body.check_all_used();
    service.desk.close(session, call.principal);
    return {.status = 204};
}

}  // namespace

void add_remote_routes(Routes& routes, Service& service) {
    const auto add = [&](std::string_view path, std::string_view operation) -> Route& {
        routes.push_back(
            {.method = "POST",
             .path = path,
             .operation = operation,
             .permission = "worker",
             .body_bytes_max = WorkerDesk::kBodyBytesMax,
             .media_types = {"application/json"},
             // The outcomes of tasks are in the histories of their instances.
             .audited = path == "/worker/poll" || path == "/worker/complete" ? Audited::Never
                                                                             : Audited::Acts}
        );
        return routes.back();
    };
    add("/worker/sessions", "openWorkerSession").handle = [&service](Call& call) {
        return open_session(service, call);
    };
    add("/worker/poll", "pollWorker").async = [&service](Call& call, http::Responder respond) {
        poll(service, call, respond);
    };
    add("/worker/complete", "completeTasks").async =
        [&service](Call& call, http::Responder respond) { complete(service, call, respond); };
    add("/worker/close", "closeWorkerSession").handle = [&service](Call& call) {
        return close_session(service, call);
    };
}

}  // namespace ebb::server
