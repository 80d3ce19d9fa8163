#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/filter/filter.h"

// A filter as SQL with parameters. The two databases differ in a few words only.

namespace ebb::filter {

/// What the databases write differently. Each statement is a template, see fill().
struct Dialect {
    bool is_postgres = false;
    std::string_view label_exists;    ///< {condition} is about the label `l`
    std::string_view failure_exists;  ///< {condition} is about the failure `f`
    std::string_view all;             ///< instances that fit {condition}, sorted by {order}
    std::string_view labeled;         ///< the same, of those whose label `d` fits {driver}
};

/// `text` with `{condition}` replaced.
std::string fill(std::string_view text, std::string_view condition);

/// A double goes to PostgreSQL as a text, which the statement casts.
using SqlArgument = std::variant<std::string, double, std::int64_t>;

/// Writes parts of one statement, whose instances are the table `i`.
class SqlWriter {
 public:
    /// `taken`: so many parameters has the statement already.
    SqlWriter(const Dialect& dialect, int taken) : dialect_(dialect), taken_(taken) {}

    /// The whole statement: one of the dialect's two, by what an index finds.
    std::string statement(const Condition& condition, InstanceOrder order);

    /// A bool that is never NULL.
    std::string condition(const Condition& condition);

    /// Those that were written so far, in the order of their parameters.
    std::vector<SqlArgument>& arguments() { return arguments_; }

 private:
    std::string parameter(const LabelValue& value);
    std::string comparison(const Condition& condition);
    std::string text(const Condition& condition, const std::string& column);
    std::string ordered(const Condition& condition, const std::string& column);
    std::string label(const Condition& condition, const std::string& table);
    std::string failure(const Condition& condition, const std::string& column);

    const Dialect& dialect_;
    int taken_;
    std::vector<SqlArgument> arguments_;
};

}  // namespace ebb::filter
