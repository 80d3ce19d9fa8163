#include "view/payload_json.h"

#include "support/clock.h"

namespace ebb::view {

Json payload_json(const Payload& payload) {
    if (payload.empty()) return nullptr;
    Json json = Json::parse(payload, nullptr, false);
    return json.is_discarded() ? Json(payload) : json;
}

Json time_json(TimePoint time) {
    if (time == TimePoint{} || time == kNever) return nullptr;
    return format_time(time);
}

Json text_json(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

Json number_json(const std::optional<int>& number) {
    return number ? Json(*number) : Json(nullptr);
}

}  // namespace ebb::view
