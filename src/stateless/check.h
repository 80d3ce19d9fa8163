#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stateless/data.h"

namespace ebb::stateless {

/// The parts of a snapshot's text that follow from the rest. A person may have changed one without
/// the other.
struct Derived {
    std::optional<std::string_view> status;
    std::optional<std::string_view> current_node;
};

/// Throws the Error (CorruptState) for a text that is not a snapshot, or not a whole one.
[[noreturn]] void throw_corrupt(const std::string& why);

/// Throws if the (sorted) events of a text cannot belong to the state.
void check_events(std::span<const Kept> events, const InstanceState& state, const Program& program);

/// Throws if the parts do not fit together, so that the kernel need not check.
void check_snapshot(const Snapshot::Data& data, const Derived& derived);

}  // namespace ebb::stateless
