#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <ebb/error.h>
#include <ebb/observer.h>

#include "support/clock.h"
#include "support/closest.h"
#include "testing/world_state.h"

namespace ebb::testing {

namespace {

/// A workflow that wakes up so often without an end would keep the test busy for good.
constexpr int kWakesMax = 100'000;

class Scribe final : public Observer {
 public:
    Scribe(detail::CallLog& calls, const Clock& clock) : calls_(calls), clock_(clock) {}

    void after_step(const StepContext& step, const CallEnd& end) override {
        calls_.add({
            .instance = step.instance,
            .step = step.step,
            .is_compensation = step.compensates.has_value(),
            // A call that ends after its timeout has failed, whatever it returns.
            .has_failed = (!end.is_completed && !end.is_paused) || clock_.now() >= step.deadline,
        });
        if (end.is_completed) calls_.add_effect(step);
    }

 private:
    detail::CallLog& calls_;
    const Clock& clock_;
};

/// The handlers by what calls them: the step, and `~STEP` for its compensation.
using Handlers = std::map<std::string, std::string>;

void collect(const Block& block, Handlers& handlers);

struct Collector {
    Handlers& handlers;

    void operator()(const Condition& node) const {
        collect(node.then, handlers);
        collect(node.otherwise, handlers);
    }

    void operator()(const Switch& node) const {
        for (const Switch::Case& each : node.cases) collect(each.steps, handlers);
        collect(node.otherwise, handlers);
    }

    void operator()(const Parallel& node) const {
        for (const Parallel::Branch& branch : node.branches) collect(branch.steps, handlers);
    }

    void operator()(const Loop& node) const { collect(node.steps, handlers); }

    void operator()(const HumanDecision& node) const {
        if (node.on_reject) collect(*node.on_reject, handlers);
    }

    void operator()(const NodeGraph& node) const { collect(node.nodes, handlers); }

    void operator()(const Sequence& node) const { collect(node.steps, handlers); }

    template <typename Other>
    void operator()(const Other&) const {}
};

void collect(const Block& block, Handlers& handlers) {
    for (const Node& node : block) {
        if (const auto* step = std::get_if<Step>(&node.kind)) {
            handlers[node.name] = step->handler.empty() ? node.name : step->handler;
            if (step->compensate) handlers["~" + node.name] = step->compensate->handler;
        } else {
            std::visit(Collector{handlers}, node.kind);
        }
    }
}

}  // namespace

namespace detail {

WorldState::WorldState(WorldOptions its_options)
    : options(std::move(its_options)),
      clock(options.start),
      store(options.open_store ? options.open_store(clock) : open_memory_store({.clock = &clock})) {
}

void WorldState::add_handler(const std::string& name) {
    if (registry->find(name) != nullptr) return;
    const auto known = scripts.try_emplace(name, std::make_shared<ScriptState>()).first;
    known->second->clock = &clock;
    known->second->die = [this] { process->die(); };
    const Handler* handler = real.find(name);
    if (handler == nullptr && options.is_strict && known->second->is_empty()) {
        throw Error(
            ErrorCode::HandlerNotFound,
            fmt::format(
                "The handler \"{}\" is neither added to the world's handlers nor scripted.", name
            )
        );
    }
    const auto find_script = [this, name]() -> ScriptState& { return *scripts.at(name); };
    const Handler otherwise =
        handler != nullptr
            ? *handler
            : Handler([](const Payload& input, const StepContext&) { return input; });
    const AsyncHandler* async = real.find_async(name);
    if (async != nullptr && known->second->is_empty()) {
        registry->add_async_raw(
            name,
            [this, handler = *async](const Payload& input, const auto& completion) {
                std::erase_if(open_calls, [](const auto& call) { return call.expired(); });
                open_calls.push_back(completion);
                begin(handler, input, completion);
            }
        );
        return;
    }
    Handler scripted = [this,
                        find_script,
                        otherwise](const Payload& input, const StepContext& context) {
        return call(
            [&](const Payload&, const StepContext&) {
                ScriptState& script = find_script();
                return script.is_empty() ? otherwise(input, context) : script.call(input, context);
            },
            input,
            context
        );
    };
    if (real.is_transactional(name)) {
        registry->add_transactional_raw(name, std::move(scripted));
    } else {
        registry->add_raw(name, std::move(scripted));
    }
}

void WorldState::add_handlers_of(const Definition& definition) {
    Handlers handlers;
    collect(definition.steps, handlers);
    for (const auto& [step, handler] : handlers) add_handler(handler);
}

WorldState::~WorldState() {
    drop_engine();
}

Engine& WorldState::need_engine() {
    if (!engine) survive([this] { make_engine(); });
    return *engine;
}

void WorldState::make_engine() {
    drop_engine();
    process = std::make_unique<ProcessStore>(*store, plan);
    registry = std::make_unique<HandlerRegistry>();
    for (const std::string& name : real.names()) add_handler(name);
    for (const Definition& definition : workflows) add_handlers_of(definition);
    EngineOptions engine_options;
    engine_options.worker_id = worker_id;
    engine_options.threads = 1;
    engine_options.log = options.log;
    engine_options.observers = {std::make_shared<Scribe>(calls, clock)};
    engine = std::make_unique<Engine>(*process, *registry, engine_options);
    for (const Definition& definition : workflows) engine->register_workflow(definition);
}

void WorldState::drop_engine() {
    // A process that ends does not wait for what its calls are waiting for. Their leases stay, as
    // after a crash, and its successor has the same name.
    const auto gone = std::make_exception_ptr(std::runtime_error("The process has ended."));
    for (const auto& call : std::exchange(open_calls, {})) {
        const auto completion = call.lock();
        if (!completion) continue;
        process->die();
        ebb::detail::settle(*completion, gone);
    }
    engine.reset();
    process.reset();
    registry.reset();
}

void WorldState::take_over() {
    drop_engine();
    ++deaths;
    if (plan.kind == CrashPlan::Kind::ComesBack) return;
    const std::string dead = std::exchange(worker_id, fmt::format("test-{}", deaths + 1));
    for (const WorkerRow& worker : store->workers()) {
        // A heartbeat for no time: its leases run out now, although no time passes.
        if (worker.id == dead) store->heartbeat(worker, Duration::zero());
    }
    store->maintain();
}

bool WorldState::has_open_call() const {
    return std::any_of(open_calls.begin(), open_calls.end(), [](const auto& call) {
        return !call.expired();
    });
}

int WorldState::poll() {
    return survive([this] { return need_engine().poll(); });
}

std::string WorldState::handler_of_step(const std::string& step) const {
    Handlers handlers;
    for (const Definition& definition : workflows) collect(definition.steps, handlers);
    const auto found = handlers.find(step);
    return found == handlers.end() ? std::string() : found->second;
}

/// A script that nothing calls is a misspelled name: the test would pass without it.
void WorldState::check_scripts() {
    need_engine();
    const std::vector<std::string> names = registry->names();
    const std::vector<std::string_view> known(names.begin(), names.end());
    for (const auto& [name, script] : scripts) {
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        const std::string_view meant = closest(name, known);
        std::string hint;
        if (const std::string handler = handler_of_step(name); !handler.empty()) {
            hint = fmt::format(" The step \"{}\" calls the handler \"{}\".", name, handler);
        } else if (!meant.empty()) {
            hint = fmt::format(" Did you mean \"{}\"?", meant);
        }
        throw Error(
            ErrorCode::HandlerNotFound,
            fmt::format(
                "The handler \"{}\" is scripted, but no workflow of this world calls it.{}",
                name,
                hint
            )
        );
    }
}

InstanceId WorldState::start(std::string_view workflow, const Payload& input, StartOptions how) {
    check_scripts();
    if (makes_keys && how.key.empty()) how.key = fmt::format("start-{}", started.size());
    const InstanceId id = survive([&] { return need_engine().start(workflow, input, how).id; });
    instances.push_back(id);
    started.push_back(id);
    return id;
}

void WorldState::advance_to(TimePoint end) {
    for (int wakes = 0; wakes < kWakesMax; ++wakes) {
        poll();
        const TimePoint due = need_engine().next_due();
        if (due > end) break;
        if (due > clock.now()) clock.set(due);
    }
    if (end > clock.now()) clock.set(end);
    poll();
}

TimePoint WorldState::next_wake() {
    TimePoint next = kNever;
    std::erase_if(instances, [this](const InstanceId& id) {
        const auto summary = need_engine().find(id);
        return !summary || is_terminal(summary->status);
    });
    for (const InstanceId& id : instances) {
        for (const WaitingFor& wait : need_engine().show(id).waiting_for) {
            if (wait.kind == "retry" || wait.kind == "timer") next = std::min(next, wait.until);
        }
    }
    return next;
}

void WorldState::run_until_idle() {
    for (int wakes = 0; wakes < kWakesMax; ++wakes) {
        poll();
        const TimePoint next = next_wake();
        if (next == kNever) return;
        advance_to(std::max(next, clock.now()));
    }
    throw ExpectationFailed(fmt::format(
        "The world does not come to rest: it has woken up {} times. Use advance() for a workflow "
        "that repeats itself without an end.",
        kWakesMax
    ));
}

}  // namespace detail

World::World(WorldOptions options)
    : state_(std::make_shared<detail::WorldState>(std::move(options))) {}

World::World(const Definition& workflow, WorldOptions options) : World(std::move(options)) {
    add(workflow);
}

World::~World() = default;

HandlerRegistry& World::handlers() {
    state_->drop_engine();
    return state_->real;
}

Script World::on(std::string handler) {
    auto& script = state_->scripts[handler];
    const bool is_known = script != nullptr && state_->real.find_async(handler) == nullptr;
    script = std::make_shared<detail::ScriptState>();
    script->clock = &state_->clock;
    script->die = [state = state_.get()] { state->process->die(); };
    if (!is_known) state_->drop_engine();
    return Script(script);
}

void World::add(const Definition& workflow) {
    state_->drop_engine();
    state_->workflows.push_back(workflow);
}

Instance World::start(
    std::string_view workflow, const Payload& input, const StartOptions& options
) {
    const InstanceId id = state_->start(workflow, input, options);
    poll();
    return {state_, id};
}

int World::poll() {
    return state_->poll();
}

void World::run_until_idle() {
    state_->run_until_idle();
}

void World::advance(Duration duration) {
    if (duration < Duration::zero()) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "World::advance lets time pass, so it takes no negative duration: {}.",
                format_duration(duration)
            )
        );
    }
    state_->advance_to(now() + duration);
}

TimePoint World::now() const {
    return state_->clock.now();
}

std::vector<Effect> World::effects() const {
    return state_->calls.effects();
}

void World::restart() {
    state_->drop_engine();
}

Engine& World::engine() {
    return state_->need_engine();
}

Store& World::store() {
    return *state_->store;
}

ManualClock& World::clock() {
    return state_->clock;
}

}  // namespace ebb::testing
