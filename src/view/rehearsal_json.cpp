#include "view/rehearsal_json.h"

#include "support/clock.h"
#include "view/instance_json.h"

namespace ebb::view {

Json rehearsal_json(const Rehearsal& rehearsal) {
    Json json = {
        {"status", to_string(rehearsal.status)},
        {"output", payload_json(rehearsal.output)},
        {"error", payload_json(rehearsal.error)},
        {"took", format_duration(rehearsal.took)},
        {"is_cut", rehearsal.is_cut},
        {"left", rehearsal.left},
        {"waiting_for", Json::array()},
        {"events", Json::array()},
    };
    for (const WaitingFor& wait : rehearsal.waiting_for) {
        json["waiting_for"].push_back(waiting_json(wait));
    }
    for (const HistoryEntry& event : rehearsal.events) {
        json["events"].push_back(event_json(event));
    }
    return json;
}

}  // namespace ebb::view
