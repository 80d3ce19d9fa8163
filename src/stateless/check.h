#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stateless/data.h"

namespace ebb::stateless {

/// What a snapshot's text says although it follows from the rest: somebody may have changed one
/// without the other.
struct Derived {
    std::optional<std::string_view> status;
    std::optional<std::string_view> current_node;
};

/// Throws the Error (CorruptState) that a text is which is no snapshot, or no whole one.
[[noreturn]] void throw_corrupt(const std::string& why);

/// Throws where the events of a text (sorted) cannot be those of the state.
void check_events(std::span<const Kept> events, const InstanceState& state, const Program& program);

/// Throws where the parts do not fit together, so that the kernel need not ask.
void check_snapshot(const Snapshot::Data& data, const Derived& derived);

}  // namespace ebb::stateless
