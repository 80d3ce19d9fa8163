#pragma once

#include <cstdint>
#include <vector>

#include <ebb/json.h>

// The part of an instance's state that only rules have. It is bounded by the definition.

namespace ebb::rules {

/// An attribute's value, as canonical JSON text, and the event that wrote it.
struct AttributeValue {
    Payload json = "null";
    std::int64_t written = 0;  ///< 0: its default

    bool operator==(const AttributeValue&) const = default;
};

/// What must be remembered of a trigger whose mode is not `level`, that has `max_fires`, or whose
/// transition has failed.
struct TriggerMark {
    std::int64_t fires = 0;
    bool was_true = false;  ///< its condition, at the newest write
    /// The event of its failure for good: it is held back until an attribute that it reads changes.
    std::int64_t failed = 0;

    bool operator==(const TriggerMark&) const = default;
};

struct State {
    std::vector<AttributeValue> values;  ///< in the definition's order
    std::vector<TriggerMark> marks;      ///< one for each trigger
    std::int32_t idle_fires = 0;
    bool is_finishing = false;  ///< a final condition holds; what is pending is awaited
    bool asks_all = false;      ///< it has followed to other rules: the next write checks them all
    /// The event that says in which exception the instance is; 0 = in none.
    std::int64_t exception = 0;

    bool operator==(const State&) const = default;
};

}  // namespace ebb::rules
