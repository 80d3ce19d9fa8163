#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <ebb/json.h>

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

/// A text of a step's input with a late expression, as the definition has it.
struct LateText {
    Json::json_pointer at;
    std::string text;
};

/// All such texts of an input, which is a template.
std::vector<LateText> late_texts(const Payload& input);

}  // namespace ebb::model
