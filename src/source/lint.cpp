#include "source/lint.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/model/walk.h"
#include "core/model/words.h"
#include "core/rules_analysis/analysis.h"
#include "support/clock.h"

namespace ebb::source {

namespace {

constexpr std::string_view kAllow = "# ebb: allow ";

/// Between the attempts, at the least: without jitter, and if each attempt took no time at all.
Duration total_delay(const AttemptPolicy& attempts) {
    double total = 0;
    for (int retry = 1; retry < attempts.max_attempts; ++retry) {
        total += static_cast<double>(delay_before(attempts.backoff, retry).count());
    }
    const auto most = static_cast<double>(DefinitionLimits::kDurationMax.count());
    return Duration(static_cast<Duration::rep>(std::min(total, most)));
}

/// The handlers that run a program for as long as it likes. A call over HTTP always has a timeout.
std::set<std::string, std::less<>> programs_without_timeout(const Definition& definition) {
    std::set<std::string, std::less<>> names;
    for (const auto& [name, text] : definition.handlers) {
        const Json spec = Json::parse(text, nullptr, false);
        if (spec.is_object() && spec.contains("exec") && !spec.contains("timeout")) {
            names.insert(name);
        }
    }
    return names;
}

class Linter {
 public:
    Linter(const Definition& definition, std::string_view text)
        : definition_(definition),
          allowed_(allowed_codes(text)),
          unlimited_(programs_without_timeout(definition)) {}

    std::vector<Diagnostic> run() {
        const model::Walk walk(definition_);
        for (const model::Placed& placed : walk.nodes()) {
            const Node& node = *placed.node;
            if (const auto* step = std::get_if<Step>(&node.kind)) {
                check(*step, node, placed.path);
                check_limits(*step, node, placed.path);
            }
            if (const auto* choice = std::get_if<Switch>(&node.kind)) check(*choice, placed.path);
            const auto* signal = std::get_if<Signal>(&node.kind);
            const auto* decision = std::get_if<HumanDecision>(&node.kind);
            const bool waits = (signal != nullptr && signal->deadline == Duration::zero()) ||
                               (decision != nullptr && decision->deadline == Duration::zero());
            if (waits && definition_.deadline == Duration::zero()) check_wait(node, placed.path);
        }
        if (definition_.rules) check_rules();
        return std::move(found_);
    }

 private:
    const Definition& definition_;
    std::set<std::string, std::less<>> allowed_;
    std::set<std::string, std::less<>> unlimited_;  ///< handlers that were not reported yet
    std::vector<Diagnostic> found_;

    void note(std::string_view code, std::string path, std::string message) {
        if (allowed_.contains(code)) return;
        found_.push_back(
            {.code = std::string(code),
             .path = std::move(path),
             .message = std::move(message),
             .severity = Diagnostic::Severity::Warning}
        );
    }

    /// An editor calls this at every change, so it stays small.
    void check_rules() {
        constexpr std::size_t kStatesMax = 2'000;
        constexpr std::size_t kWorkMax = 20'000;
        rules_analysis::AnalysisOptions options;
        options.limits = {.states_max = kStatesMax, .work_max = kWorkMax, .starts_max = kStatesMax};
        options.only_certain = true;
        for (Diagnostic& found : rules_analysis::analyze(definition_, options).findings) {
            // A lint is valid: `ebb rules check` says which ones are errors.
            found.severity = Diagnostic::Severity::Warning;
            if (!allowed_.contains(found.code)) found_.push_back(std::move(found));
        }
    }

    void check_wait(const Node& node, const std::string& path) {
        const std::string_view kind = kind_name(node);
        note(
            "unbounded_wait",
            fmt::format("{}/{}", path, kind),
            fmt::format(
                "The {} {} waits without a limit: give it a \"deadline\", or give the workflow "
                "one.",
                kind,
                model::in_quotes(node.name)
            )
        );
    }

    /// A call of a program that never ends would never be noticed.
    void check_limits(const Step& step, const Node& node, const std::string& path) {
        check_limit(step.handler.empty() ? node.name : step.handler, step.attempts, path + "/step");
        if (!step.compensate) return;
        check_limit(step.compensate->handler, step.compensate->attempts, path + "/compensate");
    }

    /// Once for each handler: its first call.
    void check_limit(
        const std::string& handler, const AttemptPolicy& attempts, const std::string& path
    ) {
        const bool is_limited = attempts.timeout > Duration::zero() ||
                                attempts.step_timeout > Duration::zero() ||
                                definition_.deadline > Duration::zero();
        if (is_limited || !unlimited_.contains(handler)) return;
        unlimited_.erase(handler);
        note(
            "never_times_out",
            path,
            fmt::format(
                "Nothing limits how long the program of {} runs: give its entry in \"handlers\" or "
                "the step a \"timeout\", or give the workflow a \"deadline\".",
                model::in_quotes(handler)
            )
        );
    }

    void check(const Step& step, const Node& node, const std::string& path) {
        const Duration delays = total_delay(step.attempts);
        const Duration own = step.attempts.step_timeout;
        const Duration whole = definition_.deadline;
        const bool is_own = own > Duration::zero() && delays >= own;
        const bool is_whole = whole > Duration::zero() && delays >= whole;
        if (!is_own && !is_whole) return;
        note(
            "retries_exceed_deadline",
            fmt::format("{}/step", path),
            fmt::format(
                "The delays between the {} attempts of {} add up to {} or more, but {} is {}: the "
                "last attempts never happen.",
                step.attempts.max_attempts,
                model::in_quotes(node.name),
                format_duration(delays),
                is_own ? "\"step_timeout\"" : "the workflow's \"deadline\"",
                format_duration(is_own ? own : whole)
            )
        );
    }

    void check(const Switch& choice, const std::string& path) {
        std::map<std::string_view, std::size_t> seen;
        for (std::size_t i = 0; i < choice.cases.size(); ++i) {
            const std::string& when = choice.cases[i].when;
            const auto [first, is_first] = seen.emplace(when, i);
            if (is_first || when.empty()) continue;
            note(
                "shadowed_case",
                fmt::format("{}/cases/{}/when", path, i),
                "This case is never taken: an earlier case has the same condition."
            );
            found_.back().related.push_back(
                {.message = "The earlier case is here.",
                 .path = fmt::format("{}/cases/{}/when", path, first->second)}
            );
        }
    }
};

}  // namespace

Duration delay_before(const Backoff& backoff, int retry) {
    const auto initial = static_cast<double>(backoff.initial.count());
    double delay = initial;
    if (backoff.strategy == Backoff::Strategy::Linear) delay = initial * retry;
    if (backoff.strategy == Backoff::Strategy::Exponential) {
        delay = initial * std::pow(backoff.factor, retry - 1);
    }
    return Duration(
        static_cast<Duration::rep>(std::min(delay, static_cast<double>(backoff.max.count())))
    );
}

std::set<std::string, std::less<>> allowed_codes(std::string_view text) {
    std::set<std::string, std::less<>> allowed;
    for (std::size_t at = text.find(kAllow); at != std::string_view::npos;
         at = text.find(kAllow, at + 1)) {
        std::string_view rest = text.substr(at + kAllow.size());
        rest = rest.substr(0, rest.find('\n'));
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find_first_of(" ,\t\r"), rest.size());
            if (end > 0) allowed.emplace(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    return allowed;
}

std::vector<Diagnostic> lint(const Definition& definition, std::string_view text) {
    return Linter(definition, text).run();
}

}  // namespace ebb::source
