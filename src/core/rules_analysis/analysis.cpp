#include "core/rules_analysis/analysis.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/rules_analysis/findings.h"

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

AnalysisReport analyze(const Definition& definition, const AnalysisOptions& options) {
    const Subject subject(definition);
    AnalysisReport report;
    if (!subject.is_small()) {
        report.is_complete = false;
        return report;
    }
    Notes notes;
    find_in_conditions(subject, notes);
    const Search search(subject, options.starts, options.limits);
    report.states = search.state_count();
    report.is_complete = search.is_complete();
    if (search.is_complete()) find_unreachable(subject, search, notes);
    if (!options.only_certain) find_traps(subject, search, notes);
    report.findings = notes.take();
    return report;
}

}  // namespace ebb::rules_analysis
