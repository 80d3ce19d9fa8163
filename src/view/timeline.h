#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ebb/engine.h>

#include "view/payload_json.h"

// When each node of an instance waited for a worker, ran, waited, and was undone.

namespace ebb::view {

/// A stretch of time of one visit of a node.
struct TimelineSpan {
    /// As the UI names them: `queue` (it waited for a worker), `attempt`, `failed` (an attempt that
    /// did), `retry` (it waited for the next attempt), `wait`, `running`, `undo`, `undo_failed`.
    std::string kind{};
    std::string node{};
    std::string path{};
    std::int64_t visit = 0;
    bool is_compensation = false;
    int attempt = 0;
    std::int64_t seq = 0;  ///< of the event that ends it; 0 = there is none yet
    std::string worker{};
    std::string code{};  ///< of the failure
    TimePoint from{};
    TimePoint to{};
    bool is_open = false;  ///< it goes on; `to` is the time of the look
    std::int64_t spans = 1;
    Duration total{0};
};

class Timeline {
 public:
    /// More spans than that are added up, by node and kind.
    static constexpr std::size_t kRowsMax = 2'000;

    /// In the order of the history. `code`: of a failure, as far as it may be shown.
    void add(const HistoryEntry& event, const std::string& code);
    /// After the last event: what has not ended yet, unless the instance has.
    void finish(std::span<const StepView> steps, TimePoint now, bool is_over);

    /// `{"from", "to", "spans", "is_aggregated", "items"}`.
    Json json() const;

 private:
    /// Of one visit, on the way forward or back.
    using LaneKey = std::pair<bool, std::pair<std::string, std::int64_t>>;

    std::vector<std::size_t>& lane_of(const HistoryEntry& event, bool is_back);
    void push(
        std::vector<std::size_t>& lane,
        std::string kind,
        const HistoryEntry& event,
        std::pair<TimePoint, TimePoint> range,
        bool is_back
    );
    void add_attempt(const HistoryEntry& event, std::string kind, bool is_back);
    std::vector<TimelineSpan> rows() const;

    std::vector<TimelineSpan> spans_;
    std::map<LaneKey, std::vector<std::size_t>> lanes_;  ///< by index
    std::map<std::int64_t, TimePoint> times_;            ///< of the events, by seq
    std::string code_;                                   ///< of the event that is being added
    TimePoint from_ = kNever;
    TimePoint to_ = TimePoint::min();
};

}  // namespace ebb::view
