// `ebb show`: an instance, the cause of its trouble first.

#include <algorithm>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/failure_text.h"
#include "cli/fill.h"
#include "cli/instance_ref.h"
#include "cli/label_argument.h"
#include "cli/outline_text.h"
#include "cli/read_history.h"
#include "cli/text.h"
#include "cli/timeline.h"
#include "cli/trace_text.h"
#include "cli/watching.h"
#include "view/instance_json.h"

namespace ebb::cli {

namespace {

using Color = Style::Color;

constexpr int kTextMax = 200;
/// Lines of a terminal that a payload may fill.
constexpr int kPayloadLinesMax = 6;

bool is_over(const InstanceView& view) {
    return view.summary.finished_at != TimePoint{} || view.summary.status == InstanceStatus::Moved;
}

/// As wide as the terminal, or bounded if there is none.
int room_of(const Session& session, int margin) {
    const int columns = session.columns();
    return columns == 0 ? session.text_limit(kTextMax) : std::max(columns - margin, 20);
}

/// `✗ failed  order v3  9f3a12cd  3m ago, took 1.2s`
std::string title(Session& session, const InstanceView& view, Times times) {
    const InstanceSummary& summary = view.summary;
    const Style& style = session.out();
    std::string when = time_text(summary.created_at, session.now(), times);
    if (summary.finished_at != TimePoint{}) {
        when += ", took " + elapsed(summary.finished_at - summary.created_at);
    }
    return fmt::format(
        "{}  {}  {}  {}\n",
        style.signed_status(is_waiting(view) ? "waiting" : to_string(summary.status)),
        style.bold(fmt::format("{} v{}", one_line(summary.workflow), summary.version)),
        short_id(summary.id),
        style.dim(when)
    );
}

std::string paragraph(const Session& session, const std::string& text, Color color) {
    std::string all;
    for (const std::string& line : wrap(text, room_of(session, 4))) {
        all += "  " + session.out().paint(color, line) + "\n";
    }
    return all;
}

/// Commands with which an operator ends a wait, each one ready to be pasted into a shell.
std::vector<std::string> remedies(
    const WaitingFor& wait, const std::string& id, const NodeIndexByName& nodes
) {
    if (wait.kind == "decision") {
        const auto found = nodes.find(wait.node);
        const bool needs_role = found != nodes.end() && !found->second.roles.empty();
        const std::string role =
            needs_role ? " --role " + shell_word(found->second.roles.front()) : std::string();
        return {
            fmt::format("ebb decide {} confirm{}", id, role),
            fmt::format("ebb decide {} reject{}", id, role),
        };
    }
    if (wait.kind == "signal") return {fmt::format("ebb signal {} {}", id, shell_word(wait.what))};
    if (wait.kind != "operator") return {};
    if (wait.what == "rematch") {
        return {
            fmt::format("ebb rematch {}", id),
            fmt::format("ebb write {} --repair NAME=VALUE", id),
        };
    }
    if (wait.what == "write") return {fmt::format("ebb write {} --repair NAME=VALUE", id)};
    return {fmt::format("ebb {} {}", wait.what == "resume" ? "resume" : "requeue", id)};
}

/// Why it failed, and what it waits for.
std::string cause(Session& session, const InstanceView& view, const NodeIndexByName& nodes) {
    const Style& style = session.out();
    const InstanceSummary& summary = view.summary;
    std::string text;
    if (!view.error.empty()) {
        const bool was_asked = summary.status == InstanceStatus::Cancelled ||
                               summary.status == InstanceStatus::Aborted;
        text += paragraph(session, cause_text(view.error), was_asked ? Color::Yellow : Color::Red);
    }
    for (const WaitingFor& wait : view.waiting_for) {
        // What runs is in the timeline.
        if (wait.kind == "branches" || wait.kind == "handler") continue;
        std::string sentence = one_line(wait.sentence);
        if (wait.until != kNever) {
            if (sentence.ends_with('.')) sentence.pop_back();
            sentence += fmt::format(" ({}).", until_text(wait.until, session.now()));
        }
        text += paragraph(session, sentence, wait.kind == "worker" ? Color::Red : Color::Yellow);
        for (const std::string& todo : remedies(wait, short_id(summary.id), nodes)) {
            text += fmt::format("    {}{}\n", style.dim("> "), todo + session.db_option());
        }
    }
    return text;
}

std::string facts(Session& session, const InstanceView& view, Times times) {
    const InstanceSummary& summary = view.summary;
    const Style& style = session.out();
    std::string text;
    const int width = view.attributes.empty() ? 8 : 10;
    const auto add = [&](std::string_view name, const std::string& value) {
        if (value.empty()) return;
        const std::string line = fmt::format("  {}  {}", style.dim(pad(name, width)), value);
        text += fold(line, session.columns(), width + 4) + "\n";
    };
    const int columns = session.columns();
    const std::string_view ellipsis = style.glyphs().ellipsis;
    // A terminal gets whole lines of it.
    const int line = room_of(session, width + 4);
    const int room = columns == 0 ? line : kPayloadLinesMax * line;
    add("id", summary.id.to_string());
    add("key", one_line(summary.key));
    add("labels", labels_text(summary.labels));
    if (summary.priority != 0) add("priority", std::to_string(summary.priority));
    const Times absolute = times == Times::Utc ? Times::Utc : Times::Local;
    add("started", absolute_time(summary.created_at, absolute));
    if (summary.finished_at != TimePoint{}) {
        add("ended", absolute_time(summary.finished_at, absolute));
    }
    add("input", payload_text(view.input, room, ellipsis));
    add("attributes", payload_text(view.attributes, room, ellipsis));
    add("output", payload_text(view.output, room, ellipsis));
    return text;
}

/// The newest writes of an instance with rules.
std::string writes(Session& session, Client& client, const InstanceView& view, Times times) {
    constexpr std::ptrdiff_t kShownMax = 8;
    constexpr int kReadMax = 1'000;
    Engine* const engine = client.engine();
    if (view.attributes.empty() || engine == nullptr) return {};
    const InstanceSummary& summary = view.summary;
    auto entries = engine->trace(summary.id, 0, kReadMax);
    while (entries.size() == kReadMax) {
        auto more = engine->trace(summary.id, entries.back().seq, kReadMax);
        if (more.empty()) break;
        entries = std::move(more);
    }
    const auto left_out = std::ssize(entries) - kShownMax;
    if (left_out > 0) entries.erase(entries.begin(), entries.begin() + left_out);
    std::string text = "\n" + trace_table(session, entries, times, summary.created_at);
    if (left_out > 0) {
        text += session.out().dim(fmt::format(
            "Earlier writes: ebb trace {}{}\n", short_id(summary.id), session.db_option()
        ));
    }
    return text;
}

std::string picture(Session& session, const InstanceView& view, const ShowOptions& options) {
    Client& engine = session.connect("show");
    const auto definition = engine.definition(view.summary.workflow, view.summary.version);
    const NodeIndexByName nodes = index_nodes(*definition);
    std::string text = title(session, view, options.times) + cause(session, view, nodes) +
                       facts(session, view, options.times);
    if (view.steps.empty()) return text;
    const auto history = read_history(engine, view.summary.id, 0);
    const TimelineOptions timeline{
        .times = options.times,
        .with_payloads = options.with_payloads,
        .is_whole = options.is_whole,
    };
    text += "\n" + Timeline(session, view, nodes, history, timeline).text();
    return text + writes(session, engine, view, options.times);
}

int show_all(Session& session, Client& engine, const ShowOptions& options) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    std::string text;
    for (const InstanceId& id : resolve_instances(engine, options.instances)) {
        const InstanceView view = engine.show(id);
        if (session.options().is_json) {
            all.push_back(view::instance_json(view));
        } else {
            const std::string one = picture(session, view, options);
            text += (text.empty() ? "" : "\n") + one;
            text += session.cut_hint(one);
        }
    }
    if (!session.options().is_json) {
        session.print(text);
    } else {
        // One instance is one document, as it always was.
        session.print_json(all.size() == 1 ? all.front() : all);
    }
    return kOk;
}

}  // namespace

int show_instance(Session& session, const ShowOptions& options) {
    Client& engine = session.connect("show");
    if (!options.watches) return show_all(session, engine, options);
    const InstanceId id = resolve_instance(engine, options.instances.front());
    std::int64_t shown = -1;
    return watch(session, options.every, [&](Watched& watched) {
        const InstanceView view = engine.show(id);
        watched.is_over = is_over(view);
        // Off a terminal only what has changed is news.
        if (!session.streams().out.is_terminal && view.summary.revision == shown) return;
        shown = view.summary.revision;
        if (session.options().is_json) {
            session.print_json_line(view::instance_json(view));
        } else {
            watched.picture = picture(session, view, options);
        }
    });
}

}  // namespace ebb::cli
