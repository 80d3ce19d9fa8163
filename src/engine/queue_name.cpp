#include "engine/queue_name.h"

#include <algorithm>

#include <fmt/format.h>

#include <ebb/definition.h>
#include <ebb/error.h>

#include "support/json.h"

namespace ebb::engine {

namespace {

bool is_name_character(char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    return is_letter || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

}  // namespace

void check_queue_name(std::string_view name) {
    const bool fits = !name.empty() && name.size() <= DefinitionLimits::kNameBytesMax &&
                      std::all_of(name.begin(), name.end(), is_name_character) &&
                      std::string_view("0123456789.-").find(name.front()) == name.npos;
    if (fits) return;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "\"{}\" is not a valid name of a queue: a name has 1 to {} letters, digits, `_`, `.` "
            "and `-` and begins with a letter or `_`.",
            clean_text(name, DefinitionLimits::kNameBytesMax),
            DefinitionLimits::kNameBytesMax
        )
    );
}

}  // namespace ebb::engine
