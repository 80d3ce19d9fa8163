#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/predicate/predicate.h"
#include "core/rules_analysis/regions.h"

// Conditions over regions instead of values.

namespace ebb::rules_analysis {

/// Which of true, false and unknown a condition can be on some regions: a set of bits.
using Truths = std::uint8_t;

inline constexpr Truths kTrue = 1;
inline constexpr Truths kFalse = 2;
inline constexpr Truths kUnknown = 4;
inline constexpr Truths kAnyTruth = kTrue | kFalse | kUnknown;

inline bool can_hold(Truths truths) {
    return (truths & kTrue) != 0;
}

inline bool must_hold(Truths truths) {
    return truths == kTrue;
}

/// A condition whose plain parts, comparisons of an attribute with constants, are decided exactly
/// by the regions of the attributes. Any other part can be true, false or unknown.
class Condition {
 public:
    /// Adds what the condition compares attributes with to `cuts`, one for each attribute.
    Condition(const Predicate& predicate, std::vector<Cuts>& cuts);

    /// Which parts are plain, now that the cuts of all conditions are known.
    void settle(const std::vector<Cuts>& cuts);

    /// `row` has a sample of the region of each attribute.
    Truths on(std::span<const predicate::Datum> row) const;

    /// Whether the regions alone decide it.
    bool is_exact() const;

    const Predicate& predicate() const { return predicate_; }

    const std::vector<bool>& reads() const { return predicate_.reads(); }

 private:
    class Parts;

    Predicate predicate_;
    std::vector<bool> is_plain_;  ///< by operation
};

}  // namespace ebb::rules_analysis
