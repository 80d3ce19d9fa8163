// What needs a person: `ebb decisions`, `ebb delayed` and `ebb failures`.

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/instance_ref.h"
#include "cli/table.h"
#include "cli/text.h"
#include "view/triage_json.h"

namespace ebb::cli {

namespace {

template <class Row, class View>
void print_rows_json(Session& session, const std::vector<Row>& rows, View view) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Row& row : rows) all.push_back(view(row));
    session.print_json(all);
}

std::vector<InstanceStatus> statuses_of(const std::string& status) {
    if (status.empty()) return {};
    return {status == "failed" ? InstanceStatus::Failed : InstanceStatus::DeadLetter};
}

/// `3`, or `10000+` if there are more.
std::string count_text(const FailureGroup& group) {
    return fmt::format("{}{}", group.count, group.is_counted ? "" : "+");
}

void print_groups(
    Session& session, const std::vector<FailureGroup>& groups, const FailuresOptions& options
) {
    const Style& style = session.out();
    Table table({
        style.dim("GROUP"),
        style.dim("COUNT"),
        style.dim("DEAD"),
        style.dim("LAST"),
        style.dim("WORKFLOW"),
        style.dim("STEP"),
        style.dim("CODE"),
        style.dim("MESSAGE"),
    });
    for (const FailureGroup& group : groups) {
        const FailureNote& newest = group.newest;
        table.add({
            newest.group,
            count_text(group),
            std::to_string(group.dead_letter),
            time_text(newest.at, session.now(), options.times),
            newest.workflow,
            newest.step.empty() ? "-" : newest.step,
            one_line(newest.code),
            one_line(newest.message),
        });
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
}

/// One look reads some thousand instances, in about a tenth of a second.
constexpr int kLooksMax = 300;

std::vector<view::DelayedTasks> look_for_delayed(Client& engine) {
    for (int look = 0; look < kLooksMax; ++look) {
        Client::Delayed delayed = engine.delayed();
        if (delayed.is_complete) return std::move(delayed.tasks);
    }
    throw Error(
        ErrorCode::LimitExceeded,
        "There are too many live instances to find the delayed tasks among them; `ebb workers` "
        "counts the due tasks that no worker can run, and `ebb queue` those of each queue."
    );
}

/// Shortens `rows` to `limit`; returns how many that left out.
std::size_t leave(std::vector<view::DelayedTasks>& rows, int limit) {
    const std::size_t kept = std::min(rows.size(), static_cast<std::size_t>(limit));
    const std::size_t left_out = rows.size() - kept;
    rows.resize(kept);
    return left_out;
}

/// Why the first of the tasks does not start, in the words of the web UI. A reason of a newer
/// server is shown as it is.
std::string delay_text(const std::string& reason) {
    static const std::map<std::string, std::string_view> kTexts{
        {"no_worker", "no living worker has the handler"},
        {"exec_not_allowed", "no worker may run the program, which only the database names"},
        {"queue_closed", "an operator has stopped the queue"},
        {"queue_full", "all slots of the queue are in use"},
        {"queue_key", "all slots of its key are in use"},
        {"queue_rate", "the rate of the queue is used up"},
        {"workers_busy", "all workers that can do it are busy"},
        {"no_engine", "no worker is alive (a timer, the end of a step, or a request)"},
    };
    const auto text = kTexts.find(reason);
    return text == kTexts.end() ? one_line(reason) : std::string(text->second);
}

int list_group(Session& session, Client& engine, const FailuresOptions& options) {
    const std::vector<FailedInstance> rows = engine.failed_instances(
        {.group = options.group, .statuses = statuses_of(options.status), .limit = options.limit}
    );
    if (session.options().is_json) {
        print_rows_json(session, rows, view::failed_instance_json);
        return kOk;
    }
    if (rows.empty()) {
        session.note("No failures in this group.\n");
        return kOk;
    }
    const Style& style = session.out();
    Table table({
        style.dim("INSTANCE"),
        style.dim("STATUS"),
        style.dim("SINCE"),
        style.dim("WORKFLOW"),
        style.dim("KEY"),
        style.dim("MESSAGE"),
    });
    for (const FailedInstance& row : rows) {
        table.add({
            short_id(row.instance),
            style.status(row.note.status),
            time_text(row.note.at, session.now(), options.times),
            fmt::format("{} v{}", row.note.workflow, row.note.version),
            row.key.empty() ? "-" : one_line(row.key),
            one_line(row.note.message),
        });
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
    return kOk;
}

}  // namespace

int list_decisions(Session& session, const DecisionsOptions& options) {
    DecisionQuery query{.workflow = options.workflow, .limit = options.limit};
    if (!options.roles.empty()) query.roles = options.roles;
    const std::vector<AwaitedDecision> rows = session.connect("decisions").decisions(query);
    if (session.options().is_json) {
        print_rows_json(session, rows, view::decision_json);
        return kOk;
    }
    if (rows.empty()) {
        session.note("No decision is awaited.\n");
        return kOk;
    }
    const Style& style = session.out();
    Table table({
        style.dim("INSTANCE"),
        style.dim("DECISION"),
        style.dim("ROLES"),
        style.dim("VOTES"),
        style.dim("SINCE"),
        style.dim("DEADLINE"),
        style.dim("WORKFLOW"),
        style.dim("KEY"),
    });
    for (const AwaitedDecision& row : rows) {
        const bool has_deadline = row.deadline != kNever;
        table.add({
            short_id(row.instance),
            row.node,
            row.roles.empty() ? "anyone" : fmt::format("{}", fmt::join(row.roles, ",")),
            fmt::format("{} of {}", row.confirmed, row.quorum),
            time_text(row.since, session.now(), options.times),
            has_deadline ? time_text(row.deadline, session.now(), options.times) : "-",
            fmt::format("{} v{}", row.workflow, row.version),
            row.key.empty() ? "-" : one_line(row.key),
        });
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
    return kOk;
}

int list_delayed(Session& session, const DelayedOptions& options) {
    std::vector<view::DelayedTasks> rows = look_for_delayed(session.connect("delayed"));
    std::erase_if(rows, [&](const view::DelayedTasks& row) {
        return !options.workflow.empty() && row.workflow != options.workflow;
    });
    const std::size_t left_out = leave(rows, options.limit);
    if (session.options().is_json) {
        print_rows_json(session, rows, view::delayed_task_json);
        return kOk;
    }
    if (rows.empty()) {
        session.note("No task has been due for more than a minute without a start.\n");
        return kOk;
    }
    const Style& style = session.out();
    Table table({
        style.dim("WORKFLOW"),
        style.dim("HANDLER"),
        style.dim("QUEUE"),
        style.dim("TASKS"),
        style.dim("SINCE"),
        style.dim("FIRST"),
        style.dim("WHY"),
    });
    for (const view::DelayedTasks& row : rows) {
        table.add({
            row.workflow,
            row.handler.empty() ? "-" : row.handler,
            row.queue.empty() ? "-" : row.queue,
            std::to_string(row.count),
            time_text(row.since, session.now(), options.times),
            short_id(row.instance),
            delay_text(row.reason),
        });
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
    if (left_out > 0) session.note(fmt::format("{} more; see --limit.\n", left_out));
    return kOk;
}

int list_failures(Session& session, const FailuresOptions& options) {
    Client& engine = session.connect("failures");
    if (!options.group.empty()) return list_group(session, engine, options);
    FailureGroups found =
        engine.failures({.workflow = options.workflow, .statuses = statuses_of(options.status)});
    if (std::ssize(found.groups) > options.limit) {
        found.groups.resize(static_cast<std::size_t>(options.limit));
    }
    if (session.options().is_json) {
        print_rows_json(session, found.groups, view::failure_group_json);
        return kOk;
    }
    if (found.groups.empty()) {
        session.note("No failures.\n");
        return kOk;
    }
    print_groups(session, found.groups, options);
    if (!found.is_complete) session.note("There are more groups than were looked at.\n");
    return kOk;
}

}  // namespace ebb::cli
