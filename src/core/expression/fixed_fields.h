#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/json.h>

#include "core/expression/field_reads.h"
#include "core/expression/types.h"

// The variables whose fields are fixed, so that a misspelled one is found before anything runs.

namespace ebb::expression {

inline constexpr std::array<std::string_view, 3> kWorkflowFields = {"input", "name", "version"};
inline constexpr std::array<std::string_view, 2> kInstanceFields = {"id", "key"};
inline constexpr std::array<std::string_view, 3> kStepFields = {"output", "attempts", "error"};
inline constexpr std::array<std::string_view, 3> kErrorFields = {"code", "message", "details"};

/// A variable that has these fields and no others.
struct FixedFields {
    std::string_view variable;
    std::span<const std::string_view> fields{};
    std::string_view type{};  ///< of a variable that can have no fields: `an int`
};

/// Those of a definition.
inline constexpr std::array<FixedFields, 5> kFlowFields = {{
    {.variable = "workflow", .fields = kWorkflowFields},
    {.variable = "instance", .fields = kInstanceFields},
    {.variable = "steps", .fields = kStepFields},
    {.variable = "attempt", .type = "an int"},
    {.variable = "now", .type = "a string"},
}};

/// What is wrong with a field that is read.
struct UnknownField {
    std::string message;
    std::string meant;  ///< empty = unknown
};

/// Nothing if the field can exist.
std::optional<UnknownField> judge(const FieldRead& read, std::span<const FixedFields> known);

/// Of all texts in a valid template.
std::vector<WrongCall> wrong_calls_in(const Json& value);

/// Of an expression whose variables have unknown types, apart from `attempt` and `now`.
std::vector<WrongCall> wrong_calls(const Expression& expression);

/// Of all texts in a valid template.
std::vector<UnknownField> unknown_fields_in(const Json& value, std::span<const FixedFields> known);

}  // namespace ebb::expression
