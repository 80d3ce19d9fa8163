// Crash everywhere: a scenario is played once undisturbed, and then once for each point at which a
// process can die, and for each call of a handler that can go wrong.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "support/json.h"
#include "testing/world_state.h"

namespace ebb::testing {

namespace {

using Kind = detail::CrashPlan::Kind;

constexpr Kind kDeaths[] = {Kind::BeforeCall, Kind::AfterCall, Kind::ComesBack};
constexpr Kind kFaults[] = {Kind::CallFails, Kind::AnswerLost};

std::string_view verb_name(StoreVerb verb) {
    switch (verb) {
        case StoreVerb::RegisterWorkflow:
            return "register";
        case StoreVerb::Start:
            return "start";
        case StoreVerb::Claim:
        case StoreVerb::ClaimLimited:
            return "claim";
        case StoreVerb::Commit:
            return "commit";
        case StoreVerb::Heartbeat:
            return "heartbeat";
        case StoreVerb::Maintain:
            return "maintain";
        default:
            return "other";
    }
}

/// What went wrong, as the condition of a sentence.
std::string text_of(const detail::CrashPlan& plan) {
    const auto death = [&](std::string_view how) {
        return fmt::format(
            "If the process {} call {} of the store ({})", how, plan.nth, verb_name(plan.verb)
        );
    };
    switch (plan.kind) {
        case Kind::BeforeCall:
            return death("dies before");
        case Kind::AfterCall:
            return death("dies after");
        case Kind::ComesBack:
            return death("dies after, and comes back under its name,");
        case Kind::CallFails:
            return fmt::format("If call {} of a handler ({}) fails", plan.nth, plan.step);
        case Kind::AnswerLost:
            return fmt::format(
                "If call {} of a handler ({}) succeeds, but its answer is lost", plan.nth, plan.step
            );
        case Kind::None:
            break;
    }
    return "If nothing goes wrong";
}

/// The effects that are left, and those that were undone, without the names of instances.
std::string text_of_effects(const std::vector<Effect>& effects, const InstanceId& id) {
    std::vector<std::string> left;
    for (const Effect& effect : effects) {
        if (effect.instance != id) continue;
        left.push_back(effect.step + (effect.is_undone ? " (undone)" : ""));
    }
    // Side by side, branches may end in another order after a crash.
    std::sort(left.begin(), left.end());
    return fmt::format("{}", fmt::join(left, ", "));
}

std::string text_of(World& world, const InstanceView& view) {
    const Json error = Json::parse(view.error, nullptr, false);
    const std::string code = error.is_object() ? error.value("code", "") : "";
    return fmt::format(
        "{}: {}{}{}; effects: {}\n",
        view.summary.workflow,
        to_string(view.summary.status),
        code.empty() ? "" : " with " + code,
        view.output.empty() ? "" : ", output " + view.output,
        text_of_effects(world.effects(), view.summary.id)
    );
}

/// Ids differ in each play. An output may contain them, for example in an idempotency key.
std::string with_numbers_for_ids(std::string text, const std::vector<InstanceId>& started) {
    for (std::size_t i = 0; i < started.size(); ++i) {
        const std::string id = started[i].to_string();
        const std::string number = fmt::format("INSTANCE-{}", i + 1);
        for (std::size_t at = text.find(id); at != std::string::npos; at = text.find(id, at)) {
            text.replace(at, id.size(), number);
        }
    }
    return text;
}

}  // namespace

namespace detail {

/// One play of the scenario.
struct CrashPlay {
    /// How everything ended, as text.
    std::string end{};
    CrashPlan plan{};
    bool has_failed = false;  ///< `end` says why

    static CrashPlay of(
        const std::function<Payload(World&)>& scenario, const WorldOptions& options, CrashPlan plan
    ) {
        CrashPlay play;
        World world(options);
        WorldState& state = *world.state_;
        state.plan = plan;
        state.makes_keys = true;
        try {
            const Payload result = scenario(world);
            for (const InstanceId& id : state.started) {
                play.end += text_of(world, state.need_engine().show(id));
            }
            if (!result.empty()) play.end += "returned " + result + "\n";
            play.end = with_numbers_for_ids(std::move(play.end), state.started);
        } catch (const std::exception& error) {
            play.has_failed = true;
            play.end = error.what();
        } catch (const ProcessDied&) {
            play.has_failed = true;
            play.end =
                "The process died within a call of World::engine(). Use the functions of World and "
                "Instance, which repeat a call as a client would.";
        }
        play.plan = state.plan;
        return play;
    }
};

}  // namespace detail

namespace {

/// All plays of one scenario, compared with the undisturbed one.
class Plays {
 public:
    Plays(const std::function<Payload(World&)>& scenario, const CrashOptions& options)
        : scenario_(scenario),
          options_(options),
          undisturbed_(detail::CrashPlay::of(scenario, options.world, {})) {
        report_.points = undisturbed_.plan.seen;
        report_.calls = undisturbed_.plan.calls;
    }

    const detail::CrashPlay& undisturbed() const { return undisturbed_; }

    void play(std::span<const Kind> kinds, int points) {
        for (int point = 1; point <= points; ++point) {
            for (const Kind kind : kinds) play({.kind = kind, .nth = point});
        }
    }

    const CrashReport& report() const { return report_; }

    /// Empty if all plays ended alike.
    std::string difference() const {
        if (differences_.empty()) return {};
        const auto shown =
            std::min(differences_.size(), static_cast<std::size_t>(options_.shown_max));
        return fmt::format(
            "{} of {} plays with a crash or a failed call end differently.\n{}Undisturbed:\n{}",
            differences_.size(),
            report_.plays,
            fmt::join(differences_.begin(), differences_.begin() + std::ptrdiff_t(shown), ""),
            undisturbed_.end
        );
    }

 private:
    void play(detail::CrashPlan plan) {
        const auto play = detail::CrashPlay::of(scenario_, options_.world, std::move(plan));
        ++report_.plays;
        if (!play.has_failed && play.end == undisturbed_.end) return;
        differences_.push_back(fmt::format("{}:\n{}", text_of(play.plan), play.end));
    }

    const std::function<Payload(World&)>& scenario_;
    const CrashOptions& options_;
    const detail::CrashPlay undisturbed_;
    CrashReport report_{};
    std::vector<std::string> differences_;
};

}  // namespace

CrashReport detail::crash_everywhere(
    const std::function<Payload(World&)>& scenario,
    const CrashOptions& options,
    const std::source_location& where
) {
    const auto place = fmt::format("{}:{}: ", where.file_name(), where.line());
    Plays plays(scenario, options);
    if (plays.undisturbed().has_failed) {
        throw ExpectationFailed(
            place + "The scenario fails without any crash: " + plays.undisturbed().end
        );
    }
    plays.play(kDeaths, plays.report().points);
    if (options.fails_calls) plays.play(kFaults, plays.report().calls);
    const std::string difference = plays.difference();
    if (!difference.empty()) throw ExpectationFailed(place + difference);
    return plays.report();
}

}  // namespace ebb::testing
