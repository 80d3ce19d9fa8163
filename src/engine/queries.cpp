// Questions about workflows and instances.

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/kernel/rules_evolution.h"
#include "engine/core.h"
#include "engine/trace.h"

namespace ebb {

namespace {

constexpr int kPageEvents = 1'000;
constexpr int kConsistentReadTries = 3;

}  // namespace

std::shared_ptr<const Program> Engine::Core::program(
    std::string_view workflow, std::optional<int> version
) {
    const std::string name(workflow);
    auto found = version ? programs.find(name, *version) : programs.find_newest(name);
    if (found) return found;
    throw Error(
        ErrorCode::WorkflowNotFound,
        version ? fmt::format("There is no version {} of the workflow \"{}\".", *version, workflow)
                : fmt::format("There is no workflow \"{}\"; register it first.", workflow)
    );
}

InstanceRow Engine::Core::load(const InstanceId& id) {
    auto row = environment.store.load(id);
    if (row) return std::move(*row);
    throw Error(
        ErrorCode::InstanceNotFound, fmt::format("There is no instance {}.", id.to_string())
    );
}

std::vector<HistoryEvent> Engine::Core::history(const InstanceId& id, Seq after, int limit) {
    return environment.store.history({
        .instance = id,
        .after = after,
        .before = 0,
        .limit = limit,
        .order = HistoryQuery::Order::Forward,
        .types = {},
        .node = {},
    });
}

/// What a view is made of, read one after another but of one revision.
struct Engine::Core::Snapshot {
    InstanceRow row;
    std::shared_ptr<const Program> program;
    InstanceState state;
    std::vector<HistoryEvent> history;
    std::vector<TaskRow> tasks;
    std::vector<WorkerRow> workers;
    std::vector<std::pair<TokenId, QueueUse>> queues;
    TimePoint now{};

    engine::Facts facts(const engine::ShownPayload& shown) const {
        return {
            .program = *program,
            .row = row,
            .state = state,
            .history = history,
            .tasks = tasks,
            .workers = workers,
            .queues = queues,
            .now = now,
            .shown = shown
        };
    }
};

Engine::Core::Snapshot Engine::Core::read_snapshot(const InstanceId& id) {
    Snapshot snapshot;
    snapshot.row = load(id);
    // An instance that hops meanwhile is read again; one that hops all the time is shown as it
    // comes.
    for (int tries = 1;; ++tries) {
        snapshot.now = environment.now();
        snapshot.tasks = environment.store.tasks(id);
        snapshot.history.clear();
        while (true) {
            const Seq after = snapshot.history.empty() ? 0 : snapshot.history.back().seq;
            auto page = history(id, after, kPageEvents);
            const bool is_last = static_cast<int>(page.size()) < kPageEvents;
            std::move(page.begin(), page.end(), std::back_inserter(snapshot.history));
            if (is_last) break;
        }
        InstanceRow after = load(id);
        const bool is_consistent = after.revision == snapshot.row.revision;
        snapshot.row = std::move(after);
        if (is_consistent || tries >= kConsistentReadTries) break;
    }
    // They are asked for only because of tasks.
    if (!snapshot.tasks.empty()) snapshot.workers = environment.store.workers();
    const engine::LivePtr live = engine::make_live(snapshot.row, programs);
    snapshot.program = live->program;
    snapshot.state = std::move(live->state);
    for (const TaskRow& task : snapshot.tasks) {
        const bool may_wait = !task.handler.empty() && task.lease_owner.empty() &&
                              !task.is_parked && task.due <= snapshot.now;
        if (!may_wait) continue;
        for (QueueUse& use : environment.store.queues(
                 {.name = task.queue, .concurrency_key = task.concurrency_key, .counts_tasks = false
                 }
             )) {
            snapshot.queues.emplace_back(task.task.token, std::move(use));
        }
    }
    return snapshot;
}

InstanceView Engine::Core::show(const InstanceId& id, const engine::ShownPayload& shown) {
    const Snapshot snapshot = read_snapshot(id);
    const engine::Facts facts = snapshot.facts(shown);
    const InstanceState& state = snapshot.state;
    InstanceView view;
    view.summary = engine::to_summary(snapshot.row);
    view.input = engine::find_payload(facts, 1);
    if (state.rules) view.attributes = snapshot.program->rules()->state_text(*state.rules);
    if (state.status == InstanceStatus::Completed) {
        view.output = engine::find_payload(facts, state.result);
    }
    if (const HistoryEvent* error = engine::find_event(facts, state.error)) {
        view.error = error_of(*error);
    }
    view.steps = engine::steps_of(facts);
    view.waiting_for = engine::waiting_for(facts);
    return view;
}

std::shared_ptr<const Program> Engine::Core::first_version(
    const InstanceRow& row, const std::shared_ptr<const Program>& present
) {
    const auto migrated = environment.store.history(
        {.instance = row.id, .limit = 1, .types = {HistoryType::Migrated}, .node = {}}
    );
    if (migrated.empty()) return present;
    const Json payload = Json::parse(migrated.front().payload, nullptr, false);
    const int version = payload.is_object() ? payload.value("from", row.version) : row.version;
    const auto first = programs.find(row.workflow, version);
    return first != nullptr && first->rules() != nullptr ? first : present;
}

std::vector<TraceEntry> Engine::Core::trace(const InstanceId& id, Seq after, int limit) {
    const InstanceRow row = load(id);
    const std::shared_ptr<const Program> of = program(row.workflow, row.version);
    if (of->rules() == nullptr) {
        throw Error(
            ErrorCode::InvalidState,
            fmt::format(
                "The workflow \"{}\" has no rules: only instances of a workflow with rules have a "
                "trace.",
                row.workflow
            )
        );
    }
    engine::Tracer tracer(first_version(row, of), [&](int version) {
        return programs.find(row.workflow, version);
    });
    const auto wanted = [&] {
        const auto& all = tracer.entries();
        return std::ranges::find_if(all, [&](const TraceEntry& entry) {
            return entry.seq > after;
        });
    };
    for (Seq read = 0;;) {
        const auto page = history(id, read, kPageEvents);
        for (const HistoryEvent& event : page) tracer.add(event);
        const bool is_last = static_cast<int>(page.size()) < kPageEvents;
        // One more than is wanted: an exception comes after the write that led to it.
        if (is_last || tracer.entries().end() - wanted() > limit) break;
        read = page.back().seq;
    }
    const auto first = wanted();
    const auto count = std::min<std::ptrdiff_t>(tracer.entries().end() - first, limit);
    return {first, first + count};
}

/// A newer version that an instance with rules has not followed to yet; empty if there is none.
std::string Engine::Core::describe_evolution(const Snapshot& snapshot) {
    const InstanceRow& row = snapshot.row;
    if (!is_followed(*snapshot.program) || is_terminal(row.status)) return {};
    const std::shared_ptr<const Program> newest = programs.find_newest(row.workflow);
    if (!newest || newest->definition().version <= row.version) return {};
    const int version = newest->definition().version;
    const RulesMigration migration =
        migrate(*snapshot.program, *newest, snapshot.state, snapshot.now);
    if (migration.obstacle.empty()) {
        return fmt::format(
            " It runs version {}, and continues on version {} with its next change.",
            row.version,
            version
        );
    }
    return fmt::format(
        " It stays on version {} of its rules for now, although there is version {}: {}",
        row.version,
        version,
        migration.obstacle
    );
}

std::string Engine::Core::why(const InstanceId& id, const engine::ShownPayload& shown) {
    try {
        const Snapshot snapshot = read_snapshot(id);
        return engine::why(snapshot.facts(shown)) + describe_evolution(snapshot);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::CorruptState) throw;
        return fmt::format(
            "The instance was set aside: {} Ebb looks at it again every five minutes, in case it "
            "was repaired or a newer program understands it.",
            error.what()
        );
    }
}

}  // namespace ebb
