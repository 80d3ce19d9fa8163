#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <ebb/time.h>

#include "source/cpp_code.h"

namespace ebb::source {

/// What an expression of C++ is known to be without running it.
struct CppValue {
    enum class Kind {
        Unknown,
        Text,
        Integer,
        Real,
        Bool,
        Time,      ///< a duration
        Word,      ///< a name that is not declared here: an enumerator
        Braces,    ///< `{...}`, also behind a type
        Function,  ///< a lambda, or the name of a function of this file
    };

    Kind kind = Kind::Unknown;
    std::string text{};  ///< of Text and Word
    std::int64_t integer = 0;
    double real = 0;
    Duration time{0};
    TokenRange range{};                     ///< the expression; of Braces what is inside them
    const CppFunction* function = nullptr;  ///< of a function; a lambda begins at `range.begin`

    bool is(Kind wanted) const { return kind == wanted; }

    bool is_number() const { return is(Kind::Integer) || is(Kind::Real); }

    double number() const { return is(Kind::Real) ? real : static_cast<double>(integer); }
};

/// What a name stands for where the code is being read, which comes before its declaration.
using CppBindings = std::function<const CppValue*(std::string_view name)>;

/// Literals, sums and products of them, durations, and constants of the same file.
CppValue evaluate(const CppCode& code, TokenRange range, const CppBindings& bindings);

}  // namespace ebb::source
