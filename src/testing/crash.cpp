// Crash everywhere: a scenario is played once undisturbed, and then once for each point at which a
// process can die.

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "support/json.h"
#include "testing/world_state.h"

namespace ebb::testing {

namespace {

using Kind = detail::CrashPlan::Kind;

struct Way {
    Kind kind;
    const char* what;
};

constexpr Way kWays[] = {
    {Kind::BeforeCall, "dies before"},
    {Kind::AfterCall, "dies after"},
    {Kind::ComesBack, "dies after, and comes back under its name,"},
};

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

CrashReport detail::crash_everywhere(
    const std::function<Payload(World&)>& scenario,
    const CrashOptions& options,
    const std::source_location& where
) {
    const CrashPlay undisturbed = CrashPlay::of(scenario, options.world, {});
    const auto place = fmt::format("{}:{}: ", where.file_name(), where.line());
    if (undisturbed.has_failed) {
        throw ExpectationFailed(place + "The scenario fails without any crash: " + undisturbed.end);
    }
    CrashReport report{.points = undisturbed.plan.seen};
    std::vector<std::string> differences;
    for (int point = 1; point <= report.points; ++point) {
        for (const Way& way : kWays) {
            const CrashPlay play =
                CrashPlay::of(scenario, options.world, {.kind = way.kind, .nth = point});
            ++report.plays;
            if (!play.has_failed && play.end == undisturbed.end) continue;
            differences.push_back(fmt::format(
                "If the process {} call {} of the store ({}):\n{}",
                way.what,
                point,
                verb_name(play.plan.verb),
                play.end
            ));
        }
    }
    if (differences.empty()) return report;
    const std::size_t count = differences.size();
    differences.resize(std::min(count, static_cast<std::size_t>(options.shown_max)));
    throw ExpectationFailed(fmt::format(
        "{}{} of {} plays with a crash end differently.\n{}Without a crash:\n{}",
        place,
        count,
        report.plays,
        fmt::join(differences, ""),
        undisturbed.end
    ));
}

}  // namespace ebb::testing
