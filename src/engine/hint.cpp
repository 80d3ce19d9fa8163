#include "engine/hint.h"

#include <algorithm>
#include <utility>

#include "store/hints.h"
#include "support/json.h"

namespace ebb::engine {

namespace {

std::string text_of(const Hint& hint, bool with_work) {
    Json json = Json::object();
    if (hint.is_any_work || !with_work) json["any"] = true;
    Json work = Json::array();
    for (const Hint::Work& each : hint.work) {
        work.push_back({each.handler, each.queue, each.due.time_since_epoch().count()});
    }
    if (with_work && !work.empty()) json["work"] = std::move(work);
    Json stops = Json::array();
    for (const InstanceId& id : hint.stops) stops.push_back(id.to_string());
    if (!stops.empty()) json["stops"] = std::move(stops);
    return to_text(json);
}

bool read_work(const Json& json, Hint& hint) {
    for (const Json& each : json) {
        const bool is_work = each.is_array() && each.size() == 3 && each[0].is_string() &&
                             each[1].is_string() && each[2].is_number_integer();
        if (!is_work) return false;
        const TimePoint due{Duration(each[2].get<Duration::rep>())};
        hint.work.push_back({each[0].get<std::string>(), each[1].get<std::string>(), due});
    }
    return true;
}

bool read_stops(const Json& json, Hint& hint) {
    for (const Json& each : json) {
        const auto id =
            each.is_string() ? InstanceId::parse(each.get<std::string>()) : std::nullopt;
        if (!id) return false;
        hint.stops.push_back(*id);
    }
    return true;
}

}  // namespace

std::string encode_hint(const Hint& hint) {
    std::string text = text_of(hint, true);
    return text.size() <= Hints::kMessageBytesMax ? text : text_of(hint, false);
}

std::optional<Hint> decode_hint(std::string_view text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    Hint hint;
    for (const auto& [name, value] : json.items()) {
        if (name == "any") {
            hint.is_any_work = value == true;
        } else if (name == "work") {
            if (!read_work(value, hint)) return std::nullopt;
        } else if (name == "stops") {
            if (!read_stops(value, hint)) return std::nullopt;
        }
    }
    return hint;
}

}  // namespace ebb::engine
