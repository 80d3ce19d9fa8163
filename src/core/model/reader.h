#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/definition.h>

#include "core/model/check.h"
#include "core/model/document.h"
#include "core/model/map_reader.h"

namespace ebb::model {

struct TypeLibraryData;

/// What `defaults` says for every step, and `retry` for those that call one handler.
struct StepDefaults {
    AttemptPolicy attempts;
    std::string queue;
    std::map<std::string, AttemptPolicy> of_handler{};

    const AttemptPolicy& attempts_of(const std::string& handler) const {
        const auto found = of_handler.find(handler);
        return found == of_handler.end() ? attempts : found->second;
    }
};

/// What a definition may have at the top.
inline constexpr std::array<std::string_view, 21> kDefinitionKeys = {
    "workflow",     "version", "description", "on_error", "deadline",  "priority",  "step_budget",
    "input_schema", "samples", "output",      "labels",   "defaults",  "handlers",  "steps",
    "rules",        "entry",   "nodes",       "edges",    "unmatched", "sensitive", "$schema",
};

/// Reads as much of a definition as can be read and notes what cannot: keys, types, words,
/// durations. What the values mean is judged by `check`. Steps may call what `types` describes;
/// null = nothing.
Definition read_definition(
    const Document& root, Problems& problems, const TypeLibraryData* types = nullptr
);

struct ReadOptions {
    std::string file{};                      ///< for the diagnostics; empty = none
    const TypeLibraryData* types = nullptr;  ///< what steps may call; null = nothing
    TextPlaces places{};                     ///< empty = the document has no source text
    Origin origin = Origin::New;
    /// Parts of the text are missing, so what refers to them must not be judged.
    bool is_incomplete = false;
};

/// What could be read of a document, and all problems in the document's order.
struct Checked {
    Definition definition{};
    std::vector<Diagnostic> problems{};
};

Checked read_all(const Document& root, const ReadOptions& options = {});

/// The same, but throws DefinitionError if there are problems.
Definition read_and_check(const Document& root, const ReadOptions& options = {});
/// The same of the JSON form of a definition that is stored (Origin::Stored).
Definition read_stored(std::string_view json);
/// Throws them, by place.
[[noreturn]] void throw_problems(const Problems& problems, const std::string& file);

// The parts, each in a file of its own.

Block read_block(const MapReader& map, std::string_view key, const StepDefaults& defaults);
/// The keys `entry`, `nodes`, `edges` and `unmatched` of `map`.
NodeGraph read_graph(const MapReader& map, const StepDefaults& defaults);
/// What a step and a trigger say alike; `handler_key` names the handler.
Step read_step_fields(
    const MapReader& map,
    std::string_view handler_key,
    const std::string& name,
    const StepDefaults& defaults
);
/// The key `rules` of `root`, into the definition's rules and steps.
void read_rules(const MapReader& root, const StepDefaults& defaults, Definition& definition);
AttemptPolicy read_attempts(const MapReader& map, const AttemptPolicy& otherwise);
StepDefaults read_defaults(const MapReader& root);

}  // namespace ebb::model
