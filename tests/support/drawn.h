#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

namespace ebb::test {

/// A text of parts that are drawn one after another: `Drawn{"({} or {})", draw(), draw()}`.
/// Braces evaluate from left to right. The arguments of a call and the operands of + may be
/// evaluated in any order, so that a seed would give other cases under another compiler.
struct Drawn : std::string {
    template <typename... Parts>
    explicit Drawn(fmt::format_string<Parts...> pattern, Parts&&... parts)
        : std::string(fmt::format(pattern, std::forward<Parts>(parts)...)) {}
};

}  // namespace ebb::test
