#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/predicate/predicate.h"
#include "core/predicate/value.h"

namespace ebb::predicate {

/// An index into Code::nodes.
using NodeId = std::int32_t;

enum class Op : std::uint8_t {
    Constant,
    Column,
    And,
    Or,
    Not,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    IsNull,
    IsNotNull,
    IsTrue,
    IsNotTrue,
    IsFalse,
    IsNotFalse,
    IsDistinct,
    IsNotDistinct,
    In,
    NotIn,
    Between,
    NotBetween,
    Like,
    NotLike,
    ILike,
    NotILike,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Negate,
    Concat,
    JsonText,
    Cast,
    Case,  ///< condition, value, condition, value, ..., else
    Coalesce,
    NullIf,
    Greatest,
    Least,
    Call,
};

enum class Function : std::uint8_t {
    Lower,
    Upper,
    Length,
    Trim,
    LeftTrim,
    RightTrim,
    Substring,
    Left,
    Right,
    StartsWith,
    Abs,
    Ceil,
    Floor,
    Round,
};

/// One operation. Its operands are `Code::operands[first, first + count)`.
struct CodeNode {
    Op op = Op::Constant;
    Type type = Type::Unknown;
    Function function = Function::Lower;  ///< Call
    std::int32_t first = 0;
    std::int32_t count = 0;
    std::int32_t index = 0;  ///< Constant: of the constant; Column: of the column
    std::uint32_t offset = 0;
    std::uint32_t end = 0;  ///< of its source text
};

/// A compiled condition: operations in an array, each behind its operands.
struct Code {
    std::string source;
    std::vector<Column> columns;
    std::vector<CodeNode> nodes;
    std::vector<NodeId> operands;
    std::vector<Datum> constants;
    std::vector<bool> reads;
    NodeId root = 0;

    const CodeNode& node(NodeId id) const { return nodes[static_cast<std::size_t>(id)]; }

    NodeId operand(const CodeNode& node, std::int32_t i) const {
        return operands[static_cast<std::size_t>(node.first + i)];
    }

    const Datum& constant(const CodeNode& node) const {
        return constants[static_cast<std::size_t>(node.index)];
    }
};

/// Throws PredicateError for that place of the source.
[[noreturn]] void throw_at(const std::string& source, std::size_t offset, std::string message);

}  // namespace ebb::predicate
