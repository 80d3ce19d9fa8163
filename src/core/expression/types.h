#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/json.h>

#include "core/expression/expression.h"
#include "core/expression/spans.h"

// What is known of a value without a run: for editors, which show it, and for findings.

namespace ebb::expression {

/// The types that a value can have. Of maps and lists also what is known of their parts: `fields`,
/// or else a JSON Schema.
struct StaticType {
    using Set = std::uint16_t;
    using Fields = std::map<std::string, StaticType, std::less<>>;

    static constexpr Set kNull = 1;
    static constexpr Set kBool = 2;
    static constexpr Set kInt = 4;
    static constexpr Set kUint = 8;
    static constexpr Set kDouble = 16;
    static constexpr Set kString = 32;
    static constexpr Set kList = 64;
    static constexpr Set kMap = 128;
    static constexpr Set kTimestamp = 256;
    static constexpr Set kDuration = 512;
    static constexpr Set kAny = 1023;

    Set set = kAny;
    const Json* schema = nullptr;  ///< null = nothing is known; it must outlive the type
    const Json* root = nullptr;    ///< that references of the schema lead into
    std::shared_ptr<const Fields> fields{};

    bool is_any() const { return set == kAny; }
};

/// Where the types of variables and of steps come from. What is not known has any type.
class TypeSource {
 public:
    virtual ~TypeSource() = default;

    virtual StaticType variable(std::string_view name) const = 0;
    /// What `steps.<name>` is.
    virtual StaticType step(std::string_view name) const = 0;
};

/// The type of a value that conforms to a JSON Schema. References lead into `root`.
StaticType type_of_schema(const Json& schema, const Json& root);

/// A map with these fields; of others nothing is known.
StaticType map_with(StaticType::Fields fields);

/// The type of an expression's value, if it has one. Takes time in proportion to its length.
StaticType type_of(const Expression& expression, const TypeSource& source);

/// A call that fails whenever it is evaluated, as an argument has a type that it does not take.
struct WrongCall {
    std::string message;
    Span span;  ///< of the name of the function in the source
};

/// Of a call with several wrong arguments, the first one. What can be of any type is not judged.
std::vector<WrongCall> wrong_calls(const Expression& expression, const TypeSource& source);

/// `int`, or `string or null`; empty if it can be anything.
std::string to_text(const StaticType& type);

}  // namespace ebb::expression
