// `ebb retention` and `ebb purge`: how long instances are kept.

#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "cli/commands.h"
#include "cli/table.h"
#include "cli/text.h"
#include "store/store.h"
#include "support/clock.h"
#include "view/retention_json.h"

namespace ebb::cli {

namespace {

/// Between two lines of progress.
constexpr Duration kProgressEvery = std::chrono::seconds(1);

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::InvalidArgument, why);
}

Duration read_age(std::string_view what, const std::string& text, std::string_view other) {
    if (const auto duration = parse_duration(text)) return *duration;
    refuse(fmt::format(
        "{}: \"{}\" is not a valid duration; write 30d, 12h or 90s{}.", what, one_line(text), other
    ));
}

void change(std::string_view what, const std::string& text, std::optional<Duration>& kept) {
    if (text.empty()) return;
    if (text == view::kForever) {
        kept.reset();
    } else {
        kept = read_age(what, text, ", or forever");
    }
}

std::optional<PartitionView> partitions_of(Session& session) {
    return session.shared_store("retention", OpenMode::MustExist).partitions();
}

/// If the tables are partitioned, a rule does not mean what one may expect.
void tell_of_partitions(
    Session& session, const PartitionView& partitions, const std::vector<RetentionRule>& rules
) {
    std::string text = fmt::format(
        "The tables are partitioned by {0}: workers delete an ended instance only when the whole "
        "{0} in which it started has been over for that time. So it may stay up to a {0} longer "
        "than the rule says. `ebb purge` does not wait for that.",
        partitions.period
    );
    if (const auto kept = shortest(rules)) {
        text += fmt::format(
            " Instances that start now are kept until {} at least.",
            short_time(partitions.current_ends + *kept)
        );
    }
    for (const std::string& line : wrap(text, session.columns() == 0 ? 80 : session.columns())) {
        session.note(line + "\n");
    }
}

std::optional<RetentionRule> find_rule(Engine& engine, std::string_view workflow) {
    for (RetentionRule& rule : engine.retention()) {
        if (rule.workflow == workflow) return std::move(rule);
    }
    return std::nullopt;
}

int list_retention(Session& session) {
    const auto rules = session.client("retention").retention();
    const auto partitions = partitions_of(session);
    if (session.options().is_json) {
        nlohmann::ordered_json json = nlohmann::ordered_json::array();
        for (const RetentionRule& rule : rules)
            json.push_back(view::retention_json(rule, partitions));
        session.print_json(json);
        return kOk;
    }
    if (rules.empty()) {
        session.note("Everything is kept forever.\n");
        return kOk;
    }
    const Style& style = session.out();
    Table table(
        {style.dim("WORKFLOW"), style.dim("COMPLETED"), style.dim("FAILED"), style.dim("SET")}
    );
    for (const RetentionRule& rule : rules) {
        table.add({
            rule.workflow,
            view::kept_text(rule.keep.completed),
            view::kept_text(rule.keep.failed),
            ago(rule.updated_at, session.now()),
        });
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
    if (partitions) tell_of_partitions(session, *partitions, rules);
    return kOk;
}

/// What holds for the workflow now.
int tell(Session& session, Engine& engine, const std::string& workflow) {
    const auto rule = find_rule(engine, workflow);
    if (session.options().is_json) {
        session.print_json(
            rule ? view::retention_json(*rule, partitions_of(session))
                 : nlohmann::ordered_json(nullptr)
        );
        return kOk;
    }
    const std::string whose =
        workflow == kOtherWorkflows ? "all other workflows" : fmt::format("\"{}\"", workflow);
    if (!rule) {
        session.note(fmt::format("The rule of {} is removed.\n", whose));
        return kOk;
    }
    session.note(fmt::format(
        "Of {}, completed instances are kept {}{}, failed ones {}{}.\n",
        whose,
        rule->keep.completed ? "for " : "",
        view::kept_text(rule->keep.completed),
        rule->keep.failed ? "for " : "",
        view::kept_text(rule->keep.failed)
    ));
    if (const auto partitions = partitions_of(session)) {
        tell_of_partitions(session, *partitions, {*rule});
    }
    return kOk;
}

bool is_registered(Session& session, const std::string& workflow) {
    if (workflow == kOtherWorkflows) return true;
    Store& store = session.shared_store("retention", OpenMode::MustExist);
    return store.find_workflow(workflow, std::nullopt).has_value();
}

void warn_of_unknown(Session& session, const std::string& workflow) {
    if (is_registered(session, workflow)) return;
    Store& store = session.shared_store("retention", OpenMode::MustExist);
    std::vector<std::string> names;
    for (const WorkflowRow& row : store.list_workflows()) names.push_back(row.name);
    const std::string meant = closest(workflow, names);
    session.note(fmt::format(
        "No workflow \"{}\" is registered yet.{}\n",
        workflow,
        meant.empty() ? "" : fmt::format(" Did you mean \"{}\"?", meant)
    ));
}

int set_retention(Session& session, const RetentionCommandOptions& options) {
    if (options.kept.empty() && options.completed.empty() && options.failed.empty()) {
        refuse(
            "`ebb retention set WORKFLOW` needs to know how long: 30d, forever, or --completed "
            "and --failed."
        );
    }
    Engine& engine = session.client("retention");
    const auto rule = find_rule(engine, options.workflow);
    Retention keep = rule ? rule->keep : Retention{};
    change("KEPT", options.kept, keep.completed);
    change("KEPT", options.kept, keep.failed);
    change("--completed", options.completed, keep.completed);
    change("--failed", options.failed, keep.failed);
    engine.set_retention(options.workflow, keep);
    warn_of_unknown(session, options.workflow);
    return tell(session, engine, options.workflow);
}

/// If the workflow exists, it is not an error that there is nothing to clear.
void require_workflow(Session& session, const std::string& workflow) {
    if (is_registered(session, workflow)) return;
    throw Error(
        ErrorCode::WorkflowNotFound,
        fmt::format(
            "There is no workflow \"{}\", and no retention rule for it.", one_line(workflow)
        )
    );
}

int clear_retention(Session& session, const RetentionCommandOptions& options) {
    if (!options.kept.empty() || !options.completed.empty() || !options.failed.empty()) {
        refuse("`ebb retention clear` takes a workflow and nothing else.");
    }
    Engine& engine = session.client("retention");
    if (!engine.clear_retention(options.workflow)) require_workflow(session, options.workflow);
    return tell(session, engine, options.workflow);
}

void print_report(Session& session, const PurgeReport& report, bool is_dry_run) {
    const Style& style = session.out();
    if (!report.counts.empty()) {
        Table table({style.dim("WORKFLOW"), style.dim("STATUS"), style.dim("INSTANCES")});
        for (const PurgeCount& count : report.counts) {
            table.add({count.workflow, style.status(count.status), std::to_string(count.instances)}
            );
        }
        session.print(table.text(session.columns(), style.glyphs().ellipsis));
    }
    const char* what = is_dry_run ? "would be deleted" : "deleted";
    session.note(
        fmt::format("{} instance{} {}.\n", report.instances, report.instances == 1 ? "" : "s", what)
    );
}

}  // namespace

int manage_retention(Session& session, const RetentionCommandOptions& options) {
    if (options.action == "list") {
        if (!options.workflow.empty()) refuse("`ebb retention list` lists all; it takes no name.");
        return list_retention(session);
    }
    if (options.workflow.empty()) {
        refuse(fmt::format(
            "`ebb retention {}` needs a workflow, or '*' for all that have no rule of their own.",
            options.action
        ));
    }
    if (options.action == "clear") return clear_retention(session, options);
    return set_retention(session, options);
}

int purge_instances(Session& session, const PurgeCommandOptions& options) {
    PurgeOptions request{.workflow = options.workflow, .only_counts = options.is_dry_run};
    if (options.older_than) request.older_than = read_age("--older-than", *options.older_than, "");
    Engine& engine = session.client("purge");
    if (!request.older_than && engine.retention().empty()) {
        refuse(
            "Everything is kept forever: say what to delete with --older-than 30d, or set "
            "`ebb retention`."
        );
    }
    TimePoint told_at = session.now();
    request.on_progress = [&](const PurgeReport& report) {
        if (session.now() - told_at < kProgressEvery) return true;
        told_at = session.now();
        session.note(fmt::format("{} instances so far\n", report.instances));
        return true;
    };
    const PurgeReport report = engine.purge(request);
    if (session.options().is_json) {
        session.print_json(view::purge_json(report, options.is_dry_run));
    } else {
        print_report(session, report, options.is_dry_run);
    }
    return kOk;
}

}  // namespace ebb::cli
