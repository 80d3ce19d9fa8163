#include <utility>

#include <fmt/format.h>

#include <ebb/engine.h>

#include "call/request.h"
#include "engine/core.h"

namespace ebb {

namespace {

constexpr int kPageMax = 1'000;

int check_limit(int limit) {
    if (limit < 1 || limit > kPageMax) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("The limit {} is not allowed; it goes from 1 to {}.", limit, kPageMax)
        );
    }
    return limit;
}

InstanceStatus check_status(const std::string& text) {
    const auto status = parse_status(text);
    if (status) return *status;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "\"{}\" is no status; there are running, paused, compensating, dead_letter, moved, "
            "completed, failed, cancelled and aborted.",
            clean_name(text)
        )
    );
}

}  // namespace

Engine::Engine(Store& store, const HandlerRegistry& handlers, EngineOptions options)
    : core_(std::make_unique<Core>(store, handlers, std::move(options))) {}

Engine::~Engine() = default;

void Engine::register_workflow(const Definition& definition) {
    core_->register_workflow(definition);
}

StartedInstance Engine::start(
    std::string_view workflow, Payload input, const StartOptions& options
) {
    return core_->start_all(workflow, {&input, 1}, options).front();
}

StartedInstance Engine::start_in(
    const Transaction& transaction,
    std::string_view workflow,
    Payload input,
    const StartOptions& options
) {
    return core_->start_in(transaction, workflow, input, options);
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
    InstanceQuery query{
        .statuses = {},
        .workflow = options.workflow,
        .version = options.version,
        .key = options.key,
        .before = options.before,
        .limit = check_limit(options.limit),
    };
    for (const std::string& status : options.statuses) {
        query.statuses.push_back(check_status(status));
    }
    std::vector<InstanceSummary> summaries;
    for (const InstanceRow& row : core_->environment.store.list(query)) {
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

void Engine::decide(const InstanceId& id, const PersonalDecision& decision) {
    core_->request(id, make_decision(decision));
}

void Engine::signal(
    const InstanceId& id, std::string_view name, Payload payload, std::string_view request_id
) {
    core_->request(
        id, make_signal(name, std::move(payload), request_id, core_->environment.limits())
    );
}

void Engine::cancel(const InstanceId& id, std::string_view by, std::string_view reason) {
    core_->request_stop(id, make_cancel(by, reason));
}

void Engine::abort(const InstanceId& id, std::string_view by, std::string_view reason) {
    core_->request_stop(id, make_abort(by, reason));
}

void Engine::pause(const InstanceId& id, std::string_view by, std::string_view reason) {
    core_->request(id, make_pause(by, reason));
}

bool Engine::resume(const InstanceId& id, std::string_view by) {
    return core_->request(id, make_resume(by)).verdict == Decision::Verdict::Changed;
}

bool Engine::requeue(const InstanceId& id, const RequeueOptions& options) {
    const Event event = make_requeue(options, core_->environment.limits());
    return core_->request(id, event).verdict == Decision::Verdict::Changed;
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

void Engine::set_observer(Observer observer) {
    core_->committer.set_observer(std::move(observer));
}

void Engine::add_observer(std::shared_ptr<ebb::Observer> observer) {
    core_->environment.observers.add(std::move(observer));
}

}  // namespace ebb
