// `ebb wait` and `ebb why`.

#include <algorithm>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/failure_text.h"
#include "cli/instance_ref.h"
#include "cli/json_views.h"
#include "cli/text.h"

namespace ebb::cli {

namespace {

constexpr Duration kLookMin = std::chrono::milliseconds(20);
constexpr Duration kLookMax = std::chrono::seconds(1);

bool is_finished(const InstanceSummary& summary) {
    return summary.finished_at != TimePoint{};
}

/// Here nothing will happen to it any more: it ends elsewhere.
bool is_elsewhere(const InstanceSummary& summary) {
    return summary.status == "moved";
}

int tell_end(Session& session, const InstanceView& view) {
    if (session.options().is_json) {
        session.print_json(view_json(view));
    } else {
        session.print(session.out().status(view.summary.status) + "\n");
        if (!view.error.empty()) session.note(failure_text(view.error) + "\n");
    }
    if (is_elsewhere(view.summary)) {
        session.note("It was moved: it goes on elsewhere, from its snapshot.\n");
        return kRefused;
    }
    return is_finished(view.summary) ? exit_code_of_status(view.summary.status) : kTimeout;
}

}  // namespace

// Engine::wait would do the instance's timers here, as a worker does: who waits only looks.
int wait_for_instance(Session& session, const WaitOptions& options) {
    Engine& engine = session.client("wait");
    const InstanceId id = resolve_instance(engine, options.instance);
    Interrupts interrupts;
    const auto caught = session.streams().catch_signals(interrupts);
    const TimePoint begun = session.now();
    Duration pause = kLookMin;
    while (true) {
        const auto summary = engine.find(id);
        if (!summary || is_finished(*summary) || is_elsewhere(*summary)) {
            return tell_end(session, engine.show(id));
        }
        if (interrupts.count() > 0) return exit_code_of_signal(interrupts.first_signal());
        const Duration waited = session.now() - begun;
        if (waited >= options.timeout) {
            session.note(fmt::format(
                "ebb: {} has not ended within {} (timeout)\n",
                id.to_string(),
                elapsed(options.timeout)
            ));
            return tell_end(session, engine.show(id));
        }
        interrupts.wait(std::min(pause, options.timeout - waited));
        pause = std::min(pause * 2, kLookMax);
    }
}

int explain_instance(Session& session, const std::string& instance) {
    Engine& engine = session.client("why");
    const InstanceId id = resolve_instance(engine, instance);
    const std::string text = one_line(engine.why(id));
    if (session.options().is_json) {
        session.print_json({{"id", id.to_string()}, {"why", text}});
        return kOk;
    }
    if (session.columns() == 0) {
        session.print(text + "\n");
        return kOk;
    }
    for (const std::string& line : wrap(text, session.columns())) session.print(line + "\n");
    return kOk;
}

}  // namespace ebb::cli
