#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/predicate/predicate.h"

namespace ebb::predicate {

/// An equality of a column with a constant without which a condition is not true, such as
/// `status = 'paid'` of `status = 'paid' and total > 10`. It shows without an evaluation that most
/// conditions over a state are not true: those that are about other states.
struct Guard {
    std::size_t column = 0;
    std::uint64_t key = 0;       ///< of the constant
    bool excludes_null = false;  ///< NULL in the column also keeps the condition from being true
};

/// Empty if the condition has none, or if what it computes before the equality can fail.
std::optional<Guard> guard_of(const Predicate& condition);

/// Of a value that is not NULL in a column that some guard compares: values with different keys are
/// different.
std::uint64_t key_of(Type type, const Datum& value);

}  // namespace ebb::predicate
