#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/predicate/predicate.h"

// What a condition that compiles says wrongly all the same.

namespace ebb::predicate {

/// A fault of a condition: its place in the source, in bytes, and a sentence that describes it.
struct Objection {
    std::uint32_t offset = 0;
    std::uint32_t end = 0;
    std::string message{};
};

/// What PostgreSQL refuses or never computes: a division by a constant zero, and `is unknown` of
/// what is not boolean. Conditions that were registered before Ebb looked for it stay valid.
std::vector<Objection> objections_to(const Predicate& condition);

/// Comparisons with NULL, whose result is never true: `a = null`, as the source has them.
std::vector<std::string> comparisons_with_null(const Predicate& condition);

}  // namespace ebb::predicate
