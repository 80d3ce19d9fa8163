#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/expression/template.h"

namespace ebb {

/// A URL with `${expression}` in it. What an expression gives behind the host is percent-encoded,
/// slashes too, so that data cannot leave its place in the path or the query. In front of that it
/// is put in as it is. Immutable.
class UrlTemplate {
 public:
    UrlTemplate() = default;

    /// Throws ExpressionError.
    static UrlTemplate compile(std::string_view text);

    /// Throws HandlerFailure when an expression fails.
    std::string render(const Variables& variables) const;

    bool is_constant() const;
    /// True when an expression has a say in the scheme or the host.
    bool has_variable_host() const;
    std::vector<std::string> variables_read() const;

 private:
    struct Piece {
        Template text;
        bool is_encoded = false;
        bool is_expression = false;
    };

    std::vector<Piece> pieces_;
};

/// `text` with everything but letters, digits and `-._~` as %XX.
std::string percent_encode(std::string_view text);

}  // namespace ebb
