// How long instances are kept, as operators set it, and what deletes the others at once.

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "call/request.h"
#include "engine/core.h"
#include "support/clock.h"

namespace ebb {

namespace {

constexpr int kPage = 1'000;

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::InvalidArgument, why);
}

bool is_name_character(char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    return is_letter || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

void check_workflow(std::string_view name) {
    if (name == kOtherWorkflows) return;
    const bool fits = !name.empty() && name.size() <= DefinitionLimits::kNameBytesMax &&
                      std::all_of(name.begin(), name.end(), is_name_character) &&
                      std::string_view("0123456789.-").find(name.front()) == name.npos;
    if (fits) return;
    refuse(fmt::format(
        "\"{}\" is not a valid name of a workflow: a name has 1 to {} letters, digits, `_`, `.` "
        "and `-` and begins with a letter or `_`. `*` stands for all workflows without a rule of "
        "their own.",
        clean_name(name.substr(0, DefinitionLimits::kNameBytesMax)),
        DefinitionLimits::kNameBytesMax
    ));
}

void check_kept(std::string_view what, const std::optional<Duration>& kept) {
    if (!kept || (*kept >= Retention::kMin && *kept <= Retention::kMax)) return;
    refuse(fmt::format(
        "Instances that {} cannot be kept for {}: it goes from {} to {}, or forever.",
        what,
        *kept < Duration::zero() ? "less than no time" : format_duration(*kept),
        format_duration(Retention::kMin),
        format_duration(Retention::kMax)
    ));
}

/// The rules by which `options` purges.
std::vector<RetentionRule> rules_for(Store& store, const PurgeOptions& options) {
    const std::string workflow =
        options.workflow.empty() ? std::string(kOtherWorkflows) : options.workflow;
    if (options.older_than) {
        return {
            {.workflow = workflow,
             .keep = {.completed = options.older_than, .failed = options.older_than}}
        };
    }
    std::vector<RetentionRule> rules = store.retention();
    if (options.workflow.empty()) return rules;
    // Its own, or else that of all others as its own.
    std::erase_if(rules, [&](const RetentionRule& rule) {
        return rule.workflow != workflow && rule.workflow != kOtherWorkflows;
    });
    std::stable_partition(rules.begin(), rules.end(), [&](const RetentionRule& rule) {
        return rule.workflow == workflow;
    });
    if (rules.size() > 1) rules.resize(1);
    for (RetentionRule& rule : rules) rule.workflow = workflow;
    return rules;
}

void check_purge_options(Store& store, const PurgeOptions& options) {
    if (!options.workflow.empty()) {
        check_workflow(options.workflow);
        if (options.workflow == kOtherWorkflows) refuse("Without a workflow, all are purged.");
        if (!store.find_workflow(options.workflow, std::nullopt)) {
            throw Error(
                ErrorCode::WorkflowNotFound,
                fmt::format("There is no workflow \"{}\".", options.workflow)
            );
        }
    }
    if (!options.older_than) return;
    if (*options.older_than >= Duration::zero() && *options.older_than <= Retention::kMax) return;
    refuse(fmt::format(
        "The age is not allowed: it must be from 0s to {}.", format_duration(Retention::kMax)
    ));
}

/// What has been purged so far, by workflow and status.
class Tally {
 public:
    void add(const std::vector<StatusCount>& purged) {
        for (const StatusCount& count : purged) {
            counts_[{count.workflow, count.status}] += count.count;
        }
    }

    PurgeReport report() const {
        PurgeReport report;
        for (const auto& [key, count] : counts_) {
            report.instances += count;
            report.counts.push_back({key.first, std::string(to_string(key.second)), count});
        }
        return report;
    }

 private:
    std::map<std::pair<std::string, InstanceStatus>, std::int64_t> counts_;
};

}  // namespace

std::vector<RetentionRule> Engine::retention() {
    return core_->environment.store.retention();
}

void Engine::set_retention(std::string_view workflow, const Retention& keep) {
    check_workflow(workflow);
    check_kept("have completed", keep.completed);
    check_kept("have not completed", keep.failed);
    core_->environment.store.set_retention(
        {.workflow = std::string(workflow), .keep = keep, .updated_at = core_->environment.now()}
    );
}

bool Engine::clear_retention(std::string_view workflow) {
    check_workflow(workflow);
    return core_->environment.store.clear_retention(workflow);
}

PurgeReport Engine::purge(const PurgeOptions& options) {
    Store& store = core_->environment.store;
    check_purge_options(store, options);
    PurgeRequest request{
        .rules = rules_for(store, options),
        .after = {},
        .limit = kPage,
        .only_counts = options.only_counts,
    };
    if (request.rules.empty()) {
        refuse(
            "There is no retention rule, so nothing can be purged: set a rule, or say how old the "
            "instances must be."
        );
    }
    Tally tally;
    while (true) {
        const PurgeResult page = store.purge(request);
        tally.add(page.purged);
        if (page.is_end) return tally.report();
        request.after = page.last;
        PurgeReport report = tally.report();
        if (options.on_progress && !options.on_progress(report)) {
            report.is_finished = false;
            return report;
        }
    }
}

}  // namespace ebb
