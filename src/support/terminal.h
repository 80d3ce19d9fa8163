#pragma once

#include <string>
#include <string_view>

// All text that may reach a terminal and that Ebb did not write itself (payloads, names, messages,
// arguments of the caller) goes through one of these functions. What they return cannot move the
// cursor, change colors or rearrange the text around it.

namespace ebb {

/// One line: line breaks and tabs become single spaces; other control characters, overrides of the
/// writing direction and invalid UTF-8 become `?`.
std::string terminal_line(std::string_view text);

/// As terminal_line, but keeps line breaks and tabs.
std::string terminal_text(std::string_view text);

/// JSON text with the same value, in which control characters and overrides of the writing
/// direction are written as \u escapes.
std::string terminal_json(std::string json);

}  // namespace ebb
