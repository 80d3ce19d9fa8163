// Compares the requests of people with what the history says that they did.

#include <algorithm>

#include <fmt/format.h>

#include "sim/reading.h"

namespace ebb::sim {

namespace {

bool is_it(const Asked& asked, const HistoryEntry& e, const Json& payload) {
    if (asked.type != e.type) return false;
    if (e.type == "signal_received") {
        return asked.node == e.node && Json::parse(asked.payload) == payload;
    }
    if (e.type != "decision_made") {
        const bool is_silent = asked.by.empty();
        return is_silent ? e.payload.empty() : payload == Json{{"by", asked.by}, {"reason", ""}};
    }
    const bool is_by =
        asked.by == payload.at("by").get<std::string>() && asked.role == payload.value("role", "");
    const bool is_node = asked.node.empty() || asked.node == e.node;
    return is_by && is_node && payload.at("verdict") == asked.payload;
}

/// A process that moves the instance pauses it, moves it, or gives up and lets it continue.
bool is_of_mover(const HistoryEntry& e, const Json& payload) {
    const bool is_move = e.type == "moved" || e.type == "arrived";
    const bool is_pause = e.type == "paused" || e.type == "unpaused";
    return is_move || (is_pause && payload.is_object() && payload.value("by", "") == kMover);
}

}  // namespace

void Reading::check_mover(const Entry& e) const {
    const std::string type = e.type == "arrived" ? "import" : "export";
    const bool is_asked =
        std::any_of(evidence_.requests.begin(), evidence_.requests.end(), [&](const Asked& asked) {
            return asked.type == type;
        });
    require(is_asked, fmt::format("event {} ({}): no process moves the instance", e.seq, e.type));
}

/// Each request is used once at most, and every accepted request appears in the history.
void Reading::check_requests() const {
    if (!evidence_.knows_requests) return;
    static const std::set<std::string> kTypes = {
        "paused",
        "unpaused",
        "requeued",
        "cancel_requested",
        "abort_requested",
        "signal_received",
        "decision_made"
    };
    std::vector<bool> is_used(evidence_.requests.size(), false);
    // Requests that were answered come first. The others may not have been performed.
    for (const Entry& e : evidence_.history) {
        if (is_of_mover(e, payload(e))) {
            check_mover(e);
            continue;
        }
        if (!kTypes.contains(e.type)) continue;
        std::size_t found = is_used.size();
        for (std::size_t i = 0; i < is_used.size(); ++i) {
            if (is_used[i] || !is_it(evidence_.requests[i], e, payload(e))) continue;
            const bool is_better = found == is_used.size() || (evidence_.requests[i].is_taken &&
                                                               !evidence_.requests[found].is_taken);
            if (is_better) found = i;
        }
        require(
            found < is_used.size(),
            fmt::format("event {} ({}): nothing requested it", e.seq, e.type)
        );
        is_used[found] = true;
    }
    for (std::size_t i = 0; i < is_used.size(); ++i) {
        const Asked& asked = evidence_.requests[i];
        require(!asked.is_taken || is_used[i], asked.type + " was answered but never happened");
    }
}

}  // namespace ebb::sim
