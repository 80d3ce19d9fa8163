// `ebb queue`: what the queues do, and their limits.

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include <ebb/error.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/text.h"
#include "core/kernel/stored_program.h"
#include "store/store.h"
#include "support/clock.h"
#include "view/worker_json.h"

namespace ebb::cli {

namespace {

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::InvalidArgument, why);
}

std::optional<int> parse_number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    return is_number ? std::optional(value) : std::nullopt;
}

void change_number(const char* option, const std::string& text, std::optional<int>& target) {
    if (text.empty()) return;
    if (text == "none") {
        target.reset();
        return;
    }
    const auto number = parse_number(text);
    if (!number) {
        refuse(
            fmt::format("{}: \"{}\" is neither a whole number nor `none`.", option, one_line(text))
        );
    }
    target = number;
}

void change_rate(const std::string& text, std::optional<QueueRate>& target) {
    if (text.empty()) return;
    if (text == "none") {
        target.reset();
        return;
    }
    const std::size_t slash = text.find('/');
    const auto starts = parse_number(std::string_view(text).substr(0, slash));
    const auto period = slash == std::string::npos
                            ? std::nullopt
                            : parse_duration(std::string_view(text).substr(slash + 1));
    if (!starts || !period) {
        refuse(fmt::format(
            "--rate: \"{}\" is neither `none` nor starts in a time, such as 100/1m or 5/1s.",
            one_line(text)
        ));
    }
    target = QueueRate{*starts, *period};
}

std::string rate_text(const QueueRate& rate) {
    return fmt::format("{}/{}", rate.starts, format_duration(rate.period));
}

/// `2 of 4`, `2` without a limit.
std::string use_text(std::int64_t used, const std::optional<int>& limit) {
    return limit ? fmt::format("{} of {}", used, *limit) : "-";
}

void print_queues(Session& session, const std::vector<QueueView>& views) {
    const Style& style = session.out();
    Table table({
        style.dim("QUEUE"),
        style.dim("RUNNING"),
        style.dim("WAITING"),
        style.dim("SLEEPING"),
        style.dim("SLOTS"),
        style.dim("PER KEY"),
        style.dim("RATE"),
    });
    for (const QueueView& view : views) {
        const QueueLimits& limits = view.limits;
        table.add({
            view.name,
            std::to_string(view.running),
            std::to_string(view.waiting),
            std::to_string(view.sleeping),
            use_text(view.slots, limits.concurrency),
            limits.concurrency_per_key ? std::to_string(*limits.concurrency_per_key) : "-",
            limits.rate ? fmt::format("{} of {}", view.starts, rate_text(*limits.rate)) : "-",
        });
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
}

std::vector<QueueView> find_queues(Client& engine, const std::string& name) {
    std::vector<QueueView> views = engine.queues();
    if (name.empty()) return views;
    std::erase_if(views, [&](const QueueView& view) { return view.name != name; });
    // A queue exists as soon as a workflow names it.
    if (views.empty()) views.push_back({.name = name, .limits = {}});
    return views;
}

/// Whether some registered workflow has a step in this queue, so that it is only empty now.
bool is_used(Client& engine, const std::string& name) {
    if (name == "default") return true;
    for (const WorkflowRow& row : engine.workflows().rows) {
        try {
            const auto program = compile_stored(*engine.definition(row.name, row.version));
            const auto& nodes = program->nodes();
            const auto is_in = [&](const ProgramNode& node) { return node.queue == name; };
            if (std::any_of(nodes.begin(), nodes.end(), is_in)) return true;
        } catch (const Error& error) {
            // What this program cannot read may use any queue.
            if (error.code() == ErrorCode::CorruptState) return true;
            throw;
        }
    }
    return false;
}

void require_queue(Client& engine, const std::string& name) {
    std::vector<std::string> names;
    for (const QueueView& view : engine.queues()) names.push_back(view.name);
    const bool is_known = std::find(names.begin(), names.end(), name) != names.end();
    if (is_known || is_used(engine, name)) return;
    const std::string meant = closest(name, names);
    refuse(fmt::format(
        "There is no queue \"{}\": it has no tasks and no limits, and no registered workflow uses "
        "it.{}",
        one_line(name),
        meant.empty() ? "" : fmt::format(" Did you mean \"{}\"?", meant)
    ));
}

int show_queues(Session& session, Client& engine, const std::string& name) {
    const std::vector<QueueView> views = find_queues(engine, name);
    if (session.options().is_json) {
        nlohmann::ordered_json json = nlohmann::ordered_json::array();
        for (const QueueView& view : views) json.push_back(view::queue_json(view));
        session.print_json(name.empty() ? json : json.front());
    } else if (views.empty()) {
        session.note("No queue has limits or tasks.\n");
    } else {
        print_queues(session, views);
    }
    return kOk;
}

}  // namespace

int manage_queues(Session& session, const QueueOptions& options) {
    const bool is_change = options.action == "set" || options.action == "clear";
    const bool has_limits = !options.concurrency.empty() || !options.concurrency_per_key.empty() ||
                            !options.rate.empty();
    if (options.action != "list" && options.name.empty()) {
        refuse(fmt::format("`ebb queue {}` needs the name of a queue.", options.action));
    }
    if (options.action == "set" && !has_limits) {
        refuse("There is nothing to set: add --concurrency, --concurrency-per-key or --rate.");
    }
    if (options.action != "set" && has_limits) {
        refuse(fmt::format("Limits are given to `ebb queue set`, not to {}.", options.action));
    }
    Client& engine = session.connect("queue");
    if (options.action == "show" || options.action == "clear") {
        require_queue(engine, options.name);
    }
    if (!is_change) return show_queues(session, engine, options.name);
    QueueLimits limits;
    if (options.action == "set") {
        limits = find_queues(engine, options.name).front().limits;
        change_number("--concurrency", options.concurrency, limits.concurrency);
        change_number(
            "--concurrency-per-key", options.concurrency_per_key, limits.concurrency_per_key
        );
        change_rate(options.rate, limits.rate);
    }
    engine.set_queue(options.name, limits);
    return show_queues(session, engine, options.name);
}

}  // namespace ebb::cli
