#include "sim/stats.h"

#include <fmt/format.h>

#include "core/kernel/history.h"
#include "core/kernel/state.h"
#include "sim/flow.h"

namespace ebb::sim {

namespace {

/// A run with fewer events says little.
constexpr int kEventsOfShortRun = 12;

void count_nodes(const Json& nodes, std::map<std::string, int>& kinds) {
    static constexpr std::array<const char*, 6> kBlocks = {
        "then", "else", "default", "on_reject", "do", "nodes"
    };
    for (const Json& node : nodes) {
        for (const char* kind : kNodeKinds) kinds[kind] += node.contains(kind);
        for (const char* block : kBlocks) {
            if (node.contains(block)) count_nodes(node.at(block), kinds);
        }
        for (const char* blocks : {"branches", "cases"}) {
            if (!node.contains(blocks)) continue;
            for (const Json& each : node.at(blocks)) {
                count_nodes(each.value("do", Json::array()), kinds);
            }
        }
    }
}

/// All that there is of each group, so that what never occurs is seen.
std::map<std::string, std::vector<std::string>> all_names() {
    std::map<std::string, std::vector<std::string>> names;
    for (int i = 0; i <= static_cast<int>(HistoryType::Aborted); ++i) {
        const auto type = static_cast<HistoryType>(i);
        // The plans have no rules; the oracle and the golden workflows play those.
        using enum HistoryType;
        if (type == AttributesWritten || type == StateWritten || type == StateRestored ||
            type == ExceptionRaised || type == RecoverRequested || type == Migrated) {
            continue;
        }
        names["history"].emplace_back(to_string(type));
    }
    for (int i = 0; i <= static_cast<int>(InstanceStatus::Aborted); ++i) {
        const auto status = static_cast<InstanceStatus>(i);
        // No instance rests while it compensates, and an instance that has left comes back.
        if (status == InstanceStatus::Compensating || status == InstanceStatus::Moved) continue;
        names["status at the end"].emplace_back(to_string(status));
    }
    for (int i = 0; i <= static_cast<int>(InstanceStatus::Aborted); ++i) {
        const auto status = static_cast<InstanceStatus>(i);
        names["seen by people"].push_back("instance " + std::string(to_string(status)));
    }
    for (int i = 0; i <= static_cast<int>(StepStatus::CompensationFailed); ++i) {
        const auto status = static_cast<StepStatus>(i);
        names["seen by people"].push_back("step " + std::string(to_string(status)));
    }
    for (int i = 0; i < static_cast<int>(Disturbance::Kind::Cancel); ++i) {
        names["fault"].emplace_back(to_string(static_cast<Disturbance::Kind>(i)));
    }
    names["fault"].emplace_back("step abroad");
    for (const char* request :
         {"cancel",
          "abort",
          "pause",
          "resume",
          "signal",
          "confirm",
          "reject",
          "requeue",
          "requeue with input",
          "requeue that skips",
          "export",
          "import"}) {
        names["request"].push_back(std::string(request) + " taken");
    }
    for (const std::string_view kind : kNodeKinds) {
        names["node"].emplace_back(kind);
    }
    return names;
}

}  // namespace

void Stats::count(Counts& counts, const std::map<std::string, int>& of_run) {
    for (const auto& [name, times] : of_run) {
        if (times == 0) continue;
        counts[name].times += static_cast<std::uint64_t>(times);
        ++counts[name].runs;
    }
}

void Stats::add(const Plan& plan, const RunResult& result) {
    ++runs_;
    instances_ += static_cast<std::uint64_t>(result.instances);
    calls_ += static_cast<std::uint64_t>(result.calls);
    events_ += static_cast<std::uint64_t>(result.events);
    short_ += result.events < kEventsOfShortRun;
    std::map<std::string, int> types;
    std::map<std::string, int> statuses;
    const auto size = result.evidence.size();
    for (auto i = size - static_cast<std::size_t>(result.instances); i < size; ++i) {
        ++statuses[result.evidence[i].status];
        for (const HistoryEntry& entry : result.evidence[i].history) ++types[entry.type];
    }
    std::map<std::string, int> behaviours;
    for (const auto& [handler, calls] : plan.scripts) {
        for (const Behaviour behaviour : calls) ++behaviours[std::string(to_string(behaviour))];
    }
    std::map<std::string, int> nodes;
    if (!plan.definition.rules) {
        count_nodes(definition_to_json(plan.definition).at("steps"), nodes);
    }
    count(groups_["history"], types);
    count(groups_["status at the end"], statuses);
    count(groups_["fault"], result.faults);
    count(groups_["request"], result.requests);
    count(groups_["seen by people"], result.seen);
    count(groups_["scripted call"], behaviours);
    count(groups_["node"], nodes);
}

std::string Stats::summary() const {
    const auto per_run = [this](std::uint64_t number) {
        return runs_ == 0 ? 0.0 : static_cast<double>(number) / static_cast<double>(runs_);
    };
    return fmt::format(
        "{} instances, {} calls of handlers ({:.1f} a run), {} events ({:.1f} a run; {:.1f} % of "
        "the runs have fewer than {})",
        instances_,
        calls_,
        per_run(calls_),
        events_,
        per_run(events_),
        100 * per_run(short_),
        kEventsOfShortRun
    );
}

std::string Stats::table() const {
    std::string text;
    for (const auto& [group, counts] : groups_) {
        text += fmt::format("{:24} {:>10} {:>10}\n", group, "times", "in runs");
        for (const auto& [name, count] : counts) {
            text += fmt::format("  {:22} {:10} {:10}\n", name, count.times, count.runs);
        }
    }
    return text;
}

std::vector<std::string> Stats::never() const {
    std::vector<std::string> missing;
    for (const auto& [group, names] : all_names()) {
        const auto counts = groups_.find(group);
        for (const std::string& name : names) {
            const bool is_there = counts != groups_.end() && counts->second.contains(name);
            if (!is_there) missing.push_back(group + ": " + name);
        }
    }
    return missing;
}

}  // namespace ebb::sim
