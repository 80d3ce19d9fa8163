#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ebb/error.h>
#include <ebb/stateless.h>

#include "call/request.h"
#include "stateless/codec.h"
#include "stateless/driver.h"
#include "support/json.h"
#include "support/uuid.h"

namespace ebb::stateless {

namespace {

constexpr std::size_t kWorkflowIdBytesMax = 255;
constexpr std::size_t kKeyBytesMax = 256;
constexpr int kLastMax = 1'000'000;
constexpr std::size_t kByBytesMax = 256;
/// Of the names that an error lists.
constexpr std::size_t kNamesBytesMax = 1'000;

void check_options(const EngineOptions& options) {
    if (options.history.last < 1 || options.history.last > kLastMax) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "HistoryPolicy::last is {}; allowed is 1 to {}.", options.history.last, kLastMax
            )
        );
    }
    const bool has_limits = options.payload_bytes_max > 0 && options.json_depth_max > 0 &&
                            options.error_bytes_max > 0 && options.snapshot_bytes_max > 0;
    if (!has_limits) {
        throw Error(
            ErrorCode::InvalidArgument, "A limit of the stateless engine is not above zero."
        );
    }
}

void check_id(const std::string& text, std::string_view what, std::size_t bytes_max) {
    if (text.size() > bytes_max) {
        throw Error(
            ErrorCode::LimitExceeded,
            fmt::format("{} has {} bytes; {} are allowed.", what, text.size(), bytes_max)
        );
    }
    if (clean_text(text, bytes_max) != text) {
        throw Error(ErrorCode::InvalidArgument, fmt::format("{} is not valid UTF-8 text.", what));
    }
}

/// kNoNode for an empty name.
NodeIndex start_of(const Program& program, const std::string& name) {
    if (name.empty()) return kNoNode;
    const NodeIndex node = program.find_start(name);
    if (node != kNoNode) return node;
    const NodeGraph* graph = program.first_graph();
    std::vector<std::string_view> allowed;
    if (graph != nullptr) {
        for (const Node& each : graph->nodes) allowed.emplace_back(each.name);
    }
    const std::string shown = clean_text(name, DefinitionLimits::kNameBytesMax);
    const std::string& workflow = program.definition().name;
    throw Error(
        ErrorCode::InvalidArgument,
        graph == nullptr
            ? fmt::format(
                  "The workflow \"{}\" cannot start at \"{}\": it does not begin with a graph.",
                  workflow,
                  shown
              )
            : fmt::format(
                  "The graph of workflow \"{}\" has no node \"{}\" to start at; it has: {}.",
                  workflow,
                  shown,
                  clean_text(fmt::format("{}", fmt::join(allowed, ", ")), kNamesBytesMax)
              )
    );
}

void check_step_limit(const ExecuteOptions& options) {
    if (options.step_limit >= 1) return;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("The step_limit is {}; it must be 1 or more.", options.step_limit)
    );
}

Log make_log(LogSink* sink) {
    return sink == nullptr ? Log() : Log(std::shared_ptr<LogSink>(std::shared_ptr<void>(), sink));
}

}  // namespace

class Engine::Core {
 public:
    Core(const HandlerRegistry& handlers, const EngineOptions& options)
        : environment{
              handlers,
              EntryHandlers(handlers),
              options,
              options.clock != nullptr ? *options.clock : clock_,
              make_log(options.log),
              {}
          } {
        for (const auto& observer : options.observers) environment.observers.add(observer);
    }

    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;

    void add(const Definition& definition);
    std::shared_ptr<const Workflow> find(std::string_view name, std::optional<int> version) const;
    /// Gives the payload from outside to the token that waits for it.
    void deliver(Driver& driver, const Snapshot::Data& data, const Payload& payload) const;
    Snapshot request(Snapshot snapshot, const Event& event) const;
    /// Does what is due, in `steps` steps at most.
    void drive(Snapshot::Data& data, const ExecuteOptions& options, std::int64_t steps) const;

 private:
    SystemClock clock_;

 public:
    Environment environment;

 private:
    std::map<std::string, std::map<int, std::shared_ptr<const Workflow>>, std::less<>> workflows_;
};

void Engine::Core::add(const Definition& definition) {
    if (definition.rules) {
        throw Error(
            ErrorCode::InvalidDefinition,
            fmt::format(
                "The workflow \"{}\" has rules, which the stateless engine cannot run: start it "
                "in a store.",
                definition.name
            )
        );
    }
    auto workflow = std::make_shared<Workflow>(
        Workflow{Program::compile(definition), definition_checksum(definition)}
    );
    for (const std::string& handler : workflow->program->handlers()) {
        if (!environment.options.require_handlers || environment.handlers.find(handler)) continue;
        throw Error(
            ErrorCode::HandlerNotFound,
            fmt::format(
                "Workflow \"{}\" calls the handler \"{}\", which is not registered.",
                definition.name,
                handler
            )
        );
    }
    auto& known = workflows_[definition.name][definition.version];
    if (known && known->checksum != workflow->checksum) {
        throw Error(
            ErrorCode::WorkflowConflict,
            fmt::format(
                "Workflow \"{}\" version {} is known with different content; a changed workflow "
                "needs a new version.",
                definition.name,
                definition.version
            )
        );
    }
    if (!known) known = std::move(workflow);
}

std::shared_ptr<const Workflow> Engine::Core::find(
    std::string_view name, std::optional<int> version
) const {
    const auto versions = workflows_.find(name);
    if (versions != workflows_.end() && !versions->second.empty()) {
        if (!version) return versions->second.rbegin()->second;
        const auto found = versions->second.find(*version);
        if (found != versions->second.end()) return found->second;
    }
    const std::string shown = clean_text(name, DefinitionLimits::kNameBytesMax);
    throw Error(
        ErrorCode::WorkflowNotFound,
        version
            ? fmt::format("The engine does not know workflow \"{}\" version {}.", shown, *version)
            : fmt::format("The engine does not know workflow \"{}\".", shown)
    );
}

void Engine::Core::deliver(Driver& driver, const Snapshot::Data& data, const Payload& payload)
    const {
    check_payload(payload, "The payload", environment.limits());
    std::vector<std::string> signals;
    std::string decision;
    for (const Token& token : data.state.tokens) {
        const ProgramNode& node = data.program().node(token.node);
        if (token.status == TokenStatus::WaitingSignal) signals.push_back(node.signal);
        if (token.status == TokenStatus::WaitingDecision) decision = node.name;
    }
    if (signals.size() == 1) {
        return driver.request(event::SignalReceived{signals.front(), payload, {}});
    }
    if (signals.size() > 1) {
        throw Error(
            ErrorCode::NotWaiting,
            fmt::format(
                "The snapshot waits for several signals ({}); send one with signal().",
                fmt::join(signals, ", ")
            )
        );
    }
    throw Error(
        ErrorCode::NotWaiting,
        decision.empty()
            ? std::string(
                  "The snapshot waits for no signal, so there is nothing to hand a payload to."
              )
            : fmt::format("The snapshot waits for the decision \"{}\": use decide().", decision)
    );
}

Snapshot Engine::Core::request(Snapshot snapshot, const Event& event) const {
    const ExecuteOptions options;
    Driver(environment, snapshot.data(), options).request(event);
    return snapshot;
}

void Engine::Core::drive(Snapshot::Data& data, const ExecuteOptions& options, std::int64_t steps)
    const {
    Driver driver(environment, data, options);
    if (options.payload) deliver(driver, data, *options.payload);
    while (steps-- > 0 && !options.stop.stop_requested() && driver.advance()) {
    }
}

Engine::Engine(const HandlerRegistry& handlers, EngineOptions options) {
    check_options(options);
    core_ = std::make_unique<Core>(handlers, options);
}

Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

void Engine::add(const Definition& definition) {
    core_->add(definition);
}

void Engine::add_observer(std::shared_ptr<Observer> observer) {
    core_->environment.observers.add(std::move(observer));
}

Snapshot Engine::start(std::string_view workflow, const Payload& given, const StartOptions& options)
    const {
    Payload input = given.empty() ? Payload("null") : given;
    const Environment& environment = core_->environment;
    auto known = core_->find(workflow, options.version);
    std::string what = "The input of workflow \"";
    what.append(workflow) += '"';
    check_payload(input, what, environment.limits());
    check_id(options.workflow_id, "The workflow_id", kWorkflowIdBytesMax);
    check_id(options.key, "The key", kKeyBytesMax);
    const TimePoint now = options.now ? *options.now : environment.clock.now();
    // The ids of the clock do not follow a date that the caller sets.
    const auto make_run_id = [&] {
        return options.now ? make_instance_id(ManualClock(now))
                           : make_instance_id(environment.clock, now);
    };
    const InstanceId run = options.run_id ? *options.run_id : make_run_id();
    const InstanceId id = options.workflow_id.empty() ? run : instance_id_of(options.workflow_id);
    const Program* program = known->program.get();
    const NodeIndex start_node = start_of(*program, options.start_node);
    Snapshot snapshot(std::make_unique<Snapshot::Data>(Snapshot::Data{
        .workflow = std::move(known),
        .workflow_id = options.workflow_id.empty() ? id.to_string() : options.workflow_id,
        .identity = {.id = id, .key = options.key},
        .state = {},
        .record = Record(program, environment.options.history),
        .last_started_at = std::chrono::floor<std::chrono::milliseconds>(now),
    }));
    if (options.metadata != "{}") snapshot.set_metadata(options.metadata);
    snapshot.data().version = 0;
    environment.observers.check_start(
        {workflow, program->definition().version, options.key, input, options.by}
    );
    ExecuteOptions driving;
    driving.now = now;
    Driver(environment, snapshot.data(), driving)
        .start({std::move(input), clean_text(options.by, kByBytesMax), start_node, run});
    return snapshot;
}

Snapshot Engine::parse(std::string_view json) const {
    const EngineOptions& options = core_->environment.options;
    if (json.size() > options.snapshot_bytes_max) {
        throw Error(
            ErrorCode::PayloadTooLarge,
            fmt::format(
                "The snapshot has {} bytes; snapshot_bytes_max allows {}.",
                json.size(),
                options.snapshot_bytes_max
            )
        );
    }
    const auto find = [this](std::string_view name, int version) {
        return core_->find(name, version);
    };
    return Snapshot(read_snapshot(json, find, options.history));
}

Snapshot Engine::step(Snapshot snapshot, const ExecuteOptions& options) const {
    core_->drive(snapshot.data(), options, 1);
    return snapshot;
}

Snapshot Engine::execute(Snapshot snapshot, const ExecuteOptions& options) const {
    check_step_limit(options);
    core_->drive(snapshot.data(), options, options.step_limit);
    return snapshot;
}

Snapshot Engine::decide(Snapshot snapshot, const PersonalDecision& decision) const {
    return core_->request(std::move(snapshot), make_decision(decision));
}

Snapshot Engine::signal(
    Snapshot snapshot, std::string_view name, const Payload& given, std::string_view request_id
) const {
    Payload payload = given.empty() ? Payload("null") : given;
    const RequestOptions options{.request_id = std::string(request_id)};
    return core_->request(
        std::move(snapshot),
        make_signal(name, std::move(payload), options, core_->environment.limits())
    );
}

Snapshot Engine::cancel(Snapshot snapshot, std::string_view by, std::string_view reason) const {
    return core_->request(std::move(snapshot), make_cancel(by, reason));
}

Snapshot Engine::abort(Snapshot snapshot, std::string_view by, std::string_view reason) const {
    return core_->request(std::move(snapshot), make_abort(by, reason));
}

Snapshot Engine::pause(Snapshot snapshot, std::string_view by, std::string_view reason) const {
    return core_->request(std::move(snapshot), make_pause(by, reason));
}

Snapshot Engine::resume(Snapshot snapshot, std::string_view by) const {
    return core_->request(std::move(snapshot), make_resume(by));
}

Snapshot Engine::requeue(Snapshot snapshot, const RequeueOptions& options) const {
    return core_->request(std::move(snapshot), make_requeue(options, core_->environment.limits()));
}

Snapshot Engine::release(Snapshot snapshot, std::string_view by) const {
    const Seq seen = snapshot.data().state.last_seq;
    return core_->request(
        std::move(snapshot), event::MoveRequested{.seen = seen, .by = clean_name(by)}
    );
}

Snapshot Engine::reclaim(Snapshot snapshot, std::string_view by) const {
    Payload details = "{\"by\":";
    append_json_string(details, clean_name(by));
    return core_->request(std::move(snapshot), event::Arrived{details + "}"});
}

}  // namespace ebb::stateless
