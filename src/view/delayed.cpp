#include "view/delayed.h"

#include <algorithm>
#include <utility>

#include "engine/view.h"
#include "store/stored_definition.h"
#include "support/json.h"

namespace ebb::view {

namespace {

constexpr int kPage = 500;

const std::vector<InstanceStatus>& moving_statuses() {
    static const std::vector<InstanceStatus> statuses{
        InstanceStatus::Running, InstanceStatus::Compensating
    };
    return statuses;
}

/// Whether a worker has the next word on some token: not a person, a timer or a signal.
bool may_have_due_tasks(const std::string& state) {
    const Json json = Json::parse(state, nullptr, false);
    if (!json.is_object() || !json.contains("tokens")) return false;
    const Json& tokens = json["tokens"];
    if (!tokens.is_array()) return false;
    return std::any_of(tokens.begin(), tokens.end(), [](const Json& token) {
        // That of a token that is ready is not written down.
        const auto status = token.find("status");
        return status == token.end() || *status == "retrying";
    });
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_engine(const std::vector<WorkerRow>& workers, TimePoint now) {
    return std::any_of(workers.begin(), workers.end(), [&](const WorkerRow& worker) {
        return worker.is_keeper && worker.expires_at > now;
    });
}

std::string reason_of(
    const DelayedTasks& tasks,
    const std::vector<WorkerRow>& workers,
    const std::vector<QueueUse>& queues,
    TimePoint now
) {
    if (tasks.handler == kEngineHandler) {
        return has_engine(workers, now) ? "workers_busy" : "no_engine";
    }
    const bool is_served =
        std::any_of(workers.begin(), workers.end(), [&](const WorkerRow& worker) {
            return worker.expires_at > now && contains(worker.handlers, tasks.handler) &&
                   (worker.queues.empty() || contains(worker.queues, tasks.queue));
        });
    if (!is_served) return "no_worker";
    if (tasks.is_left_alone) return "exec_not_allowed";
    if (queues.empty()) return "workers_busy";
    const QueueUse& use = queues.front();
    const QueueLimits& limits = use.view.limits;
    if (limits.concurrency == 0) return "queue_closed";
    if (limits.concurrency && use.view.slots >= *limits.concurrency) return "queue_full";
    const bool is_keyed = limits.concurrency_per_key && !tasks.concurrency_key.empty();
    if (is_keyed && use.key_slots >= *limits.concurrency_per_key) return "queue_key";
    if (limits.rate && use.view.next_start > now) return "queue_rate";
    return "workers_busy";
}

}  // namespace

void Delayed::look(Duration time_max, Duration pause) {
    if (!looking_.try_lock()) return;
    try {
        look_now(time_max, pause);
    } catch (...) {
        looking_.unlock();
        throw;
    }
    looking_.unlock();
}

bool Delayed::is_complete() const {
    const Lock lock(mutex_);
    return is_complete_;
}

void Delayed::look_now(Duration time_max, Duration pause) {
    const SteadyPoint begun = clock_.steady_now();
    if (looked_ && begun < *looked_ + pause) return;
    looked_ = begun;
    // Most of the time nothing waits, and then no instance is read.
    const std::vector<QueueUse> queues = store_.queues({});
    const bool has_due = std::any_of(queues.begin(), queues.end(), [](const QueueUse& use) {
        return use.view.waiting > 0;
    });
    const bool has_later = std::any_of(queues.begin(), queues.end(), [](const QueueUse& use) {
        return use.view.sleeping > 0;
    });
    const TimePoint now = store_.now();
    lacks_engine_ = !has_engine(store_.workers(), now);
    has_left_ = (has_due || has_later) && knows_programs();
    if (!has_due && !lacks_engine_ && !has_left_) {
        before_.reset();
        pass_.clear();
        publish({});
        return;
    }
    for (int rows = 0; rows < kRowsMax && clock_.steady_now() < begun + time_max; rows += kPage) {
        if (read_page(now)) continue;
        before_.reset();
        publish(std::exchange(pass_, {}));
        break;
    }
    looked_ = clock_.steady_now();
}

/// Returns whether there is another page.
bool Delayed::read_page(TimePoint now) {
    const std::vector<InstanceRow> page =
        store_.list({.statuses = moving_statuses(), .before = before_, .limit = kPage});
    for (const InstanceRow& row : page) {
        const bool may_be_due = lacks_engine_ || may_have_due_tasks(row.state);
        if (row.updated_at + kAfter <= now && may_be_due) add(row, now);
        before_ = row.id;
    }
    return static_cast<int>(page.size()) == kPage;
}

void Delayed::add(const InstanceRow& row, TimePoint now) {
    for (const TaskRow& task : store_.tasks(row.id)) {
        if (!task.lease_owner.empty() || task.is_parked) continue;
        const auto left_since = has_left_ ? left_alone_since(row, task, now) : std::nullopt;
        const TimePoint since = left_since.value_or(task.due);
        if (since + kAfter > now) continue;
        // A queue limits only handlers.
        const std::string queue = task.handler == kEngineHandler ? "" : task.queue;
        const Key key{row.workflow, task.handler, queue, left_since.has_value()};
        if (!pass_.contains(key) && static_cast<int>(pass_.size()) >= kGroupsMax) continue;
        DelayedTasks& tasks = pass_[key];
        tasks.count += 1;
        if (tasks.count > 1 && tasks.since <= since) continue;
        tasks.workflow = row.workflow;
        tasks.handler = task.handler;
        tasks.queue = queue;
        tasks.since = since;
        tasks.is_left_alone = left_since.has_value();
        tasks.instance = row.id;
        tasks.concurrency_key = task.concurrency_key;
    }
}

bool Delayed::knows_programs() {
    bool knows = false;
    for (const WorkflowRow& row : store_.list_workflows()) {
        knows = with_programs(row.name, row.version) != nullptr || knows;
    }
    return knows;
}

std::shared_ptr<const Program> Delayed::with_programs(const std::string& workflow, int version) {
    const auto [found, is_new] = programs_.try_emplace({workflow, version});
    if (!is_new) return found->second;
    const auto row = store_.find_workflow(workflow, version);
    if (!row) return nullptr;
    try {
        const auto program = stored_program(*row);
        const auto& handlers = program->definition().handlers;
        const bool names_some =
            std::any_of(handlers.begin(), handlers.end(), [&](const auto& each) {
                return engine::is_program(program->definition(), each.first);
            });
        if (names_some) found->second = program;
    } catch (const UnreadableDefinition&) {
        // The engine says so elsewhere.
    }
    return found->second;
}

std::optional<TimePoint> Delayed::left_alone_since(
    const InstanceRow& row, const TaskRow& task, TimePoint now
) {
    const auto program = with_programs(row.workflow, row.version);
    if (program == nullptr) return std::nullopt;
    try {
        return engine::left_alone_since(
            *program, row, decode_state(row.state, *program), task, now
        );
    } catch (const Error& error) {
        if (error.code() != ErrorCode::CorruptState) throw;
        return std::nullopt;
    }
}

void Delayed::publish(Groups groups) {
    const Lock lock(mutex_);
    found_ = std::move(groups);
    is_complete_ = true;
}

std::vector<DelayedTasks> Delayed::report(const std::function<bool(const std::string&)>& is_visible
) {
    std::vector<DelayedTasks> report;
    {
        const Lock lock(mutex_);
        for (const auto& [key, tasks] : found_) {
            if (is_visible(tasks.workflow)) report.push_back(tasks);
        }
    }
    if (report.empty()) return report;
    std::stable_sort(report.begin(), report.end(), [](const auto& left, const auto& right) {
        return left.since < right.since;
    });
    const TimePoint now = store_.now();
    const std::vector<WorkerRow> workers = store_.workers();
    for (DelayedTasks& tasks : report) {
        if (tasks.handler == kEngineHandler) {
            tasks.reason = reason_of(tasks, workers, {}, now);
            continue;
        }
        const std::vector<QueueUse> queues = store_.queues(
            {.name = tasks.queue, .concurrency_key = tasks.concurrency_key, .counts_tasks = false}
        );
        tasks.reason = reason_of(tasks, workers, queues, now);
    }
    return report;
}

Json delayed_task_json(const DelayedTasks& tasks) {
    return {
        {"workflow", tasks.workflow},
        {"handler", text_json(tasks.handler)},
        {"queue", text_json(tasks.queue)},
        {"tasks", tasks.count},
        {"since", time_json(tasks.since)},
        {"reason", tasks.reason},
        {"instance", tasks.instance.to_string()},
    };
}

Json delayed_json(const std::vector<DelayedTasks>& tasks, bool is_complete) {
    Json items = Json::array();
    for (const DelayedTasks& each : tasks) items.push_back(delayed_task_json(each));
    return {{"items", std::move(items)}, {"complete", is_complete}};
}

}  // namespace ebb::view
