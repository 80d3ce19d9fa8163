#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include <ebb/json.h>

#include "support/pattern.h"

namespace ebb {

/// A whole validation may take this many steps, and nest schemas this deep.
inline constexpr std::size_t kSchemaStepsMax = 5'000'000;
inline constexpr int kSchemaDepthMax = 512;

/// A schema whose keywords have arguments of the right kind, with what can be prepared once.
struct CompiledSchema {
    Json schema;
    /// The schema behind each schema with a "$ref".
    std::unordered_map<const Json*, const Json*> targets{};
    std::map<std::string, Pattern, std::less<>> patterns{};
    bool has_defaults = false;  ///< some schema in it has a `default`
};

/// Throws Error with InvalidPayload.
std::unique_ptr<const CompiledSchema> compile_schema(const Json& schema);

/// As JsonSchema::fill_defaults.
bool fill_defaults(const CompiledSchema& compiled, Json& value);

}  // namespace ebb
