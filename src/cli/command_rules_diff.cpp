// `ebb rules diff`: what a newer version of rules means to the instances of an older one.

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/compare_commands.h"
#include "cli/rules_commands.h"
#include "cli/text.h"
#include "core/rules_analysis/difference.h"
#include "core/rules_analysis/subject.h"

namespace ebb::cli {

namespace {

using rules_analysis::LiveChange;
using rules_analysis::RulesChange;
using rules_analysis::RulesDifference;
using Ordered = nlohmann::ordered_json;

/// The live instances of the older version.
struct Live {
    std::int64_t examined = 0;
    bool is_complete = true;
    std::vector<std::pair<InstanceId, LiveChange>> changed{};
    std::vector<std::pair<InstanceId, std::string>> stays{};  ///< and why
};

std::vector<std::string> pending_in(const InstanceView& view) {
    std::vector<std::string> pending;
    for (const StepView& step : view.steps) {
        if (step.finished_at == TimePoint{}) pending.push_back(step.node);
    }
    return pending;
}

Live examine(
    Session& session, const Definition& before, const Definition& after, std::int64_t limit
) {
    const rules::Program old_rules(*before.rules, rules_analysis::transition_names(before));
    const rules::Program new_rules(*after.rules, rules_analysis::transition_names(after));
    Client& client = session.connect("rules diff");
    Live live;
    ListOptions page{
        .statuses = {InstanceStatus::Running, InstanceStatus::Paused, InstanceStatus::DeadLetter},
        .workflow = before.name,
        .version = before.version,
    };
    while (true) {
        const InstancePage found = client.list_page(page);
        for (const InstanceSummary& summary : found.instances) {
            if (live.examined == limit) {
                live.is_complete = false;
                return live;
            }
            ++live.examined;
            const InstanceView view = client.show(summary.id);
            LiveChange change = rules_analysis::examine_live(
                old_rules, new_rules, view.attributes, pending_in(view)
            );
            if (!change.fault.empty()) {
                live.stays.emplace_back(summary.id, std::move(change.fault));
                continue;
            }
            if (!change.is_empty()) live.changed.emplace_back(summary.id, std::move(change));
        }
        if (!found.next) return live;
        page.before = found.next;
    }
}

std::string text_of(const LiveChange& change) {
    std::vector<std::string> parts;
    const auto add = [&](std::string_view what, const std::vector<std::string>& names) {
        if (!names.empty()) parts.push_back(fmt::format("{} {}", what, fmt::join(names, ", ")));
    };
    if (!change.final_condition.empty()) {
        parts.push_back(fmt::format("ends with the final condition {}", change.final_condition));
    }
    if (!change.exception.empty()) {
        parts.push_back(fmt::format("is in the exception {}", change.exception));
    }
    if (!change.left_exception.empty()) {
        parts.push_back(fmt::format("is no longer in the exception {}", change.left_exception));
    }
    add("fires", change.fires);
    add("would no longer fire", change.no_longer);
    add("violates the invariant", change.violated);
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::string text_of(const Definition& before, const Live& live) {
    std::string text = fmt::format(
        "{} live instance{} of v{} examined{}, {} would change",
        live.examined,
        live.examined == 1 ? "" : "s",
        before.version,
        live.is_complete ? "" : " (there are more: raise --limit)",
        live.changed.size()
    );
    const std::size_t stays = live.stays.size();
    if (stays == 1) text += ", 1 stays on its version";
    if (stays > 1) text += fmt::format(", {} stay on their version", stays);
    text += '\n';
    for (const auto& [id, change] : live.changed) {
        text += fmt::format("  {}: {}\n", id.to_string(), one_line(text_of(change)));
    }
    for (const auto& [id, fault] : live.stays) {
        text += fmt::format("  {}: stays on its version: {}\n", id.to_string(), one_line(fault));
    }
    return text;
}

std::string text_of(
    const Definition& before,
    const Definition& after,
    const RulesDifference& difference,
    const std::optional<Live>& live
) {
    std::string text = fmt::format(
        "{} v{} and v{}: {} change{}; evolution: {}\n",
        before.name,
        before.version,
        after.version,
        difference.changes.size(),
        difference.changes.size() == 1 ? "" : "s",
        difference.follows ? "follow (live instances continue on the newer version)"
                           : "pin (live instances end on their version)"
    );
    for (const RulesChange& change : difference.changes) {
        text += fmt::format("  {}\n", one_line(change.message));
        if (change.example.empty()) continue;
        text += fmt::format("    for example if {}\n", one_line(change.example));
    }
    for (const std::string& obstacle : difference.obstacles) {
        text += fmt::format("  obstacle: {}\n", one_line(obstacle));
    }
    return live ? text + text_of(before, *live) : text;
}

Ordered json_of(const LiveChange& change) {
    const auto name = [](const std::string& text) {
        return text.empty() ? Ordered(nullptr) : Ordered(text);
    };
    return {
        {"fires", change.fires},
        {"no_longer", change.no_longer},
        {"violated", change.violated},
        {"final", name(change.final_condition)},
        {"exception", name(change.exception)},
        {"left_exception", name(change.left_exception)},
    };
}

Ordered json_of(
    const Definition& before,
    const Definition& after,
    const RulesDifference& difference,
    const std::optional<Live>& live
) {
    Ordered changes = Ordered::array();
    for (const RulesChange& change : difference.changes) {
        Ordered json = {
            {"kind", change.kind},
            {"name", change.name},
            {"change", change.change},
            {"message", change.message},
        };
        if (!change.example.empty()) json["example"] = change.example;
        changes.push_back(std::move(json));
    }
    Ordered json = {
        {"before", {{"workflow", before.name}, {"version", before.version}}},
        {"after", {{"workflow", after.name}, {"version", after.version}}},
        {"evolution", difference.follows ? "follow" : "pin"},
        {"changes", std::move(changes)},
        {"obstacles", difference.obstacles},
    };
    if (!live) return json;
    Ordered instances = Ordered::array();
    for (const auto& [id, change] : live->changed) {
        Ordered entry = {{"instance", id.to_string()}};
        entry.update(json_of(change));
        instances.push_back(std::move(entry));
    }
    Ordered stays = Ordered::array();
    for (const auto& [id, fault] : live->stays) {
        stays.push_back({{"instance", id.to_string()}, {"fault", fault}});
    }
    json["live"] = {
        {"examined", live->examined},
        {"complete", live->is_complete},
        {"changed", std::move(instances)},
        {"stays", std::move(stays)},
    };
    return json;
}

Definition read_rules(Session& session, const std::string& word) {
    Definition definition = read_compared(session, word);
    if (definition.rules) return definition;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("{} has steps and no rules. Use `ebb diff`.", one_line(word))
    );
}

}  // namespace

int compare_rules(Session& session, const RulesOptions& options) {
    if (options.subjects.size() != 2) {
        throw Error(
            ErrorCode::InvalidArgument,
            "`ebb rules diff` needs two workflows: the old and the new one."
        );
    }
    const Definition before = read_rules(session, options.subjects[0]);
    const Definition after = read_rules(session, options.subjects[1]);
    const RulesDifference difference = rules_analysis::compare(before, after);
    std::optional<Live> live;
    const bool has_instances = !session.is_in_memory() || !session.options().server.empty();
    if (has_instances) live = examine(session, before, after, options.limit);
    const bool as_json =
        options.format.empty() ? session.options().is_json : options.format == "json";
    if (as_json) {
        session.print_json(json_of(before, after, difference, live));
    } else {
        session.print(text_of(before, after, difference, live));
    }
    return 0;
}

}  // namespace ebb::cli
