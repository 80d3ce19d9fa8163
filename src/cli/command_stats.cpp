// `ebb stats` and `ebb top`: the whole database on one page, once or again and again.

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/instance_ref.h"
#include "cli/outline_text.h"
#include "cli/overview_commands.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/watching.h"

namespace ebb::cli {

namespace {

using Color = Style::Color;

constexpr InstanceStatus kShown[] = {
    InstanceStatus::Running,
    InstanceStatus::Paused,
    InstanceStatus::Compensating,
    InstanceStatus::DeadLetter,
    InstanceStatus::Completed,
    InstanceStatus::Failed,
    InstanceStatus::Cancelled,
    InstanceStatus::Aborted,
    InstanceStatus::Moved,
};

std::string counted(std::int64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// What `ebb stats` says, read at one time.
struct Stats {
    std::vector<InstanceCount> counts{};
    std::int64_t alive = 0;
    std::int64_t dead = 0;
    std::int64_t unserved = 0;

    std::int64_t of(InstanceStatus status, std::string_view workflow = {}) const {
        std::int64_t count = 0;
        for (const InstanceCount& each : counts) {
            const bool is_meant = workflow.empty() || each.workflow == workflow;
            if (each.status == status && is_meant) count += each.count;
        }
        return count;
    }
};

Stats read_stats(Session& session, std::string_view command) {
    Client& engine = session.connect(command);
    Stats stats{.counts = engine.stats()};
    std::sort(stats.counts.begin(), stats.counts.end(), [](const auto& left, const auto& right) {
        return std::tie(left.workflow, left.status) < std::tie(right.workflow, right.status);
    });
    for (const WorkerView& worker : engine.workers())
        ++(worker.is_alive ? stats.alive : stats.dead);
    for (const UnservedTasks& tasks : engine.unserved()) stats.unserved += tasks.count;
    return stats;
}

nlohmann::ordered_json stats_json(const Stats& stats) {
    nlohmann::ordered_json instances = nlohmann::ordered_json::object();
    nlohmann::ordered_json workflows = nlohmann::ordered_json::object();
    for (const InstanceStatus status : kShown) {
        instances[std::string(to_string(status))] = stats.of(status);
    }
    for (const InstanceCount& each : stats.counts) {
        workflows[each.workflow][std::string(to_string(each.status))] = each.count;
    }
    return {
        {"instances", std::move(instances)},
        {"workflows", std::move(workflows)},
        {"workers_alive", stats.alive},
        {"workers_dead", stats.dead},
        {"unserved_tasks", stats.unserved},
    };
}

/// `▸ 12 running  ✗ 3 failed  2 workers  5 tasks without a worker`
std::string headline(const Style& style, const Stats& stats) {
    std::string text;
    for (const InstanceStatus status : kShown) {
        const std::int64_t count = stats.of(status);
        if (count == 0) continue;
        const std::string_view name = to_string(status);
        text += style.paint(
            Style::color_of_status(name), fmt::format("{} {} {}", style.sign(name), count, name)
        );
        text += "  ";
    }
    if (text.empty()) text = "no instances  ";
    const std::string workers = stats.alive == 0 ? "no worker" : counted(stats.alive, "worker");
    text += stats.alive == 0 ? style.paint(Color::Yellow, workers) : workers;
    if (stats.dead > 0) text += "  " + style.paint(Color::Red, fmt::format("{} dead", stats.dead));
    if (stats.unserved > 0) {
        text +=
            "  " + style.paint(Color::Red, counted(stats.unserved, "task") + " without a worker");
    }
    return text + "\n";
}

std::string by_workflow(Session& session, const Stats& stats) {
    const Style& style = session.out();
    std::vector<InstanceStatus> columns;
    for (const InstanceStatus status : kShown) {
        if (stats.of(status) > 0) columns.push_back(status);
    }
    std::vector<std::string> header{style.dim("WORKFLOW")};
    for (const InstanceStatus status : columns) {
        std::string name(to_string(status));
        std::transform(name.begin(), name.end(), name.begin(), [](char c) {
            return c == '_' ? ' ' : static_cast<char>(c - 'a' + 'A');
        });
        header.push_back(style.dim(name));
    }
    Table table(header);
    constexpr int kNameMin = 12;
    table.may_shrink(0, kNameMin);
    std::set<std::string> names;
    for (const InstanceCount& each : stats.counts) names.insert(each.workflow);
    for (const std::string& name : names) {
        std::vector<std::string> row{one_line(name)};
        for (const InstanceStatus status : columns) {
            const std::int64_t count = stats.of(status, name);
            row.push_back(count == 0 ? style.dim("-") : std::to_string(count));
        }
        table.add(std::move(row));
    }
    return table.is_empty() ? "" : table.text(session.columns(), style.glyphs().ellipsis);
}

/// The live instances. Those that need a person come first.
std::string live_instances(Session& session, int limit) {
    const Style& style = session.out();
    const TimePoint now = session.now();
    Client& engine = session.connect("top");
    Table table({
        style.dim("ID"),
        style.dim("WORKFLOW"),
        style.dim("STATUS"),
        style.dim("AGE"),
        style.dim("DETAILS"),
    });
    constexpr int kWorkflowMin = 12;
    table.may_shrink(1, kWorkflowMin);
    using enum InstanceStatus;
    const std::vector<std::vector<InstanceStatus>> groups{
        {DeadLetter}, {Compensating, Paused}, {Running}
    };
    for (const std::vector<InstanceStatus>& statuses : groups) {
        if (limit <= 0) break;
        const ListOptions query{.statuses = statuses, .workflow = {}, .key = {}, .limit = limit};
        for (const view::Outline& outline : engine.outlines(query)) {
            const InstanceSummary& summary = outline.summary;
            table.add({
                short_id(summary.id),
                fmt::format("{} v{}", one_line(summary.workflow), summary.version),
                style.signed_status(shown_status(outline)),
                elapsed(now - summary.created_at),
                details_of(outline, now, style),
            });
            --limit;
        }
    }
    if (table.is_empty()) return style.dim("No instance is live.") + "\n";
    return table.text(session.columns(), style.glyphs().ellipsis);
}

}  // namespace

int print_stats(Session& session) {
    const Stats stats = read_stats(session, "stats");
    if (session.options().is_json) {
        session.print_json(stats_json(stats));
        return kOk;
    }
    const std::string table = by_workflow(session, stats);
    session.print(headline(session.out(), stats) + (table.empty() ? "" : "\n" + table));
    return kOk;
}

int show_top(Session& session, const TopOptions& options) {
    constexpr int kRowsOffTerminal = 20;
    constexpr int kOtherRows = 5;
    const auto look = [&](Watched& watched) {
        const Stats stats = read_stats(session, "top");
        if (session.options().is_json) {
            session.print_json_line(stats_json(stats));
        } else {
            const Output& out = session.streams().out;
            const int rows =
                out.is_terminal ? std::max(out.rows() - kOtherRows, 3) : kRowsOffTerminal;
            watched.picture = headline(session.out(), stats) + "\n" + live_instances(session, rows);
        }
        watched.is_over = options.is_once;
    };
    return watch(session, options.every, look);
}

}  // namespace ebb::cli
