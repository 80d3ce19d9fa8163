#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "stateless/data.h"
#include "support/json_reader.h"

namespace ebb::stateless {

/// The version of the JSON form that is written. It changes when an older reader would
/// misunderstand the text, not when fields are added. 2: runId, without which the idempotency keys
/// would change.
inline constexpr int kFormatVersion = 2;

std::string write_snapshot(const Snapshot::Data& data);

/// Finds a workflow, or throws the Error that its lack is.
using FindWorkflow = std::function<std::shared_ptr<const Workflow>(std::string_view, int)>;

/// The reverse of write_snapshot. Throws Error if the text is not a snapshot of a known
/// workflow. `guess` changes only how long it takes.
std::unique_ptr<Snapshot::Data> read_snapshot(
    std::string_view text,
    const FindWorkflow& find,
    const HistoryPolicy& policy,
    JsonReader::Guess guess = JsonReader::Guess::Members
);

}  // namespace ebb::stateless
