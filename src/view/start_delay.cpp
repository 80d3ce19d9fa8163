#include "view/start_delay.h"

#include <algorithm>
#include <map>

namespace ebb::view {

std::vector<StartDelay> start_delays(const std::vector<HistoryEvent>& events) {
    std::vector<StartDelay> delays;
    std::map<Seq, TimePoint> times;
    for (const HistoryEvent& event : events) {
        times.emplace(event.seq, event.at);
        const bool is_attempt = event.type == HistoryType::StepCompleted ||
                                event.type == HistoryType::StepRetried ||
                                event.type == HistoryType::StepFailed;
        const bool is_first = event.attempt == 1 && event.started_at != TimePoint{};
        const auto due = times.find(event.ref);
        if (!is_attempt || !is_first || due == times.end()) continue;
        delays.push_back(
            {event.node, std::max(Duration::zero(), Duration(event.started_at - due->second))}
        );
    }
    return delays;
}

}  // namespace ebb::view
