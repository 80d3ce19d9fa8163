#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ebb {

/// What to do about the fault that a JSON parser has found at the offset `at`, as a sentence with a
/// blank before it: for what other languages allow, such as comments and single quotes. Empty if
/// it is something else.
std::string_view json_cure(std::string_view text, std::size_t at);

/// The words of nlohmann's parser without its name, its place and what it read last.
std::string json_fault(std::string_view what);

}  // namespace ebb
