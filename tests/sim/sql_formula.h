#pragma once

#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

namespace ebb::sim {

/// The value of a condition of the forms that `random_rules` makes: `a0 = 'x'`, `a0 <> 'x'`,
/// `a0 is null`, `a0 is not null`, `(A and B)`, `(A or B)`. Empty: unknown. Shares no code with
/// Ebb's conditions.
std::optional<bool> ask_sql(std::string_view condition, const nlohmann::json& state);

}  // namespace ebb::sim
