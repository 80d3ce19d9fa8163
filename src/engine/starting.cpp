// New workflows and new instances.

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "call/refusal.h"
#include "engine/checks.h"
#include "engine/core.h"
#include "engine/history_reader.h"
#include "engine/system_workflows.h"
#include "support/uuid.h"

namespace ebb {

namespace engine {

/// An instance that is about to be put into the store.
struct Beginning {
    engine::LivePtr live;
    NewInstance row;
    std::vector<TokenId> kept;
};

}  // namespace engine

namespace {

using engine::Beginning;

constexpr std::size_t kStartBatchMax = 10'000;
constexpr std::size_t kStartBytesMax = std::size_t{64} << 20;
constexpr std::size_t kKeyBytesMax = 256;
constexpr std::size_t kByBytesMax = 256;
constexpr int kPriorityMax = 100;
/// A start whose answer was lost is repeated this often: with the same ids that is safe.
constexpr int kInDoubtTries = 3;

void check_options(const StartOptions& options, std::size_t count) {
    if (options.priority && std::abs(*options.priority) > kPriorityMax) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "The priority {} is not allowed; it goes from -{} to {}.",
                *options.priority,
                kPriorityMax,
                kPriorityMax
            )
        );
    }
    if (options.key.size() > kKeyBytesMax) {
        throw Error(
            ErrorCode::LimitExceeded, fmt::format("A start key has at most {} bytes.", kKeyBytesMax)
        );
    }
    check_labels(options.labels);
    if (!options.key.empty() && count > 1) {
        throw Error(
            ErrorCode::InvalidArgument,
            "One key names one instance: several instances cannot be started with it."
        );
    }
    if (count > kStartBatchMax) {
        throw Error(
            ErrorCode::LimitExceeded,
            fmt::format("At most {} instances are started at once.", kStartBatchMax)
        );
    }
}

void check_input(const Program& program, const Payload& input) {
    const std::vector<std::string> violations = program.input_violations(input);
    if (violations.empty()) return;
    throw Error(
        ErrorCode::InvalidPayload,
        fmt::format(
            "The input of workflow \"{}\" does not conform to its input_schema:\n  {}",
            program.definition().name,
            fmt::join(violations, "\n  ")
        )
    );
}

void check_inputs(
    const Program& program, std::span<const Payload> inputs, const PayloadLimits& limits
) {
    std::size_t bytes = 0;
    for (const Payload& input : inputs) {
        check_payload(
            input, fmt::format("The input of workflow \"{}\"", program.definition().name), limits
        );
        check_input(program, input);
        bytes += input.size();
    }
    if (bytes > kStartBytesMax) {
        throw Error(
            ErrorCode::LimitExceeded,
            fmt::format(
                "The inputs of instances that are started at once have at most {} bytes together;"
                " these have {}.",
                kStartBytesMax,
                bytes
            )
        );
    }
}

void ask_interceptors(
    const engine::Environment& environment,
    const Program& program,
    const Payload& input,
    const StartOptions& options
) {
    if (!environment.observers.has_interceptors()) return;
    const Definition& definition = program.definition();
    environment.observers.check_start(
        {.workflow = definition.name,
         .version = definition.version,
         .key = options.key,
         .input = input,
         .by = options.by}
    );
}

Beginning begin(
    engine::Environment& environment,
    const std::shared_ptr<const Program>& program,
    const Payload& input,
    const StartOptions& options,
    const std::optional<InstanceId>& id = {}
) {
    if (!environment.worker.is_driven) {
        environment.subscribers.look(environment.store, environment.steady_now());
    }
    const TimePoint now = environment.now();
    const Definition& definition = program->definition();
    Beginning beginning;
    beginning.live = std::make_shared<engine::LiveInstance>();
    engine::LiveInstance& live = *beginning.live;
    live.program = program;
    live.row = {
        .id = id ? *id : make_instance_id(environment.clock, now),
        .workflow = definition.name,
        .version = definition.version,
        .key = options.key,
        .state = {},
        .priority = options.priority.value_or(definition.priority),
        .created_at = now,
        .updated_at = now,
    };
    const std::vector<HistoryEvent> nothing;
    Decision decision = decide(
        *program,
        live.identity(),
        InstanceState{},
        event::Started{
            .input = input, .by = clean_text(options.by, kByBytesMax), .labels = options.labels
        },
        engine::HistoryReader(environment.store, live, nothing),
        now
    );
    if (decision.verdict == Decision::Verdict::Refused) throw_refusal(decision.refusal);
    live.state = std::move(decision.state);
    engine::check_state(live.state, *program);
    live.row.status = live.state.status;
    if (is_terminal(live.row.status)) live.row.finished_at = now;
    live.recent.append(decision.history, *program);
    beginning.row.row = live.row;
    beginning.row.row.state = encode_state(live.state, *program);
    beginning.row.history = std::move(decision.history);
    beginning.row.tasks = std::move(decision.tasks);
    beginning.row.effects = std::move(decision.effects);
    environment.subscribers.add_notices(
        live.row, live.row.status, beginning.row.history, beginning.row.effects
    );
    std::erase_if(beginning.row.tasks, [](const TaskChange& change) {
        return change.kind != TaskChange::Kind::Put;
    });
    return beginning;
}

/// Leases the first tasks to this worker if it can run them immediately.
void keep_tasks(Beginning& beginning, const engine::Environment& environment, int& capacity) {
    const bool may_hold = environment.worker.may_hold(environment.steady_now());
    for (TaskChange& task : beginning.row.tasks) {
        task.is_continued =
            task.is_continued && may_hold && capacity > 0 &&
            environment.may_keep(*beginning.live->program, task.handler, task.queue);
        if (!task.is_continued) continue;
        --capacity;
        beginning.kept.push_back(task.token);
    }
    if (!beginning.kept.empty()) beginning.row.lease_owner = environment.options.worker_id;
}

std::vector<StartResult> start_surely(Store& store, std::span<const NewInstance> rows) {
    for (int tries = 1;; ++tries) {
        try {
            return store.start(rows);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::StoreInDoubt || tries >= kInDoubtTries) throw;
        }
    }
}

/// Of a key that existed: does its instance do what this call asked for? Only this case reads.
void compare_existing(Store& store, StartedInstance& started, const NewInstance& wanted) {
    const auto row = store.load(started.id);
    const auto begin = store.history({.instance = started.id, .limit = 1});
    if (!row || begin.empty() || wanted.history.empty()) return;
    started.has_same_version = row->version == wanted.row.version;
    const Payload& input = begin.front().payload;
    const Payload& other = wanted.history.front().payload;
    started.has_same_input =
        input == other || Json::parse(input, nullptr, false) == Json::parse(other, nullptr, false);
}

}  // namespace

Registration Engine::Core::register_workflow(const Definition& definition) {
    auto program = Program::compile(definition);
    engine::refuse_reserved_names(*program);
    environment.store.register_workflow({
        .name = definition.name,
        .version = definition.version,
        .definition = to_text(definition_to_json(definition)),
        .checksum = definition_checksum(definition),
        .created_at = environment.now(),
    });
    Registration registration{.unserved_handlers = unserved_by_anyone(*program)};
    programs.remember(std::move(program));
    if (!registration.unserved_handlers.empty()) {
        environment.log.warning(
            "workflow_unserved",
            {{"workflow", definition.name},
             {"version", definition.version},
             {"handlers", fmt::format("{}", fmt::join(registration.unserved_handlers, " "))}}
        );
    }
    return registration;
}

StartedInstance Engine::Core::start_in(
    const Transaction& transaction,
    std::string_view workflow,
    const Payload& input,
    const StartOptions& options
) {
    check_options(options, 1);
    engine::refuse_system_workflow(workflow);
    const std::shared_ptr<const Program> compiled = program(workflow, options.version);
    check_inputs(*compiled, {&input, 1}, environment.limits());
    ask_interceptors(environment, *compiled, input, options);
    // Nothing of it is known here: whether it will ever exist is not ours to decide.
    const Beginning beginning = begin(environment, compiled, input, options);
    const StartResult result = environment.store.start_in(transaction, beginning.row);
    return {.id = result.id, .is_new = result.kind == StartResult::Kind::Created};
}

std::vector<StartedInstance> Engine::Core::start_all(
    std::string_view workflow,
    std::span<const Payload> inputs,
    const StartOptions& options,
    std::span<const std::string> keys
) {
    check_options(options, inputs.size());
    engine::refuse_system_workflow(workflow);
    const std::shared_ptr<const Program> compiled = program(workflow, options.version);
    check_inputs(*compiled, inputs, environment.limits());
    std::vector<Beginning> beginnings;
    beginnings.reserve(inputs.size());
    StartOptions own = options;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!keys.empty()) own.key = keys[i];
        ask_interceptors(environment, *compiled, inputs[i], own);
        beginnings.push_back(begin(environment, compiled, inputs[i], own));
    }
    return launch(std::move(beginnings));
}

StartedInstance Engine::Core::start_system(
    std::string_view workflow,
    const Payload& input,
    const StartOptions& options,
    const std::optional<InstanceId>& id
) {
    check_options(options, 1);
    const std::shared_ptr<const Program> compiled = program(workflow, std::nullopt);
    check_inputs(*compiled, {&input, 1}, environment.limits());
    std::vector<Beginning> beginnings;
    beginnings.push_back(begin(environment, compiled, input, options, id));
    return launch(std::move(beginnings)).front();
}

void Engine::Core::start_deliveries(std::span<const OutboxRow> rows) {
    const auto known = program(engine::kWebhookWorkflow, std::nullopt);
    std::vector<Beginning> beginnings;
    beginnings.reserve(rows.size());
    for (const OutboxRow& row : rows) {
        const StartOptions options{.key = engine::delivery_key(row)};
        beginnings.push_back(begin(environment, known, engine::delivery_input(row), options));
    }
    launch(std::move(beginnings));
}

std::vector<StartedInstance> Engine::Core::launch(std::vector<Beginning> beginnings) {
    const engine::Committer::Acquiring acquiring(committer);
    int capacity = committer.free_capacity();
    std::vector<NewInstance> rows;
    rows.reserve(beginnings.size());
    for (Beginning& beginning : beginnings) {
        keep_tasks(beginning, environment, capacity);
        rows.push_back(std::move(beginning.row));
    }
    const std::vector<StartResult> results = start_surely(environment.store, rows);
    std::vector<StartedInstance> started;
    bool is_left_to_claim = false;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const bool is_new = results[i].kind == StartResult::Kind::Created;
        started.push_back({.id = results[i].id, .is_new = is_new});
        if (!is_new) {
            compare_existing(environment.store, started.back(), rows[i]);
            continue;
        }
        ++environment.statistics.started;
        environment.subscribers.note_written(rows[i].effects);
        for (const TaskChange& task : rows[i].tasks) {
            if (task.is_continued) continue;
            // What only others can run is theirs to claim.
            is_left_to_claim = is_left_to_claim || task.handler == kEngineHandler ||
                               environment.can_run(task.handler, task.queue);
            hints.note_work(task.handler, task.queue, task.due);
        }
        const bool is_of_interest = !beginnings[i].kept.empty() || committer.has_observer() ||
                                    is_terminal(beginnings[i].live->state.status);
        if (!is_of_interest) continue;
        if (!beginnings[i].kept.empty()) waiters.expect(results[i].id);
        committer.post(engine::item::Begun{
            .live = std::move(beginnings[i].live), .held = std::move(beginnings[i].kept)
        });
    }
    committer.combine(engine::Committer::Role::Guest);
    if (is_left_to_claim) signals.ring();
    tell_others();
    return started;
}

}  // namespace ebb
