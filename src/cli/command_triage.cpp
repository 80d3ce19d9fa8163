// What needs a person: `ebb decisions` and `ebb failures`.

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
