#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/json.h>

#include "core/expression/expression.h"

namespace ebb {

/// A JSON value whose strings may contain `${expression}`. A string that is nothing but one `${…}`
/// becomes the value of the expression, whatever its type; elsewhere the value is put into the text
/// (strings as they are, everything else as JSON). `$${` stands for `${`. Immutable, cheap to copy.
class Template {
 public:
    /// Throws ExpressionError; `path()` of the place inside the template is in its message.
    static Template compile(const Json& value, const ExpressionLimits& limits = {});
    /// A template of one string.
    static Template compile_text(std::string_view text, const ExpressionLimits& limits = {});

    /// Throws ExpressionError.
    Json render(const Variables& variables) const;

    /// True when it contains no expression at all.
    bool is_constant() const;
    const std::vector<std::string>& steps_read() const;
    const std::vector<std::string>& attempts_read() const;
    const std::vector<std::string>& variables_read() const;

 private:
    struct Compiled;
    std::shared_ptr<const Compiled> compiled_;
};

/// Where the expression that begins at `from` (behind its `${`) ends: at the `}` that closes it,
/// outside of strings and inner braces; npos when there is none.
std::size_t expression_end(std::string_view text, std::size_t from);

}  // namespace ebb
