#pragma once

#include <string>

#include <ebb/definition.h>

#include "core/model/document.h"
#include "core/model/map_reader.h"

namespace ebb::model {

/// What `defaults` says for every step.
struct StepDefaults {
    AttemptPolicy attempts;
    std::string queue;
};

/// Reads as much of a definition as can be read and notes what cannot: keys, types, words,
/// durations. What the values mean is judged by `check`.
Definition read_definition(const Document& root, Problems& problems);

/// Reads the document, checks what was read and returns it, or throws DefinitionError with the
/// problems of both in the document's order. `file` is for the diagnostics; empty = none.
Definition read_and_check(const Document& root, const std::string& file);

// The parts, each in a file of its own.

Block read_block(const MapReader& map, std::string_view key, const StepDefaults& defaults);
/// The keys `entry`, `nodes`, `edges` and `unmatched` of `map`.
NodeGraph read_graph(const MapReader& map, const StepDefaults& defaults);
AttemptPolicy read_attempts(const MapReader& map, const AttemptPolicy& otherwise);
StepDefaults read_defaults(const MapReader& root);

}  // namespace ebb::model
