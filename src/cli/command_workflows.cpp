// `ebb workflows`: what is registered.

#include <set>

#include <fmt/format.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/text.h"
#include "store/store.h"
#include "view/workflow_json.h"

namespace ebb::cli {

namespace {

/// `12 running, 3 failed`; a version without live instances has `none`.
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
    auto [rows, counts] = session.connect("workflows").workflows();
    if (!options.has_system) {
        std::erase_if(rows, [](const WorkflowRow& row) { return is_system_workflow(row.name); });
    }
    if (options.only_names || session.options().format == OutputFormat::Name) {
        std::set<std::string> names;
        for (const WorkflowRow& row : rows) names.insert(row.name);
        if (session.options().is_json) {
            session.print_json(names);
            return kOk;
        }
        for (const std::string& name : names) session.print(name + "\n");
        return kOk;
    }
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
