#include <utility>

#include <fmt/format.h>

#include <ebb/engine.h>

#include "call/request.h"
#include "engine/core.h"
#include "engine/recovery_plan.h"

namespace ebb {

namespace {

constexpr int kPageMax = 1'000;

/// What is given as an input or a signal's payload: nothing is null.
Payload or_null(const Payload& payload) {
    return payload.empty() ? Payload("null") : payload;
}

int check_limit(int limit) {
    if (limit < 1 || limit > kPageMax) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("The limit {} is not allowed; it goes from 1 to {}.", limit, kPageMax)
        );
    }
    return limit;
}

std::string why_no_output(const InstanceId& id, const Result& result) {
    if (!is_terminal(result.status)) {
        return fmt::format(
            "The instance {} has no output yet: its status is {}.",
            id.to_string(),
            to_string(result.status)
        );
    }
    if (result.error.empty()) {
        return fmt::format(
            "The instance {} has no output: its status is {}.",
            id.to_string(),
            to_string(result.status)
        );
    }
    std::string text = fmt::format(
        "The instance {} has no output: its status is {}, because of {}",
        id.to_string(),
        to_string(result.status),
        engine::describe_failure(result.error)
    );
    if (!text.ends_with('.')) text += '.';
    return text;
}

}  // namespace

Engine::Engine(Store& store, const HandlerRegistry& handlers, EngineOptions options)
    : core_(std::make_unique<Core>(store, handlers, std::move(options))) {}

Engine::~Engine() = default;

NotCompleted::NotCompleted(const InstanceId& id, Result result)
    : Error(ErrorCode::InvalidState, why_no_output(id, result)), result_(std::move(result)) {}

Registration Engine::register_workflow(const Definition& definition) {
    return core_->register_workflow(definition);
}

std::vector<WorkflowView> Engine::workflows() {
    std::vector<WorkflowView> views;
    for (const WorkflowRow& row : core_->environment.store.list_workflows()) {
        views.push_back({.name = row.name, .version = row.version, .created_at = row.created_at});
    }
    return views;
}

std::vector<InstanceCount> Engine::stats() {
    std::vector<InstanceCount> counts;
    for (const StatusCount& count : core_->environment.store.count()) {
        counts.push_back({.workflow = count.workflow, .status = count.status, .count = count.count}
        );
    }
    return counts;
}

StartedInstance Engine::start(
    std::string_view workflow, const Payload& input, const StartOptions& options
) {
    const Payload given = or_null(input);
    return core_->start_all(workflow, {&given, 1}, options).front();
}

StartedInstance Engine::start_in(
    const Transaction& transaction,
    std::string_view workflow,
    const Payload& input,
    const StartOptions& options
) {
    return core_->start_in(transaction, workflow, or_null(input), options);
}

void Engine::wake_workers() {
    core_->wake_workers();
}

std::vector<StartedInstance> Engine::start_all(
    std::string_view workflow, std::span<const Payload> inputs, const StartOptions& options
) {
    if (inputs.empty()) return {};
    return core_->start_all(workflow, inputs, options);
}

Result Engine::wait(const InstanceId& id, Duration timeout) {
    return core_->wait(id, timeout);
}

Payload Engine::completed(const InstanceId& id, Duration timeout) {
    Result result = wait(id, timeout);
    if (result.status != InstanceStatus::Completed) throw NotCompleted(id, std::move(result));
    return std::move(result.output);
}

std::optional<InstanceSummary> Engine::find(const InstanceId& id) {
    const auto row = core_->environment.store.load(id);
    if (!row) return std::nullopt;
    return engine::to_summary(*row);
}

std::optional<InstanceId> Engine::find_key(std::string_view workflow, std::string_view key) {
    return core_->environment.store.find_key(workflow, key);
}

InstanceView Engine::show(const InstanceId& id) {
    return core_->show(id);
}

std::vector<InstanceSummary> Engine::list(const ListOptions& options) {
    if (!options.where.empty()) {
        ListOptions rest = options;
        std::vector<InstanceSummary> found;
        do {
            InstancePage page = list_page(rest);
            std::move(page.instances.begin(), page.instances.end(), std::back_inserter(found));
            if (!page.next) return found;
            rest.go_on_after(*page.next);
            rest.limit = options.limit - static_cast<int>(found.size());
        } while (rest.limit > 0);
        return found;
    }
    check_limit(options.limit);
    std::vector<InstanceSummary> summaries;
    for (const InstanceRow& row : core_->environment.store.list(engine::query_of(options))) {
        summaries.push_back(engine::to_summary(row));
    }
    return summaries;
}

std::vector<HistoryEntry> Engine::history(const InstanceId& id, std::int64_t after, int limit) {
    const auto events = core_->history(id, after, check_limit(limit));
    if (events.empty()) core_->load(id);
    std::vector<HistoryEntry> entries;
    for (const HistoryEvent& event : events) entries.push_back(to_entry(event));
    return entries;
}

std::vector<TraceEntry> Engine::trace(const InstanceId& id, std::int64_t after, int limit) {
    return core_->trace(id, after, check_limit(limit));
}

std::string Engine::why(const InstanceId& id) {
    return core_->why(id);
}

std::shared_ptr<const Definition> Engine::definition(
    std::string_view workflow, std::optional<int> version
) {
    auto program = core_->program(workflow, version);
    const Definition* definition = &program->definition();
    return {std::move(program), definition};
}

bool Engine::decide(const InstanceId& id, const PersonalDecision& decision) {
    return core_->request_change(id, make_decision(decision), decision.expected_revision);
}

void Engine::signal(
    const InstanceId& id,
    std::string_view name,
    const Payload& payload,
    const RequestOptions& options
) {
    core_->request(
        id,
        make_signal(name, or_null(payload), options, core_->environment.limits()),
        options.expected_revision
    );
}

bool Engine::cancel(const InstanceId& id, const RequestOptions& options) {
    return core_->request_stop(
        id, make_cancel(options.by, options.reason), options.expected_revision
    );
}

bool Engine::abort(const InstanceId& id, const RequestOptions& options) {
    return core_->request_stop(
        id, make_abort(options.by, options.reason), options.expected_revision
    );
}

bool Engine::pause(const InstanceId& id, const RequestOptions& options) {
    return core_->request_change(
        id, make_pause(options.by, options.reason), options.expected_revision
    );
}

bool Engine::resume(const InstanceId& id, const RequestOptions& options) {
    return core_->request_change(id, make_resume(options.by), options.expected_revision);
}

bool Engine::requeue(const InstanceId& id, const RequeueOptions& options) {
    const Event event = make_requeue(options, core_->environment.limits());
    return core_->request_change(id, event, options.expected_revision);
}

bool Engine::write(const InstanceId& id, const Payload& attributes, const WriteOptions& options) {
    const Event event = make_write(attributes, options, core_->environment.limits());
    return core_->request_change(id, event, options.expected_revision);
}

bool Engine::write_in(
    const Transaction& transaction,
    const InstanceId& id,
    const Payload& attributes,
    const WriteOptions& options
) {
    const Event event = make_write(attributes, options, core_->environment.limits());
    return core_->request_in(transaction, id, event, options.expected_revision);
}

void Engine::signal_in(
    const Transaction& transaction,
    const InstanceId& id,
    std::string_view name,
    const Payload& payload,
    const RequestOptions& options
) {
    const PayloadLimits limits = core_->environment.limits();
    const Event event = make_signal(name, or_null(payload), options, limits);
    core_->send_in(transaction, id, event, options);
}

void Engine::decide_in(
    const Transaction& transaction, const InstanceId& id, const PersonalDecision& decision
) {
    const RequestOptions options{
        .request_id = decision.request_id, .expected_revision = decision.expected_revision
    };
    core_->send_in(transaction, id, make_decision(decision), options);
}

void Engine::cancel_in(
    const Transaction& transaction, const InstanceId& id, const RequestOptions& options
) {
    core_->send_in(transaction, id, make_cancel(options.by, options.reason), options);
}

bool Engine::rematch(const InstanceId& id, const RequestOptions& options) {
    return write(
        id,
        Payload("null"),
        {.is_repair = true,
         .by = options.by,
         .request_id = options.request_id,
         .expected_revision = options.expected_revision}
    );
}

RecoveryPlan Engine::plan_recovery(
    const InstanceId& id, std::int64_t to, const RecoverOptions& options
) {
    const bool stops = options.then == RecoverOptions::Then::Stop;
    return engine::plan_recovery(
        *core_, id, make_recovery(to, stops, options.by, {}), options.expected_revision
    );
}

void Engine::recover(const InstanceId& id, std::int64_t to, const RecoverOptions& options) {
    const bool stops = options.then == RecoverOptions::Then::Stop;
    const Event event = make_recovery(to, stops, options.by, options.request_id);
    core_->request_change(id, event, options.expected_revision);
}

void Engine::set_queue(std::string_view name, const QueueLimits& limits) {
    core_->set_queue(name, limits);
}

std::vector<QueueView> Engine::queues() {
    return core_->queues();
}

std::vector<WorkerView> Engine::workers() {
    return core_->workers();
}

std::vector<UnservedTasks> Engine::unserved() {
    return core_->unserved();
}

void Engine::run() {
    core_->run();
}

void Engine::begin_drain() {
    core_->begin_drain();
}

bool Engine::drain(Duration limit, std::stop_token hurry) {
    return core_->drain(limit, hurry);
}

int Engine::poll() {
    return core_->poll();
}

bool Engine::run_one() {
    return core_->run_one();
}

TimePoint Engine::next_due() {
    return core_->next_due();
}

EngineCounters Engine::counters() const {
    const engine::Statistics& statistics = core_->environment.statistics;
    return {
        .started = statistics.started,
        .finished = statistics.finished,
        .steps = statistics.steps,
        .attempts_failed = statistics.attempts_failed,
        .commits = statistics.commits,
        .conflicts = statistics.conflicts,
        .claims = statistics.claims,
        .tasks_claimed = statistics.tasks_claimed,
        .leases_lost = statistics.leases_lost,
        .store_errors = statistics.store_errors,
        .mail_received = statistics.mail_received,
        .mail_refused = statistics.mail_refused,
        .mail_dropped = statistics.mail_dropped,
        .in_flight = statistics.in_flight,
        .stuck_handlers = statistics.stuck_handlers,
    };
}

const std::string& Engine::worker_id() const {
    return core_->environment.options.worker_id;
}

bool Engine::is_displaced() const {
    return core_->environment.worker.is_displaced;
}

void Engine::add_observer(std::shared_ptr<Observer> observer) {
    core_->environment.observers.add(std::move(observer));
}

}  // namespace ebb
