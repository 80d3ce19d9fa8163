#include "core/predicate/typing.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/expression/source.h"
#include "core/predicate/evaluator.h"

namespace ebb::predicate {

void Typing::fail(Span span, std::string message) const {
    throw_at(code_.source, span.offset, std::move(message));
}

std::string Typing::shown(NodeId id) const {
    const CodeNode& made = node(id);
    constexpr std::size_t kShownMax = 40;
    const auto text = std::string_view(code_.source).substr(made.offset, made.end - made.offset);
    return expression::shortened(text, kShownMax);
}

namespace {

/// Whether the result is NULL whenever an operand is; PostgreSQL then does not look at the others.
bool is_strict(Op op) {
    switch (op) {
        case Op::Not:
        case Op::Equal:
        case Op::NotEqual:
        case Op::Less:
        case Op::LessOrEqual:
        case Op::Greater:
        case Op::GreaterOrEqual:
        case Op::Like:
        case Op::NotLike:
        case Op::ILike:
        case Op::NotILike:
        case Op::Add:
        case Op::Subtract:
        case Op::Multiply:
        case Op::Divide:
        case Op::Modulo:
        case Op::Negate:
        case Op::Concat:
        case Op::JsonText:
        case Op::Cast:
        case Op::Call:
            return true;
        default:
            return false;
    }
}

}  // namespace

bool Typing::is_null(NodeId id) const {
    return is_constant(id) && code_.constant(node(id)).is_null;
}

bool Typing::is_true(NodeId id) const {
    return is_constant(id) && !is_null(id) && code_.constant(node(id)).integer != 0;
}

bool Typing::is_false(NodeId id) const {
    return is_constant(id) && !is_null(id) && code_.constant(node(id)).integer == 0;
}

NodeId Typing::constant(Type type, Datum datum, Span span) {
    code_.constants.push_back(std::move(datum));
    return add(
        {.op = Op::Constant,
         .type = type,
         .index = static_cast<std::int32_t>(code_.constants.size() - 1)},
        {},
        span
    );
}

NodeId Typing::add(CodeNode made, const std::vector<NodeId>& operands, Span span) {
    if (code_.nodes.size() >= PredicateLimits::kOperationsMax) {
        fail(
            span,
            fmt::format(
                "The condition has more than {} operations.", PredicateLimits::kOperationsMax
            )
        );
    }
    made.offset = span.offset;
    made.end = span.end;
    made.first = static_cast<std::int32_t>(code_.operands.size());
    made.count = static_cast<std::int32_t>(operands.size());
    code_.operands.insert(code_.operands.end(), operands.begin(), operands.end());
    bool is_foldable = !operands.empty();
    bool has_null = false;
    for (const NodeId operand : operands) {
        is_foldable = is_foldable && is_constant(operand);
        has_null = has_null || is_null(operand);
    }
    if (is_foldable) return folded(made, span);
    if (has_null && is_strict(made.op)) return constant(made.type, {}, span);
    code_.nodes.push_back(made);
    return static_cast<NodeId>(code_.nodes.size() - 1);
}

NodeId Typing::folded(CodeNode made, Span span) {
    // What is constant fails here and now or never. PostgreSQL computes it when it plans, even
    // where it is never needed, so both must refuse it.
    code_.nodes.push_back(made);
    Datum datum;
    {
        Evaluator evaluator(code_, {});
        const Value value = evaluator.evaluate(static_cast<NodeId>(code_.nodes.size() - 1));
        datum.is_null = value.is_null;
        if (!value.is_null) {
            datum.integer = value.integer;
            datum.real = value.real;
            datum.text = std::string(value.text);
            if (value.numeric != nullptr) datum.numeric = *value.numeric;
            if (value.interval != nullptr) datum.interval = *value.interval;
        }
    }
    code_.nodes.pop_back();
    return constant(made.type, std::move(datum), span);
}

NodeId Typing::column(std::int32_t index, Span span) {
    code_.reads[static_cast<std::size_t>(index)] = true;
    return add(
        {.op = Op::Column,
         .type = code_.columns[static_cast<std::size_t>(index)].type,
         .index = index},
        {},
        span
    );
}

NodeId Typing::null(Span span) {
    return constant(Type::Unknown, {}, span);
}

NodeId Typing::text(std::string value, Span span) {
    return constant(Type::Unknown, {.is_null = false, .text = std::move(value)}, span);
}

NodeId Typing::boolean(bool value, Span span) {
    return constant(Type::Boolean, {.is_null = false, .integer = value ? 1 : 0}, span);
}

NodeId Typing::number(const std::string& digits, Span span) {
    const bool is_whole = digits.find_first_not_of("0123456789") == std::string::npos;
    if (is_whole) {
        for (const Type type : {Type::Int4, Type::Int8}) {
            ParsedDatum parsed = parse_datum(type, digits);
            if (parsed.fault.empty()) return constant(type, std::move(parsed.datum), span);
        }
    }
    ParsedDatum parsed = parse_datum(Type::Numeric, digits);
    if (!parsed.fault.empty()) fail(span, fmt::format("Allowed is {}.", parsed.fault));
    return constant(Type::Numeric, std::move(parsed.datum), span);
}

NodeId Typing::typed_literal(Type type, const std::string& value, Span span) {
    return coerced(text(value, span), type, "the literal");
}

namespace {

/// `a date`, `an integer`.
std::string with_article(Type type) {
    const std::string_view name = spoken(type);
    const bool has_vowel = name.starts_with('i') || name.starts_with('a');
    return fmt::format("{} {}", has_vowel ? "an" : "a", name);
}

}  // namespace

NodeId Typing::coerced(NodeId id, Type type, std::string_view what) {
    const CodeNode made = node(id);
    const Span span{made.offset, made.end};
    if (made.type == type) return id;
    if (made.type == Type::Unknown) {
        const Datum& literal = code_.constant(made);
        if (literal.is_null) return constant(type, {}, span);
        ParsedDatum parsed = parse_datum(type, literal.text);
        if (!parsed.fault.empty()) {
            fail(
                span,
                fmt::format(
                    "{} is not {}: allowed is {}.", shown(id), with_article(type), parsed.fault
                )
            );
        }
        return constant(type, std::move(parsed.datum), span);
    }
    const bool is_wider = is_number(made.type) && is_number(type) && made.type < type;
    const bool is_midnight = made.type == Type::Date && type == Type::Timestamp;
    if (is_wider || is_midnight) return add({.op = Op::Cast, .type = type}, {id}, span);
    // Two sizes of integers have one name.
    const bool is_said_apart = spoken(type) != spoken(made.type);
    fail(
        span,
        fmt::format(
            "{} needs {}, but {} is {}.",
            what,
            is_said_apart ? spoken(type) : to_string(type),
            shown(id),
            is_said_apart ? spoken(made.type) : to_string(made.type)
        )
    );
}

Type Typing::common_type(const std::vector<NodeId>& operands, std::string_view what, Span span)
    const {
    Type common = Type::Unknown;
    NodeId first = operands.front();
    for (const NodeId operand : operands) {
        const Type type = type_of(operand);
        if (type == Type::Unknown || type == common) continue;
        const bool is_wider = (is_number(type) && is_number(common) && type > common) ||
                              (type == Type::Timestamp && common == Type::Date);
        const bool is_narrower = (is_number(type) && is_number(common)) ||
                                 (type == Type::Date && common == Type::Timestamp);
        if (common == Type::Unknown || is_wider) {
            common = type;
            first = operand;
        } else if (!is_narrower) {
            fail(
                span,
                fmt::format(
                    "{} cannot take {} ({}) and {} ({}) together: cast one of them, such as "
                    "({})::{}.",
                    what,
                    shown(first),
                    spoken(common),
                    shown(operand),
                    spoken(type),
                    shown(operand),
                    to_string(common)
                )
            );
        }
    }
    return common == Type::Unknown ? Type::Text : common;
}

NodeId Typing::as_boolean(NodeId operand, std::string_view where) {
    return coerced(operand, Type::Boolean, where);
}

NodeId Typing::logic(Op op, const std::vector<NodeId>& operands, Span span) {
    std::vector<NodeId> conditions;
    // PostgreSQL drops what cannot change the result before it evaluates anything.
    bool is_decided = false;
    for (const NodeId operand : operands) {
        const NodeId condition = as_boolean(operand, op == Op::And ? "AND" : "OR");
        is_decided = is_decided || (op == Op::And ? is_false(condition) : is_true(condition));
        const bool is_neutral = op == Op::And ? is_true(condition) : is_false(condition);
        if (!is_neutral) conditions.push_back(condition);
    }
    if (is_decided) return boolean(op == Op::Or, span);
    if (conditions.empty()) return boolean(op == Op::And, span);
    if (conditions.size() == 1) return conditions.front();
    return add({.op = op, .type = Type::Boolean}, conditions, span);
}

NodeId Typing::negation(NodeId operand, Span span) {
    return add({.op = Op::Not, .type = Type::Boolean}, {as_boolean(operand, "NOT")}, span);
}

namespace {

bool is_comparable(Type type) {
    return type != Type::Json && type != Type::Interval;
}

}  // namespace

NodeId Typing::comparison(Op op, NodeId a, NodeId b, Span span) {
    const Type type = common_type({a, b}, "The comparison", span);
    if (!is_comparable(type)) {
        fail(
            span,
            fmt::format(
                "Values of {} cannot be compared{}.",
                spoken(type),
                type == Type::Json ? "; compare a member, such as document ->> 'key'" : ""
            )
        );
    }
    return add(
        {.op = op, .type = Type::Boolean},
        {coerced(a, type, "The comparison"), coerced(b, type, "The comparison")},
        span
    );
}

NodeId Typing::test(Op op, NodeId operand, Span span) {
    if (op != Op::IsNull && op != Op::IsNotNull) operand = as_boolean(operand, "IS");
    return add({.op = op, .type = Type::Boolean}, {operand}, span);
}

NodeId Typing::distinctness(Op op, NodeId a, NodeId b, Span span) {
    const Type type = common_type({a, b}, "IS DISTINCT FROM", span);
    if (!is_comparable(type)) {
        fail(span, fmt::format("Values of {} cannot be compared.", spoken(type)));
    }
    return add(
        {.op = op, .type = Type::Boolean},
        {coerced(a, type, "IS DISTINCT FROM"), coerced(b, type, "IS DISTINCT FROM")},
        span
    );
}

NodeId Typing::membership(Op op, std::vector<NodeId> operands, Span span) {
    const Type type = common_type(operands, "IN", span);
    if (!is_comparable(type)) {
        fail(span, fmt::format("Values of {} cannot be compared.", spoken(type)));
    }
    for (NodeId& operand : operands) operand = coerced(operand, type, "IN");
    if (is_null(operands.front())) return constant(Type::Boolean, {}, span);
    return add({.op = op, .type = Type::Boolean}, operands, span);
}

NodeId Typing::between(Op op, NodeId value, NodeId least, NodeId most, Span span) {
    return add(
        {.op = op, .type = Type::Boolean},
        {comparison(Op::GreaterOrEqual, value, least, span),
         comparison(Op::LessOrEqual, value, most, span)},
        span
    );
}

NodeId Typing::like(Op op, NodeId value, std::string pattern, std::string escape, Span span) {
    if (expression::count_characters(escape) > 1) {
        fail(span, "ESCAPE takes one character, or an empty text for none.");
    }
    if (has_open_escape(pattern, escape)) {
        fail(span, "The pattern ends in its escape character.");
    }
    const NodeId subject = coerced(value, Type::Text, "LIKE");
    return add(
        {.op = op, .type = Type::Boolean},
        {subject,
         constant(Type::Text, {.is_null = false, .text = std::move(pattern)}, span),
         constant(Type::Text, {.is_null = false, .text = std::move(escape)}, span)},
        span
    );
}

NodeId Typing::arithmetic(Op op, NodeId a, NodeId b, Span span) {
    // What is added to a time may stand before it. As in PostgreSQL, a literal that is added to a
    // timestamp is an interval, and one that a date is reduced by is a date.
    const auto is_before = [&](Type addend, Type time) {
        return op == Op::Add && type_of(a) == addend && type_of(b) == time;
    };
    if (is_before(Type::Interval, Type::Timestamp) || is_before(Type::Unknown, Type::Timestamp) ||
        is_before(Type::Int4, Type::Date)) {
        std::swap(a, b);
    }
    if (op == Op::Add && type_of(a) == Type::Timestamp && type_of(b) == Type::Unknown) {
        b = coerced(b, Type::Interval, "The operation");
    }
    if (op == Op::Subtract && type_of(a) == Type::Date && type_of(b) == Type::Unknown) {
        b = coerced(b, Type::Date, "The operation");
    }
    const Type left = type_of(a);
    const Type right = type_of(b);
    const bool is_sum = op == Op::Add || op == Op::Subtract;
    if (is_sum && left == Type::Timestamp && right == Type::Interval) {
        return add({.op = op, .type = Type::Timestamp}, {a, b}, span);
    }
    if (is_sum && left == Type::Date && right == Type::Int4) {
        return add({.op = op, .type = Type::Date}, {a, b}, span);
    }
    if (op == Op::Subtract && left == Type::Date && right == Type::Date) {
        // A number of days: the two are never far apart enough to fail.
        return add({.op = Op::Subtract, .type = Type::Int4}, {a, b}, span);
    }
    const bool are_numbers = (is_number(left) || left == Type::Unknown) &&
                             (is_number(right) || right == Type::Unknown) &&
                             (is_number(left) || is_number(right));
    if (!are_numbers) {
        fail(
            span,
            fmt::format(
                "There is no such operation for {} ({}) and {} ({}); allowed are numbers, a "
                "timestamp with an interval, and a date with an integer or a date.",
                shown(a),
                spoken(left),
                shown(b),
                spoken(right)
            )
        );
    }
    const Type type = common_type({a, b}, "The operation", span);
    if (op == Op::Modulo && type == Type::Double) {
        fail(span, "% is not defined for double precision: cast both to numeric.");
    }
    return add(
        {.op = op, .type = type},
        {coerced(a, type, "The operation"), coerced(b, type, "The operation")},
        span
    );
}

NodeId Typing::minus(NodeId operand, Span span) {
    if (!is_number(type_of(operand))) {
        fail(span, fmt::format("- needs a number, but {} is not one.", shown(operand)));
    }
    return add({.op = Op::Negate, .type = type_of(operand)}, {operand}, span);
}

NodeId Typing::concatenation(NodeId a, NodeId b, Span span) {
    const auto is_text = [&](NodeId id) { return type_of(id) == Type::Text; };
    const bool are_texts =
        (is_text(a) || type_of(a) == Type::Unknown) && (is_text(b) || type_of(b) == Type::Unknown);
    if (!are_texts) {
        const NodeId other = is_text(a) || type_of(a) == Type::Unknown ? b : a;
        fail(
            span,
            fmt::format(
                "|| needs two texts, but {} is {}: cast it, such as ({})::text.",
                shown(other),
                spoken(type_of(other)),
                shown(other)
            )
        );
    }
    return add(
        {.op = Op::Concat, .type = Type::Text},
        {coerced(a, Type::Text, "||"), coerced(b, Type::Text, "||")},
        span
    );
}

NodeId Typing::json_text(NodeId json, NodeId key, Span span) {
    if (type_of(json) != Type::Json) {
        fail(span, fmt::format("->> needs a JSON document, but {} is not one.", shown(json)));
    }
    return add(
        {.op = Op::JsonText, .type = Type::Text}, {json, coerced(key, Type::Text, "->>")}, span
    );
}

bool Typing::may_cast(NodeId operand, Type type) const {
    const Type from = type_of(operand);
    if (from == type || from == Type::Unknown) return true;
    if (is_number(from) && is_number(type)) return true;
    const bool is_flag = (from == Type::Boolean && type == Type::Int4) ||
                         (from == Type::Int4 && type == Type::Boolean);
    const bool is_calendar = (from == Type::Date && type == Type::Timestamp) ||
                             (from == Type::Timestamp && type == Type::Date);
    if (is_flag || is_calendar) return true;
    if (from == Type::Text) {
        return is_number(type) || type == Type::Boolean || type == Type::Uuid;
    }
    const bool has_text =
        is_number(from) || from == Type::Boolean || from == Type::Uuid || from == Type::Json;
    return type == Type::Text && has_text;
}

NodeId Typing::cast(NodeId operand, Type type, Span span) {
    const Type from = type_of(operand);
    if (!may_cast(operand, type)) {
        const bool is_time = type == Type::Timestamp || type == Type::Date ||
                             type == Type::Interval || from == Type::Timestamp ||
                             from == Type::Date;
        fail(
            span,
            fmt::format(
                "{} ({}) cannot be cast to {}{}.",
                shown(operand),
                spoken(from),
                spoken(type),
                is_time ? ": what that means would depend on the session's settings" : ""
            )
        );
    }
    if (from == type) return operand;
    if (from == Type::Unknown) return coerced(operand, type, "The cast");
    return add({.op = Op::Cast, .type = type}, {operand}, span);
}

NodeId Typing::subject(NodeId id) {
    return type_of(id) == Type::Unknown ? coerced(id, Type::Text, "CASE") : id;
}

NodeId Typing::choice(std::vector<NodeId> operands, Span span) {
    std::vector<NodeId> results;
    for (std::size_t i = 1; i < operands.size(); i += 2) results.push_back(operands[i]);
    if (operands.size() % 2 == 1) results.push_back(operands.back());
    const Type type = common_type(results, "CASE", span);
    for (std::size_t i = 0; i + 1 < operands.size(); i += 2) {
        operands[i] = as_boolean(operands[i], "WHEN");
        operands[i + 1] = coerced(operands[i + 1], type, "CASE");
    }
    if (operands.size() % 2 == 1) operands.back() = coerced(operands.back(), type, "CASE");
    std::vector<NodeId> kept;
    std::size_t at = 0;
    for (; at + 1 < operands.size() && !is_true(operands[at]); at += 2) {
        if (is_null(operands[at]) || is_false(operands[at])) continue;
        kept.insert(kept.end(), {operands[at], operands[at + 1]});
    }
    const bool is_certain = at + 1 < operands.size();
    const bool has_else = is_certain || operands.size() % 2 == 1;
    const NodeId otherwise = is_certain ? operands[at + 1] : operands.back();
    if (kept.empty()) return has_else ? otherwise : constant(type, {}, span);
    if (has_else) kept.push_back(otherwise);
    return add({.op = Op::Case, .type = type}, kept, span);
}

NodeId Typing::common(Op op, std::vector<NodeId> operands, Span span) {
    const Type type = common_type(operands, "The function", span);
    if (op != Op::Coalesce && !is_comparable(type)) {
        fail(span, fmt::format("Values of {} cannot be compared.", spoken(type)));
    }
    for (NodeId& operand : operands) operand = coerced(operand, type, "The function");
    if (op != Op::Coalesce) return add({.op = op, .type = type}, operands, span);
    std::vector<NodeId> kept;
    for (const NodeId operand : operands) {
        if (is_null(operand)) continue;
        kept.push_back(operand);
        if (is_constant(operand)) break;
    }
    if (kept.empty()) return constant(type, {}, span);
    return kept.size() == 1 ? kept.front() : add({.op = op, .type = type}, kept, span);
}

NodeId Typing::null_if(NodeId a, NodeId b, Span span) {
    if (type_of(a) == Type::Unknown) a = coerced(a, Type::Text, "NULLIF");
    const NodeId is_equal = comparison(Op::Equal, a, b, span);
    return add({.op = Op::NullIf, .type = type_of(a)}, {a, is_equal}, span);
}

}  // namespace ebb::predicate
