#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/kernel/state_text.h"
#include "stateless/record.h"
#include "support/json_reader.h"

namespace ebb::stateless {

/// Throws the Error (CorruptState) that a time which nothing can be is.
TimePoint from_milliseconds(std::int64_t value);

/// Reads the events of a snapshot's text whose nodes are known.
class EventReader {
 public:
    EventReader(NodeFinder& nodes, std::vector<Kept>& events) : nodes_(nodes), events_(events) {}

    /// The results, by node.
    void context(JsonReader& json);
    /// What else was kept.
    void events(JsonReader& json);

 private:
    NodeIndex find(std::string_view name);
    void read_result(JsonReader& json, NodeIndex node);
    static bool read_written(JsonReader& json, Kept& event);
    void read(JsonReader& json, Kept& event);
    void read_place(JsonReader& json, std::string_view key, Kept& event);
    HistoryType type(JsonReader& json);

    NodeFinder& nodes_;
    std::vector<Kept>& events_;
    std::string decoded_;
};

}  // namespace ebb::stateless
