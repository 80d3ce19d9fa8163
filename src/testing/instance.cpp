#include <algorithm>
#include <ostream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/clock.h"
#include "testing/world_state.h"

namespace ebb::testing {

namespace {

std::string_view mark_of(StepStatus status) {
    switch (status) {
        case StepStatus::Completed:
            return "+";
        case StepStatus::Failed:
        case StepStatus::CompensationFailed:
            return "!";
        case StepStatus::Compensated:
        case StepStatus::Compensating:
            return "~";
        default:
            return ".";
    }
}

std::string line_of(const StepView& step, TimePoint start) {
    std::string at = "-";
    if (step.started_at != TimePoint{}) at = "+" + format_duration(step.started_at - start);
    std::string text = fmt::format(
        "  {} {:<20} {:<20} {}", mark_of(step.status), step.node, to_string(step.status), at
    );
    if (step.attempts > 1) text += fmt::format("  {} attempts", step.attempts);
    // A step that completed keeps the error of its last failed attempt.
    const bool has_failed = !step.error.empty() && step.status != StepStatus::Completed;
    const Payload& told = has_failed ? step.error : step.output;
    if (!told.empty()) text += "  " + told;
    return text + "\n";
}

[[noreturn]] void fail(
    const Instance& run, const std::string& what, const std::source_location& where
) {
    throw ExpectationFailed(
        fmt::format("{}:{}: {}\n{}", where.file_name(), where.line(), what, run.timeline())
    );
}

}  // namespace

Engine& Instance::engine() const {
    return world_->need_engine();
}

InstanceView Instance::show() const {
    return engine().show(id_);
}

InstanceStatus Instance::status() const {
    return show().summary.status;
}

std::string Instance::calls() const {
    std::vector<std::string> texts;
    for (const detail::Call& call : world_->calls.of(id_)) {
        texts.push_back(
            (call.is_compensation ? "~" : "") + call.step + (call.has_failed ? "!" : "")
        );
    }
    return fmt::format("{}", fmt::join(texts, " "));
}

std::string Instance::timeline() const {
    const InstanceView view = show();
    std::string text = fmt::format(
        "{} v{} is {}, input {}\n",
        view.summary.workflow,
        view.summary.version,
        to_string(view.summary.status),
        view.input
    );
    for (const StepView& step : view.steps) text += line_of(step, view.summary.created_at);
    for (const WaitingFor& wait : view.waiting_for) text += "  waits: " + wait.sentence + "\n";
    if (!view.error.empty()) text += "  error: " + view.error + "\n";
    return text + "  calls: " + calls() + "\n";
}

const Instance& Instance::poll() const {
    world_->poll();
    return *this;
}

const Instance& Instance::to_end() const {
    world_->run_until_idle();
    return *this;
}

const Instance& Instance::after(Duration duration) const {
    world_->advance_to(world_->clock.now() + duration);
    return *this;
}

const Instance& Instance::signal(std::string_view name, const Payload& payload) const {
    const int number = ++world_->signals;
    const std::string request = world_->makes_keys ? fmt::format("signal-{}", number) : "";
    world_->survive([&] { engine().signal(id_, name, payload, request); });
    return poll();
}

const Instance& Instance::decide(const PersonalDecision& decision) const {
    world_->survive([&] { engine().decide(id_, decision); });
    return poll();
}

const Instance& Instance::cancel(std::string_view by, std::string_view reason) const {
    world_->survive([&] { engine().cancel(id_, by, reason); });
    return poll();
}

const Instance& Instance::expect(InstanceStatus wanted, std::source_location where) const {
    const InstanceStatus found = status();
    if (found == wanted) return *this;
    const char* hint =
        world_->has_open_call() && !is_terminal(found)
            ? " An asynchronous call is open: complete it, then call poll(), or script the handler."
            : "";
    fail(
        *this,
        fmt::format("The instance is {}, not {}.{}", to_string(found), to_string(wanted), hint),
        where
    );
}

const Instance& Instance::expect_step(
    std::string_view step, StepStatus wanted, std::source_location where
) const {
    const InstanceView view = show();
    const auto found = std::find_if(view.steps.rbegin(), view.steps.rend(), [&](const auto& each) {
        return each.node == step;
    });
    if (found == view.steps.rend()) {
        fail(*this, fmt::format("The step \"{}\" was not reached.", step), where);
    }
    if (found->status == wanted) return *this;
    fail(
        *this,
        fmt::format(
            "The step \"{}\" is {}, not {}.", step, to_string(found->status), to_string(wanted)
        ),
        where
    );
}

const Instance& Instance::expect_calls(std::string_view wanted, std::source_location where) const {
    const std::string found = calls();
    if (found == wanted) return *this;
    fail(*this, fmt::format("The calls are \"{}\", not \"{}\".", found, wanted), where);
}

const Instance& Instance::expect_compensated(
    const std::vector<std::string>& wanted, std::source_location where
) const {
    std::vector<std::string> found;
    for (const detail::Call& call : world_->calls.of(id_)) {
        const bool is_undone = call.is_compensation && !call.has_failed;
        if (is_undone) found.push_back(call.step);
    }
    if (found == wanted) return *this;
    fail(
        *this,
        fmt::format(
            "The steps that were undone are \"{}\", not \"{}\".",
            fmt::join(found, " "),
            fmt::join(wanted, " ")
        ),
        where
    );
}

const Instance& Instance::expect_waiting(std::string_view node, std::source_location where) const {
    const InstanceView view = show();
    const bool is_waiting =
        std::ranges::any_of(view.waiting_for, [&](const auto& wait) { return wait.node == node; });
    if (is_waiting) return *this;
    fail(*this, fmt::format("The instance does not wait at \"{}\".", node), where);
}

void Instance::fail_output(const char* why, const std::source_location& where) const {
    fail(*this, fmt::format("The output of the instance is not of the asked type: {}", why), where);
}

std::ostream& operator<<(std::ostream& out, const Instance& run) {
    return out << run.timeline();
}

}  // namespace ebb::testing
