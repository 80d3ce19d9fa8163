#pragma once

#include <span>

#include <nlohmann/json.hpp>

#include <ebb/engine.h>

// What `--json` prints. The fields are documented in docs/reference/cli.md and stay; new ones may
// come.

namespace ebb::cli {

/// A payload as the value that it holds; null when it is empty.
nlohmann::ordered_json payload_json(const Payload& payload);

/// Null for "none" (zero) and "never".
nlohmann::ordered_json time_json(TimePoint time);

nlohmann::ordered_json summary_json(const InstanceSummary& summary);
nlohmann::ordered_json view_json(const InstanceView& view);
nlohmann::ordered_json entry_json(const HistoryEntry& entry);
nlohmann::ordered_json diagnostics_json(std::span<const Diagnostic> diagnostics);

}  // namespace ebb::cli
