#include "core/rules_analysis/analysis.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/rules_analysis/findings.h"
#include "core/rules_analysis/settling.h"

namespace ebb::rules_analysis {

void Notes::note(
    Diagnostic::Severity severity, std::string code, std::string path, std::string message
) {
    found_.push_back(
        {.code = std::move(code),
         .path = std::move(path),
         .message = std::move(message),
         .severity = severity}
    );
}

void Notes::relate(std::string message, std::string path) {
    found_.back().related.push_back({.message = std::move(message), .path = std::move(path)});
}

std::string trigger_path(std::size_t trigger) {
    return condition_path("triggers", trigger);
}

std::string condition_path(std::string_view list, std::size_t index) {
    return fmt::format("/rules/{}/{}/when", list, index);
}

std::string path_text(const Subject& subject, const Search& search, std::size_t state) {
    using Kind = Happening::Kind;
    std::string text;
    Values before = subject.defaults();
    for (const Search::Step& step : search.path_to(state)) {
        const AbstractState now = search.state(step.state);
        const std::string change = subject.text_of(now.values, before);
        before = now.values;
        const std::string name =
            step.how.trigger >= 0
                ? subject.triggers()[static_cast<std::size_t>(step.how.trigger)].name
                : std::string();
        const std::string written = change.empty() ? "changes nothing" : "writes " + change;
        std::string line;
        switch (step.how.kind) {
            case Kind::Start:
                line = change.empty() ? "start with the defaults" : "start with " + change;
                break;
            case Kind::Completed:
                line = fmt::format("\"{}\" {}", name, written);
                break;
            case Kind::Failed:
                line = name.empty() ? std::string("the handler of exceptions fails for good")
                                    : fmt::format("\"{}\" fails for good", name);
                break;
            case Kind::Outside:
                line = "an application " + written;
                break;
            case Kind::Handled:
                line = "the handler of exceptions " + written;
                break;
            case Kind::Time:
                line = fmt::format("the time of \"{}\" comes", name);
                break;
            case Kind::Resumed:
                line = "a rollback to a savepoint ends";
                break;
        }
        text += (text.empty() ? "" : "; ") + line;
    }
    return text;
}

namespace {

constexpr std::string_view kNarrower =
    "Narrow what can happen: give the inputs (--input), list values in `writes`, or take "
    "`external` from what no application writes.";

/// The attribute that the conditions compare with the most values.
std::string widest_attribute(const Subject& subject) {
    const auto& domains = subject.domains();
    const auto widest =
        std::ranges::max_element(domains, {}, [](const Domain& domain) { return domain.size(); });
    const auto at = static_cast<std::size_t>(widest - domains.begin());
    return fmt::format(
        "The conditions divide the values of \"{}\" into {} ranges; at most {} can be searched.",
        subject.rules().attributes[at].name,
        widest->size(),
        Subject::kRegionsMax
    );
}

std::string gap_text(const Subject& subject, const Search& search, const SearchLimits& limits) {
    switch (search.gap()) {
        case Search::Gap::None:
            return {};
        case Search::Gap::Regions:
            return widest_attribute(subject);
        case Search::Gap::Starts:
            return fmt::format(
                "Instances can start with more than {} kinds of inputs, so only those were "
                "searched that differ from the defaults in one attribute. {}",
                limits.starts_max,
                kNarrower
            );
        case Search::Gap::States:
            return fmt::format(
                "There are more than {} states, which is the limit (--states). {}",
                limits.states_max,
                kNarrower
            );
        case Search::Gap::Work:
            return fmt::format(
                "The search has taken {} steps from one state to another, which is its limit. {}",
                limits.work_max,
                kNarrower
            );
        case Search::Gap::Outcomes:
            return fmt::format(
                "One write can lead to too many states: more than {} triggers at once either have "
                "`mode: once` beside a savepoint, or conditions that are neither certainly true "
                "nor certainly false because they compare attributes with each other or use "
                "functions.",
                kUncertainMax
            );
    }
    return {};
}

bool has_lists(const Rules& rules) {
    return std::ranges::any_of(rules.triggers, [](const Trigger& trigger) {
        return trigger.writes && std::ranges::any_of(*trigger.writes, [](const auto& write) {
                   return !write.values.empty();
               });
    });
}

Definition without_lists(Definition definition) {
    for (Trigger& trigger : definition.rules->triggers) {
        if (!trigger.writes) continue;
        for (DeclaredWrite& write : *trigger.writes) write.values.clear();
    }
    return definition;
}

void find_what_is_unreachable(
    const Definition& definition,
    const Subject& subject,
    const Search& search,
    const AnalysisOptions& options,
    Notes& notes
) {
    const auto reaches_all = [&] {
        for (std::size_t i = 0; i < subject.trigger_count(); ++i) {
            if (!search.fires(i)) return false;
        }
        for (std::size_t i = 0; i < subject.finals().size(); ++i) {
            if (!search.completes(i)) return false;
        }
        return true;
    };
    if (reaches_all()) return;
    if (!has_lists(*definition.rules)) return find_unreachable(subject, search, nullptr, notes);
    const Subject free(without_lists(definition));
    const Search unlisted(free, options.starts, options.limits);
    find_unreachable(subject, search, &unlisted, notes);
}

}  // namespace

AnalysisReport analyze(const Definition& definition, const AnalysisOptions& options) {
    const Subject subject(definition);
    AnalysisReport report;
    const Search search(subject, options.starts, options.limits);
    report.gap = gap_text(subject, search, options.limits);
    if (!subject.is_small()) return report;
    Notes notes;
    find_in_conditions(subject, notes);
    report.states = search.state_count();
    if (search.is_complete()) find_what_is_unreachable(definition, subject, search, options, notes);
    if (!options.only_certain) find_traps(subject, search, notes);
    report.findings = notes.take();
    return report;
}

}  // namespace ebb::rules_analysis
