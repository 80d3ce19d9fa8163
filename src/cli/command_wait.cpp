// `ebb wait` and `ebb why`.

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/failure_text.h"
#include "cli/instance_ref.h"
#include "cli/patience.h"
#include "cli/text.h"
#include "cli/waiting.h"
#include "view/instance_json.h"

namespace ebb::cli {

namespace {

constexpr Duration kLookMin = std::chrono::milliseconds(20);
constexpr Duration kLookMax = std::chrono::seconds(1);

bool is_finished(const InstanceSummary& summary) {
    return summary.finished_at != TimePoint{};
}

/// Nothing more will happen to the instance here, because it ends elsewhere.
bool is_elsewhere(const InstanceSummary& summary) {
    return summary.status == InstanceStatus::Moved;
}

int tell_end(Session& session, const InstanceView& view) {
    if (session.options().is_json) {
        session.print_json(view::instance_json(view));
    } else {
        session.print(session.out().status(view.summary.status) + "\n");
        if (!view.error.empty()) session.note(cause_text(view.error) + "\n");
    }
    if (is_elsewhere(view.summary)) {
        session.note("It was moved: it continues elsewhere, from its snapshot.\n");
        return kRefused;
    }
    return is_finished(view.summary) ? exit_code_of_status(view.summary.status) : kTimeout;
}

// Engine::wait would process the instance's timers here, as a worker does. This command must only
// look.
class WaitForEnd {
 public:
    WaitForEnd(Session& session, Client& engine, const InstanceId& id, Duration timeout)
        : session_(session),
          engine_(engine),
          id_(id),
          timeout_(timeout),
          begun_(session.now()),
          patience_([&session](const std::string& text) { session.note(text + "\n"); }) {}

    int go() {
        const auto caught = session_.streams().catch_signals(interrupts_);
        Duration pause = kLookMin;
        while (true) {
            const bool is_reached = patience_.reach([this] { look(); });
            if (view_ && is_over()) return tell_end(session_, *view_);
            if (interrupts_.count() > 0) return tell_interrupted();
            const Duration left = timeout_ - (session_.now() - begun_);
            if (left <= Duration::zero()) return tell_timeout();
            interrupts_.wait(std::min(is_reached ? pause : patience_.pause(), left));
            if (is_reached) pause = std::min(pause * 2, kLookMax);
        }
    }

 private:
    /// The whole view costs more than the summary: it is read once, at the end.
    void look() {
        const auto summary = engine_.find(id_);
        const bool goes_on = summary && !is_finished(*summary) && !is_elsewhere(*summary);
        if (!goes_on) view_ = engine_.show(id_);
    }

    bool is_over() const { return is_finished(view_->summary) || is_elsewhere(view_->summary); }

    int tell_timeout() {
        const std::string late =
            fmt::format("{} has not ended within {}", id_.to_string(), elapsed(timeout_));
        if (patience_.reach([this] { view_ = engine_.show(id_); })) {
            if (is_over()) return tell_end(session_, *view_);
            tell_end(session_, *view_);
            return complain(
                session_,
                {.exit_code = kTimeout,
                 .code = "timeout",
                 .message = late + ".",
                 .hint = fmt::format(
                     "`ebb why {}{}` says what it waits for", id_.to_string(), session_.db_option()
                 )}
            );
        }
        const std::string message = fmt::format(
            "{}, as far as is known, since the database is out of reach: {}",
            late,
            patience_.failure()->what()
        );
        return tell_left_alone(
            session_, id_, {.exit_code = kTimeout, .code = "timeout", .message = message}
        );
    }

    int tell_interrupted() {
        return tell_left_alone(
            session_,
            id_,
            {.exit_code = exit_code_of_signal(interrupts_.first_signal()),
             .code = "interrupted",
             .message = "The wait was interrupted."}
        );
    }

    Session& session_;
    Client& engine_;
    InstanceId id_;
    Duration timeout_;
    TimePoint begun_;
    Interrupts interrupts_;
    Patience patience_;
    std::optional<InstanceView> view_;
};

}  // namespace

int wait_for_instance(Session& session, const WaitOptions& options) {
    Client& engine = session.connect("wait");
    return wait_for_end(
        session, engine, resolve_instance(engine, options.instance), options.timeout
    );
}

int wait_for_end(Session& session, Client& engine, const InstanceId& id, Duration timeout) {
    try {
        return WaitForEnd(session, engine, id, timeout).go();
    } catch (const Error& error) {
        if (error.code() == ErrorCode::InstanceNotFound) throw;
        return tell_left_alone(session, id, error);
    }
}

int tell_left_alone(Session& session, const InstanceId& id, const Complaint& why) {
    const std::string of = id.to_string() + session.db_option();
    const std::string message =
        fmt::format("{} The instance {} is kept as it is.", why.message, id.to_string());
    const std::string hint =
        fmt::format("`ebb wait {0}` waits for its end, `ebb run --resume {0}` continues it", of);
    return complain(
        session, {.exit_code = why.exit_code, .code = why.code, .message = message, .hint = hint}
    );
}

int tell_left_alone(Session& session, const InstanceId& id, const Error& why) {
    const Complaint complaint{
        .exit_code = exit_code_of(why.code()),
        .code = to_string(why.code()),
        .message = why.what(),
    };
    return tell_left_alone(session, id, complaint);
}

int explain_instances(Session& session, const std::vector<std::string>& instances) {
    Client& engine = session.connect("why");
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    const int columns = session.columns() == 0 ? 1'000'000 : session.columns();
    const std::vector<InstanceId> ids = resolve_instances(engine, instances);
    for (const InstanceId& id : ids) {
        const std::string text = one_line(engine.why(id));
        if (session.options().is_json) {
            all.push_back({{"id", id.to_string()}, {"why", text}});
            continue;
        }
        const std::string name = ids.size() > 1 ? short_id(id) + "  " : "";
        for (const std::string& line : wrap(name + text, columns)) session.print(line + "\n");
    }
    if (session.options().is_json) session.print_json(all.size() == 1 ? all.front() : all);
    for (const std::string& notice : engine.notices()) session.note(one_line(notice) + "\n");
    return kOk;
}

}  // namespace ebb::cli
