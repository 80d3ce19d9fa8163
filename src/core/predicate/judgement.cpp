#include "core/predicate/judgement.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "core/expression/source.h"
#include "core/predicate/code.h"
#include "core/predicate/types.h"

namespace ebb::predicate {

namespace {

constexpr std::size_t kShownMax = 40;

std::string_view source_of(const Code& code, const CodeNode& node) {
    return std::string_view(code.source).substr(node.offset, node.end - node.offset);
}

void for_each(const Code& code, NodeId id, const std::function<void(const CodeNode&)>& visit) {
    const CodeNode& node = code.node(id);
    visit(node);
    for (std::int32_t i = 0; i < node.count; ++i) for_each(code, code.operand(node, i), visit);
}

bool is_zero(const Code& code, const CodeNode& node) {
    if (node.op != Op::Constant) return false;
    const Datum& datum = code.constant(node);
    if (datum.is_null) return false;
    switch (node.type) {
        case Type::Int4:
        case Type::Int8:
            return datum.integer == 0;
        case Type::Double:
            return datum.real == 0;
        case Type::Numeric:
            return datum.numeric.is_zero();
        default:
            return false;
    }
}

bool ends_with_word(std::string_view text, std::string_view word) {
    if (text.size() <= word.size()) return false;
    const std::string_view end = text.substr(text.size() - word.size());
    return std::ranges::equal(end, word, [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
}

}  // namespace

std::vector<Objection> objections_to(const Predicate& condition) {
    const Code& code = condition.code();
    std::vector<Objection> found;
    for_each(code, code.root, [&](const CodeNode& node) {
        const bool divides = node.op == Op::Divide || node.op == Op::Modulo;
        if (divides && is_zero(code, code.node(code.operand(node, 1)))) {
            found.push_back({node.offset, node.end, "Division by zero."});
        }
        const bool is_test = node.op == Op::IsNull || node.op == Op::IsNotNull;
        if (!is_test || !ends_with_word(source_of(code, node), "unknown")) return;
        const CodeNode& operand = code.node(code.operand(node, 0));
        if (operand.type == Type::Boolean || operand.type == Type::Unknown) return;
        found.push_back(
            {node.offset,
             node.end,
             fmt::format(
                 "IS UNKNOWN needs a boolean, but {} is {}: write IS {}NULL.",
                 expression::shortened(source_of(code, operand), kShownMax),
                 spoken(operand.type),
                 node.op == Op::IsNull ? "" : "NOT "
             )}
        );
    });
    return found;
}

std::vector<std::string> comparisons_with_null(const Predicate& condition) {
    const Code& code = condition.code();
    std::vector<std::string> found;
    for_each(code, code.root, [&](const CodeNode& node) {
        if (node.op != Op::Constant || !code.constant(node).is_null) return;
        const std::string_view source = source_of(code, node);
        // NULL itself has no more than its own letters.
        constexpr std::size_t kNullBytes = 4;
        if (source.size() <= kNullBytes) return;
        found.push_back(expression::shortened(source, kShownMax));
    });
    return found;
}

}  // namespace ebb::predicate
