#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <ebb/rules.h>

#include "core/predicate/value.h"

// The values of one attribute, cut into regions that no condition can tell apart.

namespace ebb::rules_analysis {

/// A set of values that all plain conditions treat alike.
struct Region {
    predicate::Datum sample{};  ///< one of its values
    std::string text{};     ///< as people read it: `'paid'`, `null`, `more than 5`, `another text`
    bool is_named = false;  ///< it is one value that a condition names, or NULL
};

/// What conditions compare an attribute with.
struct Cuts {
    std::vector<predicate::Datum> points{};
    std::vector<std::string> folded{};  ///< texts that `lower(...)` is compared with, in lower case
    bool is_ordered = false;            ///< by an operator such as `<`
    bool is_read = false;
};

/// All regions of one attribute. The first one is NULL.
class Domain {
 public:
    Domain(AttributeType type, const Cuts& cuts);

    const std::vector<Region>& regions() const { return regions_; }

    std::size_t size() const { return regions_.size(); }

    /// The region that holds the value.
    int find(const predicate::Datum& value) const;

    /// The sample of a region in the canonical JSON of the attribute.
    Payload json_of(int region) const;

 private:
    AttributeType type_;
    predicate::Type seen_as_;
    Cuts cuts_;
    std::vector<Region> regions_;

    bool is_equal(const predicate::Datum& a, const predicate::Datum& b) const;
    int compare(const predicate::Datum& a, const predicate::Datum& b) const;
    void sort_points();
    void add_point(const predicate::Datum& point);
    void add_sample(predicate::Datum sample, std::string text);
    void add_ordered();
    void add_unordered();
    void add_folded();
    void add_rest();
    std::string literal(const predicate::Datum& value) const;
};

}  // namespace ebb::rules_analysis
