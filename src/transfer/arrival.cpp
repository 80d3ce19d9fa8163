#include <nlohmann/json.hpp>

#include "support/json.h"
#include "transfer/transfer.h"

namespace ebb::transfer {

namespace {

constexpr int kPageEvents = 1'000;

}  // namespace

Payload encode_arrival(const Arrival& arrival) {
    Payload text = "{\"workflow_id\":";
    append_json_string(text, arrival.workflow_id);
    text += ",\"version\":" + std::to_string(arrival.version);
    text += ",\"revision\":" + std::to_string(arrival.revision);
    text += ",\"sha256\":\"" + arrival.sha256 + "\",\"by\":";
    append_json_string(text, arrival.by);
    text += ",\"metadata\":" + arrival.metadata + "}";
    return text;
}

namespace {

std::optional<Arrival> decode_arrival(const Payload& payload) {
    const Json json = Json::parse(payload, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    return Arrival{
        .workflow_id = json.value("workflow_id", ""),
        .sha256 = json.value("sha256", ""),
        .version = json.value("version", std::int64_t{0}),
        .revision = json.value("revision", std::int64_t{0}),
        .metadata = json.value("metadata", Json::object()).dump(),
        .by = json.value("by", ""),
    };
}

}  // namespace

std::optional<Arrival> find_arrival(Store& store, const InstanceId& id) {
    const auto events = store.history({
        .instance = id,
        .limit = 1,
        .order = HistoryQuery::Order::Backward,
        .types = {HistoryType::Arrived},
        .node = {},
    });
    return events.empty() ? std::nullopt : decode_arrival(events.front().payload);
}

std::optional<Arrival> find_arrival(const std::vector<HistoryEvent>& history) {
    for (auto event = history.rbegin(); event != history.rend(); ++event) {
        if (event->type == HistoryType::Arrived) return decode_arrival(event->payload);
    }
    return std::nullopt;
}

std::int64_t version_of(const InstanceRow& row, const std::optional<Arrival>& arrival) {
    if (!arrival) return row.revision;
    return row.revision + arrival->version + 1 - arrival->revision;
}

std::vector<HistoryEvent> read_history(Store& store, const InstanceId& id) {
    std::vector<HistoryEvent> history;
    HistoryQuery query{.instance = id, .limit = kPageEvents, .types = {}, .node = {}};
    while (true) {
        auto page = store.history(query);
        const bool is_last = static_cast<int>(page.size()) < kPageEvents;
        std::move(page.begin(), page.end(), std::back_inserter(history));
        if (is_last) return history;
        query.after = history.back().seq;
    }
}

}  // namespace ebb::transfer
