#include "core/predicate/guard.h"

#include <functional>
#include <string_view>

#include "core/predicate/code.h"

namespace ebb::predicate {

namespace {

bool has_key(Type type) {
    return type == Type::Text || type == Type::Int4 || type == Type::Int8;
}

/// On no row.
bool cannot_fail(const Code& code, NodeId id) {
    const CodeNode& node = code.node(id);
    switch (node.op) {
        case Op::Constant:
        case Op::Column:
            return true;
        case Op::And:
        case Op::Or:
        case Op::Not:
        case Op::Equal:
        case Op::NotEqual:
        case Op::Less:
        case Op::LessOrEqual:
        case Op::Greater:
        case Op::GreaterOrEqual:
        case Op::IsNull:
        case Op::IsNotNull:
        case Op::IsTrue:
        case Op::IsNotTrue:
        case Op::IsFalse:
        case Op::IsNotFalse:
        case Op::IsDistinct:
        case Op::IsNotDistinct:
        case Op::In:
        case Op::NotIn:
        case Op::Between:
        case Op::NotBetween:
            break;
        default:
            return false;
    }
    for (std::int32_t i = 0; i < node.count; ++i) {
        if (!cannot_fail(code, code.operand(node, i))) return false;
    }
    return true;
}

/// Of one equality.
std::optional<Guard> guard_in(const Code& code, NodeId id) {
    const CodeNode& node = code.node(id);
    if (node.op != Op::Equal) return std::nullopt;
    const CodeNode* column = &code.node(code.operand(node, 0));
    const CodeNode* constant = &code.node(code.operand(node, 1));
    if (column->op == Op::Constant) std::swap(column, constant);
    const bool is_one = column->op == Op::Column && constant->op == Op::Constant &&
                        has_key(column->type) && !code.constant(*constant).is_null;
    if (!is_one) return std::nullopt;
    return Guard{
        .column = static_cast<std::size_t>(column->index),
        .key = key_of(column->type, code.constant(*constant)),
    };
}

}  // namespace

std::optional<Guard> guard_of(const Predicate& condition) {
    const Code& code = condition.code();
    const CodeNode& root = code.node(code.root);
    // The operands are computed one after another until one is false.
    const std::int32_t count = root.op == Op::And ? root.count : 1;
    const auto part = [&](std::int32_t i) {
        return root.op == Op::And ? code.operand(root, i) : code.root;
    };
    for (std::int32_t i = 0; i < count; ++i) {
        std::optional<Guard> guard = guard_in(code, part(i));
        if (guard) {
            guard->excludes_null = true;
            for (std::int32_t rest = i + 1; rest < count; ++rest) {
                guard->excludes_null = guard->excludes_null && cannot_fail(code, part(rest));
            }
            return guard;
        }
        if (!cannot_fail(code, part(i))) return std::nullopt;
    }
    return std::nullopt;
}

std::uint64_t key_of(Type type, const Datum& value) {
    if (type == Type::Text) return std::hash<std::string_view>{}(value.text);
    return static_cast<std::uint64_t>(value.integer);
}

}  // namespace ebb::predicate
