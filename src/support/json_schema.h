#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <ebb/json.h>

namespace ebb {

/// A compiled JSON Schema (draft 7). References lead into the schema itself; nothing is fetched.
/// Immutable and safe to use from several threads.
class JsonSchema {
 public:
    /// Throws Error with InvalidPayload if the schema cannot be used: a reference that leads
    /// nowhere, out of the schema or in a circle, a pattern that is none.
    explicit JsonSchema(const Json& schema);
    ~JsonSchema();
    JsonSchema(JsonSchema&&) noexcept;
    JsonSchema& operator=(JsonSchema&&) noexcept;

    /// What is wrong with `value`, as `/items/0: …`; empty when it conforms. At most
    /// kViolationsMax.
    std::vector<std::string> violations(const Json& value) const;

    /// Fills in the `default` of each property that an object of `value` lacks: in `properties`,
    /// also below `items`, `additionalProperties`, `allOf` and `$ref`. Alternatives (`anyOf`,
    /// `oneOf`, `not`, `if`) fill in nothing, because which of them applies depends on the value.
    /// Returns whether anything was filled in. Throws Error with LimitExceeded if it takes more
    /// than the budget of a validation; `value` is then incomplete.
    bool fill_defaults(Json& value) const;

    static constexpr std::size_t kViolationsMax = 20;
    /// Longer texts are not matched with a `pattern` or `format` but are violations: the matcher
    /// recurses over the text.
    static constexpr std::size_t kPatternTextBytesMax = 1'024;
    /// A `$ref` may lead over this many others to what it means.
    static constexpr int kReferenceHopsMax = 32;

 private:
    struct Compiled;

    std::unique_ptr<const Compiled> compiled_;
};

}  // namespace ebb
