// `ebb list`, `ebb workflows`: what there is.

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/instance_ref.h"
#include "cli/table.h"
#include "cli/text.h"
#include "store/store.h"
#include "view/instance_json.h"
#include "view/workflow_json.h"

namespace ebb::cli {

namespace {

constexpr int kPageMax = 1'000;

std::vector<InstanceStatus> parse_statuses(const std::vector<std::string>& texts) {
    std::vector<InstanceStatus> statuses;
    for (const std::string& text : texts) {
        const auto status = parse_status(text);
        if (!status) {
            throw Error(
                ErrorCode::InvalidArgument,
                fmt::format(
                    "\"{}\" is not a status; a status is running, paused, compensating, "
                    "dead_letter, moved, completed, failed, cancelled or aborted.",
                    text
                )
            );
        }
        statuses.push_back(*status);
    }
    return statuses;
}

/// Page by page, as the engine allows at most kPageMax at once.
std::vector<InstanceSummary> find_instances(Engine& engine, const ListCommandOptions& options) {
    ListOptions query{
        .statuses = parse_statuses(options.statuses),
        .workflow = options.workflow,
        .version = options.version,
        .key = options.key,
    };
    if (!options.before.empty()) query.before = resolve_instance(engine, options.before);
    std::vector<InstanceSummary> found;
    const auto wanted = static_cast<std::size_t>(options.limit);
    while (found.size() < wanted) {
        query.limit = static_cast<int>(std::min<std::size_t>(wanted - found.size(), kPageMax));
        auto page = engine.list(query);
        const bool is_last = static_cast<int>(page.size()) < query.limit;
        for (InstanceSummary& summary : page) found.push_back(std::move(summary));
        if (is_last) break;
        query.before = found.back().id;
    }
    return found;
}

std::string duration_of(const InstanceSummary& summary, TimePoint now) {
    const bool is_finished = summary.finished_at != TimePoint{};
    return elapsed((is_finished ? summary.finished_at : now) - summary.created_at);
}

void print_table(Session& session, const std::vector<InstanceSummary>& instances) {
    const Style& style = session.out();
    const TimePoint now = session.now();
    Table table({
        style.dim("ID"),
        style.dim("WORKFLOW"),
        style.dim("STATUS"),
        style.dim("STARTED"),
        style.dim("TOOK"),
        style.dim("KEY"),
    });
    for (const InstanceSummary& summary : instances) {
        table.add({
            summary.id.to_string(),
            fmt::format("{} v{}", summary.workflow, summary.version),
            style.status(summary.status),
            ago(summary.created_at, now),
            duration_of(summary, now),
            one_line(summary.key),
        });
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
}

}  // namespace

int list_instances(Session& session, const ListCommandOptions& options) {
    const auto instances = find_instances(session.client("list"), options);
    if (options.only_ids && session.options().is_json) {
        nlohmann::ordered_json ids = nlohmann::ordered_json::array();
        for (const InstanceSummary& summary : instances) ids.push_back(summary.id.to_string());
        session.print_json(ids);
        return kOk;
    }
    if (options.only_ids) {
        std::string ids;
        for (const InstanceSummary& summary : instances) ids += summary.id.to_string() + "\n";
        session.print(ids);
        return kOk;
    }
    if (session.options().is_json) {
        nlohmann::ordered_json json = nlohmann::ordered_json::array();
        for (const InstanceSummary& summary : instances)
            json.push_back(view::summary_json(summary));
        session.print_json(json);
        return kOk;
    }
    if (instances.empty()) {
        session.note("No instances.\n");
        return kOk;
    }
    print_table(session, instances);
    if (static_cast<int>(instances.size()) == options.limit) {
        session.note(fmt::format(
            "{}\n",
            session.err().dim(fmt::format(
                "The newest {}. More: --limit N, or --before {}",
                options.limit,
                instances.back().id.to_string()
            ))
        ));
    }
    return kOk;
}

namespace {

/// `12 running, 3 failed`; a version that nobody needs has `none`.
std::string counts_text(
    const WorkflowRow& row, const std::vector<VersionCount>& counts, const Style& style
) {
    std::string text;
    for (const VersionCount& count : counts) {
        const bool is_of_row = count.workflow == row.name && count.version == row.version;
        if (!is_of_row || count.count == 0) continue;
        if (!text.empty()) text += ", ";
        text += fmt::format("{} {}", count.count, style.status(to_string(count.status)));
    }
    return text.empty() ? style.dim("none") : text;
}

void print_workflows(
    Session& session, const std::vector<WorkflowRow>& rows, const std::vector<VersionCount>& counts
) {
    const Style& style = session.out();
    Table table({
        style.dim("WORKFLOW"),
        style.dim("VERSION"),
        style.dim("REGISTERED"),
        style.dim("INSTANCES"),
    });
    for (const WorkflowRow& row : rows) {
        table.add({
            row.name,
            std::to_string(row.version),
            ago(row.created_at, session.now()),
            counts_text(row, counts, style),
        });
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
}

}  // namespace

int list_workflows(Session& session, const WorkflowsOptions& options) {
    Store& store = session.shared_store("workflows", OpenMode::MustExist);
    const auto rows = store.list_workflows();
    if (options.only_names) {
        std::set<std::string> names;
        for (const WorkflowRow& row : rows) names.insert(row.name);
        if (session.options().is_json) {
            session.print_json(names);
            return kOk;
        }
        for (const std::string& name : names) session.print(name + "\n");
        return kOk;
    }
    const auto counts = store.count_versions();
    if (session.options().is_json) {
        nlohmann::ordered_json json = nlohmann::ordered_json::array();
        for (const WorkflowRow& row : rows) json.push_back(view::workflow_json(row, counts));
        session.print_json(json);
    } else if (rows.empty()) {
        session.note("No workflows are registered.\n");
    } else {
        print_workflows(session, rows, counts);
    }
    return kOk;
}

}  // namespace ebb::cli
