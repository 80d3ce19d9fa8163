#pragma once

#include <optional>
#include <string_view>

#include "core/kernel/state.h"

namespace ebb {

/// The reverse of to_string(TokenStatus): only the state's codec needs it.
std::optional<TokenStatus> parse_token_status(std::string_view text);

}  // namespace ebb
