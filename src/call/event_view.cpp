#include "call/event_view.h"

#include <nlohmann/json.hpp>

#include "support/json.h"

namespace ebb {

HistoryEntry to_entry(const HistoryEvent& event) {
    return {
        .seq = event.seq,
        .type = std::string(to_string(event.type)),
        .node = event.node,
        .path = event.path,
        .visit = event.visit,
        .attempt = event.attempt,
        .ref = event.ref,
        .payload = event.payload,
        .worker = event.worker,
        .started_at = event.started_at,
        .at = event.at,
    };
}

Payload error_of(const HistoryEvent& event) {
    Json error = Json::parse(event.payload, nullptr, false);
    if (!error.is_object()) error = Json::object();
    if (event.type == HistoryType::CancelRequested) error["code"] = "cancelled";
    if (event.type == HistoryType::AbortRequested) error["code"] = "aborted";
    if (!event.node.empty()) error["step"] = event.node;
    return to_text(error);
}

}  // namespace ebb
