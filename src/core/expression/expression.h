#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/error.h>
#include <ebb/json.h>

namespace ebb {

namespace expression {
struct Code;
}

/// The named limits of expressions; each has a test at the limit and one above it.
struct ExpressionLimits {
    std::size_t source_bytes_max = std::size_t{16} << 10;
    /// How deep parentheses, arguments, indices, elements and the signs `!` and `-` may be nested.
    int depth_max = 64;
    /// Steps of one evaluation: operations plus elements visited or copied; a text costs one for
    /// every 256 bytes.
    std::int64_t steps_max = 10'000;
    /// Of any text that is built, of a list or map that is built (16 bytes an element), and of the
    /// result as JSON. A variable's own value may be larger.
    std::size_t result_bytes_max = std::size_t{1} << 20;
};

/// An expression that cannot be compiled or evaluated. `what()` is the message with its place,
/// unless there is no source.
class ExpressionError : public Error {
 public:
    /// `meant` may replace the name at that place.
    ExpressionError(
        std::string message, std::string source, int line, int column, std::string meant = {}
    );

    /// A whole sentence, without the place.
    const std::string& message() const { return message_; }

    /// From 1.
    int line() const { return line_; }

    /// From 1, in characters.
    int column() const { return column_; }

    const std::string& source() const { return source_; }

    /// Empty = unknown.
    const std::string& meant() const { return meant_; }

 private:
    std::string message_;
    std::string source_;
    int line_;
    int column_;
    std::string meant_;
};

/// Where an expression's variables come from. It is asked only for what an evaluation reads, so an
/// implementation may fetch and parse lazily. The returned values must live until the evaluation
/// has ended.
class Variables {
 public:
    virtual ~Variables() = default;

    /// The value of a variable (`input`, `workflow`, `instance`, `attempt`, `now`, or a caller's
    /// own); null = unknown. `now` is a JSON string (RFC 3339); the language gives it the type
    /// timestamp by `timestamp(now)`.
    virtual const Json* find(std::string_view name) const = 0;

    /// What `steps.<name>` is: an object with `output`; null when that step has not completed.
    virtual const Json* find_step(std::string_view name) const = 0;

    /// What `steps.<name>.attempts` and `steps.<name>.error` read: an object with `attempts`, and
    /// with `error` if an attempt has failed; null where attempts are not known.
    virtual const Json* find_attempts(std::string_view) const { return nullptr; }
};

/// A compiled expression of the language of DESIGN §5: a subset of CEL (cel.dev). Immutable and
/// cheap to copy; evaluation has no side effects, is bounded by ExpressionLimits and may run in
/// several threads at once.
class Expression {
 public:
    /// Throws ExpressionError with the place of the first problem. The same source text is compiled
    /// once per process.
    static Expression compile(std::string_view source, const ExpressionLimits& limits = {});

    /// The value as JSON (int, uint, double, bool, string, null, list, map; timestamps and
    /// durations as text). Throws ExpressionError.
    Json evaluate(const Variables& variables) const;

    /// The same, but anything other than a bool is an error.
    bool evaluate_bool(const Variables& variables) const;

    const std::string& source() const;
    /// The names of all steps read as `steps.<name>` or `steps["<name>"]`; sorted, unique.
    const std::vector<std::string>& steps_read() const;
    /// The names of all steps of which the expression reads `attempts` or `error`; sorted, unique.
    /// Those of which it reads nothing else are not in steps_read.
    const std::vector<std::string>& attempts_read() const;
    /// The names of all free variables read; sorted, unique. `steps` is among them when any step is
    /// read.
    const std::vector<std::string>& variables_read() const;

    /// The instructions, for those that judge it without running it.
    const expression::Code& code() const;

 private:
    struct Compiled;
    std::shared_ptr<const Compiled> compiled_;
};

}  // namespace ebb
