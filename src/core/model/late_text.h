#pragma once

#include <string>
#include <string_view>

// Expressions that are evaluated when a handler is called and not before: those over `globals`,
// `secrets` and `payload`. The kernel must not evaluate them, or their values would be kept; so in
// a definition they are written as text, `$${ secrets.token }`.

namespace ebb::model {

/// Does the expression read nothing but what is known only at the call?
bool is_late_expression(std::string_view source);

/// `${ secrets.x }` as `$${ secrets.x }`, everything else as it is.
std::string protect_late(std::string_view text);

/// The reverse.
std::string expose_late(std::string_view text);

}  // namespace ebb::model
