#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/predicate/numeric.h"
#include "core/predicate/types.h"

namespace ebb::predicate {

/// A constant span of time: the months are added first, then the days, then the microseconds.
struct Interval {
    std::int64_t months = 0;
    std::int64_t days = 0;
    std::int64_t microseconds = 0;

    bool operator==(const Interval&) const = default;
};

/// One value that owns what it holds: an attribute's, or a constant's.
struct Datum {
    bool is_null = true;
    std::int64_t integer = 0;  ///< boolean, integers, microseconds of a timestamp, days of a date
    double real = 0;
    std::string text{};  ///< text; a uuid in lower case; a JSON document
    Numeric numeric{};
    Interval interval{};
};

/// The values of all attributes, in the order of the columns that conditions were compiled for.
using Row = std::vector<Datum>;

/// A value during an evaluation, which borrows what it points to.
struct Value {
    bool is_null = true;
    std::int64_t integer = 0;
    double real = 0;
    std::string_view text{};
    const Numeric* numeric = nullptr;
    const Interval* interval = nullptr;
};

/// How a value of `type` is written, or why `text` is none: the texts that PostgreSQL reads and
/// writes, as far as they do not depend on a session's settings.
struct ParsedDatum {
    Datum datum;
    std::string fault;  ///< empty when it was read; else what is allowed
};

ParsedDatum parse_datum(Type type, std::string_view text);
std::string text_of(Type type, const Value& value);

inline Value view_of(const Datum& datum) {
    return {
        .is_null = datum.is_null,
        .integer = datum.integer,
        .real = datum.real,
        .text = datum.text,
        .numeric = &datum.numeric,
        .interval = &datum.interval
    };
}

}  // namespace ebb::predicate
