#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/event_text.h"
#include "cli/failure_text.h"
#include "cli/instance_ref.h"
#include "cli/patience.h"
#include "cli/read_history.h"
#include "cli/table.h"
#include "cli/text.h"
#include "support/terminal.h"
#include "view/instance_json.h"

namespace ebb::cli {

namespace {

/// The names of the parallel blocks of an instance. A path has the numbers of their scopes, in the
/// order in which they were opened.
class BlockNames {
 public:
    /// Must see all events, in their order.
    void read(const HistoryEntry& event) {
        if (event.type == "scope_opened") names_.push_back(event.node);
    }

    /// `2:pay` becomes `prepare:pay`.
    std::string path(std::string_view path) const {
        std::string text;
        while (!path.empty()) {
            const std::string_view part = path.substr(0, path.find('/'));
            path.remove_prefix(std::min(path.size(), part.size() + 1));
            const std::size_t colon = std::min(part.find(':'), part.size());
            std::size_t scope = 0;
            std::from_chars(part.data(), part.data() + colon, scope);
            const bool is_known = scope > 0 && scope <= names_.size();
            if (!text.empty()) text += '/';
            text += is_known ? std::string_view(names_[scope - 1]) : part.substr(0, colon);
            text += part.substr(colon);
        }
        return text;
    }

 private:
    std::vector<std::string> names_;
};

std::string node_text(const HistoryEntry& entry, const BlockNames& blocks) {
    std::string text =
        entry.path.empty() ? entry.node : fmt::format("{}/{}", blocks.path(entry.path), entry.node);
    if (entry.attempt > 1) text += fmt::format(" #{}", entry.attempt);
    return text;
}

/// Columns for a payload, and for each value among words.
constexpr int kPayloadMax = 120;
constexpr int kValueMax = 40;

std::string detail_text(
    const HistoryEntry& entry, const Session& session, const HistoryOptions& options
) {
    const Style& style = session.out();
    if (options.with_payloads && !entry.payload.empty()) return one_line(entry.payload);
    const std::string_view ellipsis = style.glyphs().ellipsis;
    const auto words = event_text(
        entry,
        {.times = options.times, .value_max = session.text_limit(kValueMax), .ellipsis = ellipsis}
    );
    if (words && !words->empty()) return *words;
    if (!entry.payload.empty())
        return payload_text(entry.payload, session.text_limit(kPayloadMax), ellipsis);
    return entry.ref == 0 ? std::string() : style.dim(fmt::format("see {}", entry.ref));
}

/// Waits between two looks at an instance that is followed.
constexpr Duration kLook = std::chrono::milliseconds(300);
/// The names of workers are long, and mostly the same.
constexpr int kWorkerMin = 12;
constexpr int kPage = 1'000;

class HistoryTable {
 public:
    HistoryTable(Session& session, const HistoryOptions& options, TimePoint start)
        : session_(session), options_(options), start_(start) {}

    /// Reads the events that are not shown, up to this one.
    void skip(Client& engine, const InstanceId& id, std::int64_t seq) {
        std::int64_t after = 0;
        while (after < seq) {
            const std::vector<HistoryEntry> page = engine.history(id, after, kPage);
            for (const HistoryEntry& entry : page) {
                if (entry.seq <= seq) blocks_.read(entry);
            }
            if (std::ssize(page) < kPage) return;
            after = page.back().seq;
        }
    }

    std::string text(const std::vector<HistoryEntry>& events, bool has_header) {
        const Style& style = session_.out();
        std::vector<std::string> header{"SEQ", "AT", "EVENT", "NODE", "TOOK", "WORKER", "DETAILS"};
        for (std::string& title : header) title = style.dim(title);
        Table table(header);
        const int columns = options_.with_payloads ? 0 : session_.columns();
        const int worker_max = columns == 0 ? 1'000 : std::max(columns / 5, kWorkerMin);
        constexpr int kNodeMin = 12;
        table.may_shrink(3, kNodeMin);
        table.cut_front(3);
        table.may_shrink(5, 4);
        for (const HistoryEntry& entry : events) {
            blocks_.read(entry);
            const bool has_run = entry.started_at != TimePoint{};
            table.add({
                std::to_string(entry.seq),
                options_.times == Times::Relative ? "+" + elapsed(entry.at - start_)
                                                  : absolute_time(entry.at, options_.times),
                entry.type,
                node_text(entry, blocks_),
                has_run ? elapsed(entry.at - entry.started_at) : "",
                truncate(one_line(entry.worker), worker_max, style.glyphs().ellipsis),
                detail_text(entry, session_, options_),
            });
        }
        const std::string all = table.text(columns, style.glyphs().ellipsis);
        return has_header ? all : all.substr(all.find('\n') + 1);
    }

 private:
    Session& session_;
    const HistoryOptions& options_;
    TimePoint start_;
    BlockNames blocks_;
};

void print_events(
    Session& session, HistoryTable& table, const std::vector<HistoryEntry>& events, bool has_header
) {
    if (!session.options().is_json) return session.print(table.text(events, has_header));
    for (const HistoryEntry& entry : events) session.print_json_line(view::event_json(entry));
}

/// Prints what happens until the instance has ended, or Ctrl-C.
int follow(Session& session, Client& engine, const InstanceId& id, const HistoryOptions& options) {
    Interrupts interrupts;
    const auto caught = session.streams().catch_signals(interrupts);
    Patience patience([&session](const std::string& text) { session.note(text + "\n"); });
    HistoryTable table(session, options, engine.find(id)->created_at);
    table.skip(engine, id, options.after);
    std::int64_t after = options.after;
    bool is_first = true;
    while (interrupts.count() == 0) {
        bool is_over = false;
        std::vector<HistoryEntry> events;
        const bool is_reached = patience.reach([&] {
            // Asked first: what has ended by then is in the events.
            const auto summary = engine.find(id);
            is_over = !summary || summary->finished_at != TimePoint{} ||
                      summary->status == InstanceStatus::Moved;
            events = read_history(engine, id, after);
        });
        if (!events.empty()) {
            print_events(session, table, events, is_first);
            is_first = false;
            after = events.back().seq;
        }
        if (is_over) return kOk;
        interrupts.wait(is_reached ? kLook : patience.pause());
    }
    return kOk;
}

}  // namespace

int show_history(Session& session, const HistoryOptions& options) {
    Client& engine = session.connect("history");
    const InstanceId id = resolve_instance(engine, options.instance);
    if (options.follows) return follow(session, engine, id, options);
    const auto events = read_history(engine, id, options.after, options.limit.value_or(0));
    if (session.options().is_json) {
        nlohmann::ordered_json all = nlohmann::ordered_json::array();
        for (const HistoryEntry& entry : events) all.push_back(view::event_json(entry));
        session.print_json(all);
    } else if (events.empty()) {
        session.note("No events.\n");
    } else {
        HistoryTable table(session, options, engine.find(id)->created_at);
        table.skip(engine, id, options.after);
        const std::string text = table.text(events, true);
        session.print(text);
        session.print(session.cut_hint(text));
    }
    return kOk;
}

}  // namespace ebb::cli
