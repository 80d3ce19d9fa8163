#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/error.h>

#include "core/predicate/types.h"
#include "core/predicate/value.h"

namespace ebb {

namespace predicate {
struct Code;
}

/// The named limits of conditions; each has a test at the limit and one above it.
struct PredicateLimits {
    static constexpr std::size_t kSourceBytesMax = std::size_t{16} << 10;
    static constexpr int kDepthMax = 64;
    static constexpr std::size_t kOperationsMax = 4'096;
    /// Of any text that an evaluation builds.
    static constexpr std::size_t kTextBytesMax = std::size_t{1} << 20;
};

/// A condition that cannot be compiled, or that fails on some values. `what()` is the message with
/// its place.
class PredicateError : public Error {
 public:
    PredicateError(std::string message, const std::string& source, int line, int column);

    /// A whole sentence, without the place.
    const std::string& message() const { return message_; }

    /// From 1.
    int line() const { return line_; }

    /// From 1, in characters.
    int column() const { return column_; }

 private:
    std::string message_;
    int line_;
    int column_;
};

/// A compiled condition over the attributes of a rules workflow: a typed subset of SQL with
/// PostgreSQL's meaning, where NULL makes a result unknown. It reads nothing but the attributes, so
/// the same row always gives the same result. Immutable and cheap to copy; several threads may
/// evaluate it at once.
class Predicate {
 public:
    /// Throws PredicateError with the place of the first problem.
    static Predicate compile(std::string_view source, std::span<const predicate::Column> columns);

    /// True, false, or empty when it is unknown. Throws PredicateError when the condition fails on
    /// these values (a division by zero, a text that is not a number, ...).
    std::optional<bool> evaluate(std::span<const predicate::Datum> row) const;

    /// Whether it is true: unknown is not.
    bool holds(std::span<const predicate::Datum> row) const { return evaluate(row) == true; }

    const std::string& source() const;

    /// Which columns it reads, by their index.
    const std::vector<bool>& reads() const;

    /// The same condition as a PostgreSQL expression over columns with the attributes' names. It
    /// is immutable: it depends neither on the session's settings nor on its search_path.
    std::string to_sql() const;

    const predicate::Code& code() const { return *code_; }

 private:
    std::shared_ptr<const predicate::Code> code_;
};

}  // namespace ebb
