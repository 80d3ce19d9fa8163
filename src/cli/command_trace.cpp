// `ebb trace`: the history of an instance with rules as its attributes tell it.

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/instance_ref.h"
#include "cli/text.h"
#include "cli/trace_text.h"
#include "view/instance_json.h"

namespace ebb::cli {

namespace {

constexpr int kPage = 1'000;

std::vector<TraceEntry> read_trace(
    Engine& engine, const InstanceId& id, std::int64_t after, int limit
) {
    std::vector<TraceEntry> entries;
    while (true) {
        const int left = limit > 0 ? limit - static_cast<int>(entries.size()) : kPage;
        const int wanted = std::min(left, kPage);
        if (wanted == 0) return entries;
        auto page = engine.trace(id, after, wanted);
        const bool is_last = static_cast<int>(page.size()) < wanted;
        std::move(page.begin(), page.end(), std::back_inserter(entries));
        if (is_last) return entries;
        after = entries.back().seq;
    }
}

/// The number of the last event.
std::int64_t last_event(Engine& engine, const InstanceId& id, std::int64_t after) {
    while (true) {
        const auto page = engine.history(id, after, kPage);
        if (!page.empty()) after = page.back().seq;
        if (static_cast<int>(page.size()) < kPage) return after;
    }
}

/// The attributes as they were at the event `seq`.
int print_attributes(Session& session, Engine& engine, const InstanceId& id, std::int64_t seq) {
    const auto entries = read_trace(engine, id, 0, 0);
    const std::int64_t last = last_event(engine, id, entries.empty() ? 0 : entries.back().seq);
    if (seq > last) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("There is no event {}: the events have the numbers 1 to {}.", seq, last)
        );
    }
    const auto after = std::find_if(entries.begin(), entries.end(), [seq](const TraceEntry& entry) {
        return entry.seq > seq;
    });
    if (after == entries.begin()) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("There is no event {}: the first one has the number 1.", seq)
        );
    }
    session.print_json(view::payload_json(std::prev(after)->attributes));
    return kOk;
}

}  // namespace

int show_trace(Session& session, const TraceOptions& options) {
    Client& client = session.connect("trace");
    if (client.engine() == nullptr) {
        throw Error(
            ErrorCode::InvalidArgument,
            "`ebb trace` works on the database itself, not over the API of a server: use --db."
        );
    }
    Engine& engine = *client.engine();
    const InstanceId id = resolve_instance(client, options.instance);
    if (options.at) return print_attributes(session, engine, id, *options.at);
    const auto entries = read_trace(engine, id, options.after, options.limit.value_or(0));
    if (session.options().is_json) {
        nlohmann::ordered_json all = nlohmann::ordered_json::array();
        for (const TraceEntry& entry : entries) all.push_back(view::trace_json(entry));
        session.print_json(all);
    } else if (entries.empty()) {
        session.note("No writes.\n");
    } else {
        const TimePoint start = engine.find(id)->created_at;
        session.print(trace_table(session, entries, options.times, start));
    }
    return kOk;
}

}  // namespace ebb::cli
