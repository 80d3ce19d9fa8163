#include "view/outline.h"

#include <algorithm>

#include "call/event_view.h"
#include "store/stored_definition.h"
#include "support/json.h"
#include "view/instance_json.h"

namespace ebb::view {

namespace {

bool is_ready(const Token& token) {
    return token.status == TokenStatus::Ready || token.status == TokenStatus::Retrying;
}

bool is_retry(const Token& token) {
    return token.status == TokenStatus::Retrying;
}

}  // namespace

bool Outline::is_waiting() const {
    bool waits = false;
    for (const WaitingFor& wait : waiting_for) {
        if (wait.kind == "handler") return false;
        waits = waits || wait.kind != "branches";
    }
    return waits;
}

Outliner::Outliner(Store& store, TimePoint now, engine::ShownPayload shown)
    : store_(store), now_(now), shown_(std::move(shown)), workers_(store.workers()) {}

std::shared_ptr<const Program> Outliner::program_of(const InstanceRow& row) {
    auto& program = programs_[{row.workflow, row.version}];
    if (program == nullptr) {
        const auto found = store_.find_workflow(row.workflow, row.version);
        if (!found) {
            throw Error(
                ErrorCode::CorruptState, "The database does not have the instance's workflow."
            );
        }
        program = stored_program(*found);
    }
    return program;
}

/// Only those that the sentences need: why it failed, the last failed attempts, who paused it.
std::vector<HistoryEvent> Outliner::events_for(const InstanceRow& row, const InstanceState& state) {
    constexpr int kRetriesMax = 16;
    std::vector<HistoryEvent> events;
    const auto read = [&](const HistoryQuery& query) {
        for (HistoryEvent& event : store_.history(query)) events.push_back(std::move(event));
    };
    HistoryQuery query{
        .instance = row.id,
        .limit = 1,
        .order = HistoryQuery::Order::Backward,
        .types = {},
        .node = {},
    };
    if (state.error != 0) {
        query.after = state.error - 1;
        query.before = state.error + 1;
        read(query);
        query.after = query.before = 0;
    }
    if (std::any_of(state.tokens.begin(), state.tokens.end(), is_retry)) {
        query.types = {HistoryType::StepRetried, HistoryType::CompensationRetried};
        query.limit = kRetriesMax;
        read(query);
    }
    if (state.status == InstanceStatus::Paused) {
        query.types = {HistoryType::Paused};
        query.limit = 1;
        read(query);
    }
    std::sort(events.begin(), events.end(), [](const auto& left, const auto& right) {
        return left.seq < right.seq;
    });
    return events;
}

void Outliner::add_queues(
    const std::vector<TaskRow>& tasks, std::vector<std::pair<TokenId, QueueUse>>& queues
) {
    for (const TaskRow& task : tasks) {
        const bool may_wait = !task.handler.empty() && task.lease_owner.empty() &&
                              !task.is_parked && task.due <= now_;
        if (!may_wait) continue;
        const QueueQuery query{
            .name = task.queue, .concurrency_key = task.concurrency_key, .counts_tasks = false
        };
        for (QueueUse& use : store_.queues(query)) {
            queues.emplace_back(task.task.token, std::move(use));
        }
    }
}

void Outliner::read_live(const InstanceRow& row, Outline& outline) {
    const auto program = program_of(row);
    const InstanceState state = decode_state(row.state, *program);
    const std::vector<HistoryEvent> events = events_for(row, state);
    std::vector<TaskRow> tasks;
    std::vector<std::pair<TokenId, QueueUse>> queues;
    if (std::any_of(state.tokens.begin(), state.tokens.end(), is_ready)) {
        tasks = store_.tasks(row.id);
        add_queues(tasks, queues);
    }
    const engine::Facts facts{*program, row, state, events, tasks, workers_, queues, now_, shown_};
    outline.waiting_for = engine::waiting_for(facts);
    if (const HistoryEvent* error = engine::find_event(facts, state.error)) {
        outline.error = error_of(*error);
    }
    for (const Token& token : state.tokens) {
        const ProgramNode& node = program->node(token.node);
        const bool undoes = token.compensates != 0 && node.compensate.has_value();
        const std::string& handler = undoes ? node.compensate->handler : node.handler;
        if (!handler.empty()) outline.handlers.push_back(handler);
    }
}

std::vector<std::string> Outliner::nodes(const InstanceRow& row) {
    std::vector<std::string> names;
    try {
        const auto program = program_of(row);
        for (const Token& token : decode_state(row.state, *program).tokens) {
            names.push_back(program->node(token.node).name);
        }
    } catch (const Error& error) {
        if (error.code() != ErrorCode::CorruptState) throw;
    }
    return names;
}

Outline Outliner::read(const InstanceRow& row) {
    Outline outline;
    outline.summary = engine::to_summary(row);
    // It holds nothing and did not fail: nothing to be read.
    if (row.status == InstanceStatus::Completed) return outline;
    try {
        read_live(row, outline);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::CorruptState) throw;
        outline.waiting_for = {{
            .kind = "operator",
            .node = {},
            .what = "repair",
            .sentence = error.what(),
        }};
    }
    return outline;
}

Json outline_json(const Outline& outline) {
    Json json = summary_json(outline.summary);
    json["error"] = payload_json(outline.error);
    json["waiting_for"] = Json::array();
    for (const WaitingFor& wait : outline.waiting_for) {
        json["waiting_for"].push_back(waiting_json(wait));
    }
    return json;
}

}  // namespace ebb::view
