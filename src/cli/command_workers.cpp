// `ebb workers`: the live workers, and the tasks that no worker runs.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/overview_commands.h"
#include "cli/table.h"
#include "cli/text.h"
#include "view/worker_json.h"

namespace ebb::cli {

namespace {

nlohmann::ordered_json workers_json(
    const std::vector<WorkerView>& workers, const std::vector<UnservedTasks>& unserved
) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const WorkerView& worker : workers) all.push_back(view::worker_json(worker));
    nlohmann::ordered_json tasks = nlohmann::ordered_json::array();
    for (const UnservedTasks& each : unserved) tasks.push_back(view::unserved_json(each));
    return {{"workers", std::move(all)}, {"unserved", std::move(tasks)}};
}

/// `draining`; a dead worker is shown as dead, even if it was draining.
std::string state_of(const WorkerView& worker, const Style& style) {
    if (!worker.is_alive) return style.paint(Style::Color::Red, "dead");
    return worker.is_draining ? style.paint(Style::Color::Yellow, "draining") : "alive";
}

void print_workers(Session& session, const std::vector<WorkerView>& workers) {
    const Style& style = session.out();
    Table table({
        style.dim("WORKER"),
        style.dim("STATE"),
        style.dim("TASKS"),
        style.dim("THREADS"),
        style.dim("SINCE"),
        style.dim("QUEUES"),
        style.dim("HANDLERS"),
    });
    for (const WorkerView& worker : workers) {
        table.add({
            one_line(worker.id),
            state_of(worker, style),
            std::to_string(worker.tasks),
            worker.is_draining ? "-" : std::to_string(worker.threads),
            ago(worker.started_at, session.now()),
            worker.queues.empty() ? "all" : fmt::format("{}", fmt::join(worker.queues, ",")),
            fmt::format("{}", fmt::join(worker.handlers, ",")),
        });
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
}

}  // namespace

int list_workers(Session& session) {
    Client& engine = session.connect("workers");
    const std::vector<WorkerView> workers = engine.workers();
    const std::vector<UnservedTasks> unserved = engine.unserved();
    if (session.options().is_json) {
        session.print_json(workers_json(workers, unserved));
        return kOk;
    }
    if (workers.empty()) {
        session.note("No workers.\n");
    } else {
        print_workers(session, workers);
    }
    for (const UnservedTasks& each : unserved) {
        const std::string tasks =
            each.count == 1 ? "1 task is" : fmt::format("{} tasks are", each.count);
        if (each.handler.empty()) {
            session.print(fmt::format(
                "{} waiting in the queue \"{}\" for any worker ({}), and no worker is alive.\n",
                tasks,
                one_line(each.queue),
                kOwnTasks
            ));
            continue;
        }
        session.print(fmt::format(
            "{} waiting for the handler \"{}\" in the queue \"{}\", which no living worker "
            "has.\n",
            tasks,
            one_line(each.handler),
            one_line(each.queue)
        ));
    }
    return kOk;
}

}  // namespace ebb::cli
