#pragma once

#include <string_view>
#include <vector>

#include "core/expression/expression.h"
#include "core/expression/spans.h"

// Which fields of variables and steps an expression names: for those that know what there is.

namespace ebb::expression {

/// `name` of `instance.name`, `instance["name"]`, `steps.pay.name` or `has(instance.name)`. It
/// lives as long as the expression.
struct FieldRead {
    std::string_view variable;  ///< `instance`; `steps` for the field of a step
    std::string_view step;      ///< of the field of a step: its name
    std::string_view name;
    Span span;  ///< of the name in the source, without its quotes
};

/// In the order of the source. Fields of fields are not among them.
std::vector<FieldRead> field_reads(const Expression& expression);

}  // namespace ebb::expression
