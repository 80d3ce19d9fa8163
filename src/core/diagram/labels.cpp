#include "core/diagram/labels.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace ebb::diagram {
namespace {

constexpr std::string_view kSeparator = "; ";

void append(std::string& text, std::string_view part) {
    if (part.empty()) return;
    if (!text.empty()) text += kSeparator;
    text += part;
}

std::string deadline_words(Duration deadline, std::string_view then) {
    if (deadline == Duration{0}) return {};
    return fmt::format("within {}, {}", short_duration(deadline), then);
}

struct Words {
    const std::string& name;

    std::string operator()(const Step& step) const {
        std::string text;
        if (!step.handler.empty() && step.handler != name) append(text, step.handler);
        if (!step.queue.empty() && step.queue != "default") append(text, "queue " + step.queue);
        if (step.non_idempotent) append(text, "once");
        return text;
    }

    std::string operator()(const Condition& condition) const { return condition.when; }

    std::string operator()(const Switch&) const { return "first case that is true"; }

    std::string operator()(const Parallel& parallel) const {
        if (parallel.join == 0) return fmt::format("all of {}", parallel.branches.size());
        return fmt::format("{} of {}", parallel.join, parallel.branches.size());
    }

    std::string operator()(const Loop& loop) const {
        std::string text = loop.until_expression.empty() ? "while " + loop.while_expression
                                                         : "until " + loop.until_expression;
        if (loop.max_iterations != Loop{}.max_iterations)
            append(text, fmt::format("at most {}", loop.max_iterations));
        return text;
    }

    std::string operator()(const Delay& delay) const {
        return delay.until.empty() ? delay.duration : "until " + delay.until;
    }

    std::string operator()(const HumanDecision& decision) const {
        std::string text = decision.quorum > 1 ? fmt::format("{} people", decision.quorum) : "";
        std::string roles;
        for (const std::string& role : decision.roles) roles += (roles.empty() ? "" : ", ") + role;
        if (!roles.empty()) text += (text.empty() ? "" : " of ") + roles;
        append(text, deadline_words(decision.deadline, deadline_outcome(decision)));
        return text.empty() ? "anyone" : text;
    }

    std::string operator()(const Signal& signal) const {
        std::string text = signal.signal == name ? "" : signal.signal;
        const bool goes_on = signal.on_deadline == Signal::OnDeadline::Continue;
        append(text, deadline_words(signal.deadline, goes_on ? "else go on" : "else fail"));
        return text;
    }

    std::string operator()(const Savepoint& savepoint) const {
        if (savepoint.on_rollback == Savepoint::OnRollback::Fail) return {};
        return fmt::format("resume at most {} times", savepoint.max_resumes);
    }

    std::string operator()(const Fail& fail) const { return fail.message; }

    std::string operator()(const NodeGraph&) const { return {}; }

    std::string operator()(const Sequence&) const { return {}; }

    static std::string_view deadline_outcome(const HumanDecision& decision) {
        switch (decision.on_deadline) {
            case HumanDecision::OnDeadline::Fail:
                return "else fail";
            case HumanDecision::OnDeadline::Confirm:
                return "else confirm";
            case HumanDecision::OnDeadline::Reject:
                return "else reject";
        }
        return {};
    }
};

}  // namespace

std::string short_duration(Duration duration) {
    using Unit = std::pair<std::int64_t, std::string_view>;
    static constexpr std::array<Unit, 6> kUnits{
        Unit{86'400'000'000, "d"},
        Unit{3'600'000'000, "h"},
        Unit{60'000'000, "m"},
        Unit{1'000'000, "s"},
        Unit{1'000, "ms"},
        Unit{1, "us"}
    };
    if (duration <= Duration{0}) return "0s";
    std::string text;
    std::int64_t rest = duration.count();
    for (const auto& [size, unit] : kUnits) {
        if (rest >= size) text += fmt::format("{}{}", rest / size, unit);
        rest %= size;
    }
    return text;
}

std::string join_words(const Parallel& parallel) {
    if (parallel.join == 0) return "all";
    if (parallel.join == 1) return "any";
    return fmt::format("{} of {}", parallel.join, parallel.branches.size());
}

std::string sublabel(const Node& node) {
    return std::visit(Words{node.name}, node.kind);
}

}  // namespace ebb::diagram
