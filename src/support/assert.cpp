#include "support/assert.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

namespace ebb::detail {

void assertion_failed(
    const char* condition, const char* what_must_hold, const std::source_location& where
) noexcept {
    fmt::print(
        stderr,
        "ebb: internal error in {}:{} ({}): {} [{}]\n",
        where.file_name(),
        where.line(),
        where.function_name(),
        what_must_hold,
        condition
    );
    std::abort();
}

}  // namespace ebb::detail
