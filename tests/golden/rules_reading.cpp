#include "rules_reading.h"

#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ebb::golden {

namespace {

class Reading {
 public:
    std::string broken(const std::vector<HistoryEntry>& history) {
        for (const HistoryEntry& entry : history) {
            const std::string fault = read(entry);
            if (!fault.empty()) return fmt::format("event {}: {}", entry.seq, fault);
        }
        return {};
    }

 private:
    std::optional<Json> state_;  ///< absent: only the first state_written says what it is
    Json wanted_;                ///< what the newest write says it has fired
    std::set<std::int64_t> completed_;
    bool has_followed_ = false;  ///< since the last state_written

    std::string read(const HistoryEntry& entry) {
        const Json payload = Json::parse(entry.payload, nullptr, false);
        if (entry.type == "step_completed" && !completed_.insert(entry.visit).second) {
            return "the visit has completed twice";
        }
        if (entry.type == "attributes_written") return write(payload);
        if (entry.type == "state_restored") return change(payload["values"]);
        if (entry.type == "migrated") return follow(payload);
        // With a name, it is the state at the time of that transition.
        if (entry.type == "state_written") return compare(payload, entry.node.empty());
        if (entry.type == "completed") return compare(payload, false);
        return {};
    }

    std::string write(const Json& payload) {
        if (!state_) return {};
        for (const auto& [name, before] : payload["was"].items()) {
            if ((*state_)[name] != before[0]) return name + " was something else";
        }
        wanted_ = payload["fired"];
        for (const Json& armed : payload.value("armed", Json::array())) wanted_.push_back(armed);
        return change(payload["values"]);
    }

    /// The attributes of the version are those of the next state, which must be the present ones as
    /// far as they have kept their names.
    std::string follow(const Json& payload) {
        if (payload["to"] <= payload["from"]) return "it goes back to an older version";
        if (!state_) return {};
        has_followed_ = true;
        const Json values = payload.value("values", Json::object());
        for (const auto& [name, value] : values.items()) {
            (*state_)[name] = value;
        }
        return {};
    }

    std::string change(const Json& values) {
        if (!state_) return {};
        for (const auto& [name, value] : values.items()) {
            if (!state_->contains(name)) return name + " is not an attribute";
            (*state_)[name] = value;
        }
        return {};
    }

    std::string compare(const Json& state, bool has_fired) {
        if (!state_) state_ = state;
        // Attributes that the version does not have are gone.
        if (std::exchange(has_followed_, false)) {
            for (auto it = state_->begin(); it != state_->end();) {
                it = state.contains(it.key()) ? std::next(it) : state_->erase(it);
            }
        }
        if (*state_ != state) return "the writes before make " + state_->dump();
        if (has_fired && wanted_.is_array() && wanted_.empty()) {
            return "the write before has fired nothing";
        }
        wanted_ = Json();
        return {};
    }
};

}  // namespace

std::string broken_rule_of_writes(const std::vector<HistoryEntry>& history) {
    return Reading().broken(history);
}

}  // namespace ebb::golden
