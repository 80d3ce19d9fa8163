#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/predicate/predicate.h"

namespace ebb::predicate {

/// A part of a condition that keeps the whole from being true.
struct BlockingPart {
    std::string source;       ///< as it is written in the condition
    std::vector<bool> reads;  ///< which columns, by their index
};

/// What would have to be true so that the condition is: of an AND, the operands that are not true;
/// of an OR, the side that needs the fewest parts. Empty when the condition is true.
std::vector<BlockingPart> blocking_parts(const Predicate& condition, std::span<const Datum> row);

}  // namespace ebb::predicate
