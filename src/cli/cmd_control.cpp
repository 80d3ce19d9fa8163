#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "store/store.h"
#include "support/clock.h"
#include "support/json.h"

namespace ebb::cli {

namespace {

/// An engine that only starts and steers; handlers run elsewhere.
class Client {
 public:
    Client(const Context& context, std::string_view command)
        : store_(open_kept_store(context, command)), engine_(*store_, handlers_) {}

    Engine& engine() { return engine_; }

 private:
    HandlerRegistry handlers_;
    StorePtr store_;
    Engine engine_;
};

std::string person(const std::string& by) {
    if (!by.empty()) return by;
    const char* user = std::getenv("USER");
    return user == nullptr ? std::string() : std::string(user);
}

int tell_status(Context& context, Engine& engine, const InstanceId& id) {
    const auto instance = engine.find(id);
    const std::string status = instance ? instance->status : "unknown";
    if (context.options.json) {
        context.terminal.out(to_text({{"id", id.to_string()}, {"status", status}}) + "\n");
    } else {
        context.terminal.out(fmt::format("{} {}\n", id.to_string(), status));
    }
    return kOk;
}

}  // namespace

Duration timeout_of(const std::string& text) {
    if (text.empty()) return Duration::max();
    if (const auto duration = parse_duration(text)) return *duration;
    throw UsageError{fmt::format("\"{}\" is no duration; write 30s, 5m, 1h30m or 2d.", text)};
}

int exit_code_of(const Result& result) {
    if (!result.is_finished) return kTimeout;
    return result.status == "completed" ? kOk : kEndedBadly;
}

namespace {

int tell_result(Context& context, const InstanceId& id, const Result& result) {
    if (context.options.json) {
        Json json = {
            {"id", id.to_string()}, {"status", result.status}, {"finished", result.is_finished}
        };
        if (!result.output.empty()) json["output"] = Json::parse(result.output);
        if (!result.error.empty()) json["error"] = Json::parse(result.error);
        context.terminal.out(to_text(json) + "\n");
    } else {
        context.terminal.out(fmt::format("{} {}\n", id.to_string(), result.status));
        if (!result.output.empty()) context.terminal.out(result.output + "\n");
        if (!result.error.empty()) context.terminal.err(result.error + "\n");
    }
    return exit_code_of(result);
}

}  // namespace

int start(Context& context, const StartCommandOptions& options) {
    Client client(context, "start");
    Engine& engine = client.engine();
    std::string workflow = options.workflow;
    if (is_definition_file(workflow)) {
        const LoadedWorkflow loaded = load_workflow(workflow);
        engine.register_workflow(loaded.definition);
        workflow = loaded.definition.name;
    }
    const StartedInstance started = engine.start(
        workflow,
        read_payload_argument(options.input, "input"),
        {.version = options.version,
         .key = options.key,
         .priority = options.priority,
         .by = person({})}
    );
    if (options.waits)
        return tell_result(
            context, started.id, engine.wait(started.id, timeout_of(options.timeout))
        );
    if (context.options.json) {
        context.terminal.out(
            to_text({{"id", started.id.to_string()}, {"new", started.is_new}}) + "\n"
        );
    } else {
        context.terminal.out(started.id.to_string() + "\n");
        if (!started.is_new)
            context.terminal.err("The key existed already: this is its instance.\n");
    }
    return kOk;
}

int wait(Context& context, const WaitOptions& options) {
    Client client(context, "wait");
    const InstanceId id = resolve_instance(client.engine(), options.instance);
    return tell_result(context, id, client.engine().wait(id, timeout_of(options.timeout)));
}

int steer(Context& context, const SteerOptions& options) {
    Client client(context, options.verb);
    Engine& engine = client.engine();
    const InstanceId id = resolve_instance(engine, options.instance);
    const std::string by = person(options.by);
    if (options.verb == "cancel") engine.cancel(id, by, options.reason);
    if (options.verb == "abort") engine.abort(id, by, options.reason);
    if (options.verb == "pause") engine.pause(id, by, options.reason);
    if (options.verb == "resume") engine.resume(id, by);
    return tell_status(context, engine, id);
}

int decide(Context& context, const DecideOptions& options) {
    Client client(context, "decide");
    const InstanceId id = resolve_instance(client.engine(), options.instance);
    client.engine().decide(
        id,
        {.verdict = options.verdict == "confirm" ? PersonalDecision::Verdict::Confirm
                                                 : PersonalDecision::Verdict::Reject,
         .node = options.node,
         .by = person(options.by),
         .role = options.role,
         .comment = options.comment,
         .request_id = options.request_id}
    );
    return tell_status(context, client.engine(), id);
}

int signal(Context& context, const SignalOptions& options) {
    Client client(context, "signal");
    const InstanceId id = resolve_instance(client.engine(), options.instance);
    client.engine().signal(
        id, options.name, read_payload_argument(options.payload, "payload"), options.request_id
    );
    return tell_status(context, client.engine(), id);
}

int requeue(Context& context, const RequeueCommandOptions& options) {
    Client client(context, "requeue");
    const InstanceId id = resolve_instance(client.engine(), options.instance);
    RequeueOptions requeue{
        .skip_compensation = options.skip_compensation, .by = person(options.by)
    };
    if (!options.input.empty()) requeue.new_input = read_payload_argument(options.input, "input");
    client.engine().requeue(id, requeue);
    return tell_status(context, client.engine(), id);
}

}  // namespace ebb::cli
