#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/predicate/code.h"

namespace ebb::predicate {

/// The source text that a part of a condition stands for.
struct Span {
    std::uint32_t offset = 0;
    std::uint32_t end = 0;
};

/// Adds typed operations to a Code: it finds out what an operator means for the types of its
/// operands as PostgreSQL does, adds casts, and computes what is constant. Every function throws
/// PredicateError if the types do not fit.
class Typing {
 public:
    explicit Typing(Code& code) : code_(code) {}

    NodeId column(std::int32_t index, Span span);
    NodeId null(Span span);
    NodeId text(std::string value, Span span);
    NodeId number(const std::string& digits, Span span);
    NodeId boolean(bool value, Span span);
    /// `date '...'`, `timestamp '...'`, `interval '...'` and so on.
    NodeId typed_literal(Type type, const std::string& value, Span span);

    NodeId logic(Op op, const std::vector<NodeId>& operands, Span span);
    NodeId negation(NodeId operand, Span span);
    NodeId comparison(Op op, NodeId a, NodeId b, Span span);
    /// IS [NOT] NULL / TRUE / FALSE.
    NodeId test(Op op, NodeId operand, Span span);
    NodeId distinctness(Op op, NodeId a, NodeId b, Span span);
    /// The first operand is looked for among the others.
    NodeId membership(Op op, std::vector<NodeId> operands, Span span);
    NodeId between(Op op, NodeId value, NodeId least, NodeId most, Span span);
    NodeId like(Op op, NodeId value, std::string pattern, std::string escape, Span span);
    NodeId arithmetic(Op op, NodeId a, NodeId b, Span span);
    NodeId minus(NodeId operand, Span span);
    NodeId concatenation(NodeId a, NodeId b, Span span);
    NodeId json_text(NodeId json, NodeId key, Span span);
    NodeId cast(NodeId operand, Type type, Span span);
    /// What a CASE compares. Without a type of its own it is a text, as in PostgreSQL.
    NodeId subject(NodeId id);
    /// `operands` as Op::Case has them.
    NodeId choice(std::vector<NodeId> operands, Span span);
    /// COALESCE, GREATEST, LEAST.
    NodeId common(Op op, std::vector<NodeId> operands, Span span);
    NodeId null_if(NodeId a, NodeId b, Span span);
    NodeId call(std::string_view name, std::vector<NodeId> arguments, Span span);
    /// Throws if there is no function of this name.
    void check_function(std::string_view name, Span span) const;

    /// What a condition, AND, OR, NOT and WHEN need.
    NodeId as_boolean(NodeId operand, std::string_view where);

 private:
    const CodeNode& node(NodeId id) const { return code_.node(id); }

    Type type_of(NodeId id) const { return node(id).type; }

    bool is_constant(NodeId id) const { return node(id).op == Op::Constant; }

    bool is_null(NodeId id) const;
    bool is_true(NodeId id) const;
    bool is_false(NodeId id) const;
    [[noreturn]] void fail(Span span, std::string message) const;
    std::string shown(NodeId id) const;
    NodeId constant(Type type, Datum datum, Span span);
    NodeId add(CodeNode made, const std::vector<NodeId>& operands, Span span);
    NodeId folded(CodeNode made, Span span);
    /// Without an error: an implicit conversion, or the literal read as that type.
    NodeId coerced(NodeId id, Type type, std::string_view what);
    /// The type that both, or all, can have; fails when there is none.
    Type common_type(const std::vector<NodeId>& operands, std::string_view what, Span span) const;
    bool may_cast(NodeId operand, Type type) const;
    NodeId rounding(Function function, std::vector<NodeId> arguments, Span span);
    std::vector<NodeId> coerced_all(
        std::vector<NodeId> arguments, const std::vector<Type>& types, std::string_view name
    );

    Code& code_;
};

}  // namespace ebb::predicate
