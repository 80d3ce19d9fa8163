#include "core/predicate/parser.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/expression/names.h"
#include "core/expression/source.h"

namespace ebb::predicate {

/// Bounds the stack.
class Parser::Nesting {
 public:
    explicit Nesting(Parser& parser) : parser_(parser) {
        if (++parser_.depth_ <= PredicateLimits::kDepthMax) return;
        throw_at(
            parser_.code_.source,
            parser_.token_.offset,
            fmt::format("The condition is nested more than {} deep.", PredicateLimits::kDepthMax)
        );
    }

    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

    ~Nesting() { --parser_.depth_; }

 private:
    Parser& parser_;
};

void Parser::advance() {
    last_end_ = token_.end;
    token_ = std::move(ahead_);
    ahead_ = lexer_.next();
}

bool Parser::is_word(std::string_view word) const {
    return token_.kind == TokenKind::Name && token_.text == word;
}

bool Parser::is_symbol(std::string_view symbol) const {
    return token_.kind == TokenKind::Symbol && token_.text == symbol;
}

bool Parser::take_word(std::string_view word) {
    if (!is_word(word)) return false;
    advance();
    return true;
}

bool Parser::take_symbol(std::string_view symbol) {
    if (!is_symbol(symbol)) return false;
    advance();
    return true;
}

void Parser::expect_word(std::string_view word) {
    if (!take_word(word)) unexpected(word);
}

void Parser::expect_symbol(std::string_view symbol) {
    if (!take_symbol(symbol)) unexpected(fmt::format("\"{}\"", symbol));
}

void Parser::unexpected(std::string_view wanted) const {
    const auto text =
        std::string_view(code_.source).substr(token_.offset, token_.end - token_.offset);
    throw_at(
        code_.source,
        token_.offset,
        token_.kind == TokenKind::End
            ? fmt::format("The condition ends where {} must follow.", wanted)
            : fmt::format(
                  "{} stands where {} must follow.", expression::shortened(text, 40), wanted
              )
    );
}

void Parser::run() {
    token_ = lexer_.next();
    ahead_ = lexer_.next();
    const NodeId root = disjunction();
    if (token_.kind != TokenKind::End) unexpected("an operator or the end");
    code_.root = typing_.as_boolean(root, "A condition");
}

NodeId Parser::disjunction() {
    const Nesting nesting(*this);
    const std::size_t offset = token_.offset;
    std::vector<NodeId> operands{conjunction()};
    while (take_word("or")) operands.push_back(conjunction());
    if (operands.size() == 1) return operands[0];
    return typing_.logic(Op::Or, operands, span_from(offset));
}

NodeId Parser::conjunction() {
    const std::size_t offset = token_.offset;
    std::vector<NodeId> operands{inversion()};
    while (take_word("and")) operands.push_back(inversion());
    if (operands.size() == 1) return operands[0];
    return typing_.logic(Op::And, operands, span_from(offset));
}

NodeId Parser::inversion() {
    const std::size_t offset = token_.offset;
    if (!take_word("not")) return test();
    const Nesting nesting(*this);
    const NodeId operand = inversion();
    return typing_.negation(operand, span_from(offset));
}

NodeId Parser::test() {
    const std::size_t offset = token_.offset;
    const NodeId operand = comparison();
    if (!take_word("is")) return operand;
    return after_is(operand, offset);
}

NodeId Parser::after_is(NodeId operand, std::size_t offset) {
    const bool is_negated = take_word("not");
    if (take_word("null") || take_word("unknown")) {
        return typing_.test(is_negated ? Op::IsNotNull : Op::IsNull, operand, span_from(offset));
    }
    if (take_word("true")) {
        return typing_.test(is_negated ? Op::IsNotTrue : Op::IsTrue, operand, span_from(offset));
    }
    if (take_word("false")) {
        return typing_.test(is_negated ? Op::IsNotFalse : Op::IsFalse, operand, span_from(offset));
    }
    if (take_word("distinct")) {
        expect_word("from");
        const NodeId other = comparison();
        return typing_.distinctness(
            is_negated ? Op::IsNotDistinct : Op::IsDistinct, operand, other, span_from(offset)
        );
    }
    unexpected("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM");
}

NodeId Parser::comparison() {
    constexpr std::array<std::pair<std::string_view, Op>, 7> kOperators{{
        {"=", Op::Equal},
        {"<>", Op::NotEqual},
        {"!=", Op::NotEqual},
        {"<=", Op::LessOrEqual},
        {">=", Op::GreaterOrEqual},
        {"<", Op::Less},
        {">", Op::Greater},
    }};
    const std::size_t offset = token_.offset;
    const NodeId left = matching();
    for (const auto& [symbol, op] : kOperators) {
        if (!take_symbol(symbol)) continue;
        const NodeId right = matching();
        return typing_.comparison(op, left, right, span_from(offset));
    }
    return left;
}

NodeId Parser::matching() {
    const std::size_t offset = token_.offset;
    const NodeId value = joining();
    const bool is_negated = is_word("not");
    if (is_negated) advance();
    if (take_word("in")) return membership(value, is_negated, offset);
    if (take_word("between")) {
        const NodeId least = joining();
        expect_word("and");
        const NodeId most = joining();
        return typing_.between(
            is_negated ? Op::NotBetween : Op::Between, value, least, most, span_from(offset)
        );
    }
    if (take_word("like")) return likeness(value, is_negated ? Op::NotLike : Op::Like, offset);
    if (take_word("ilike")) return likeness(value, is_negated ? Op::NotILike : Op::ILike, offset);
    if (is_negated) unexpected("IN, BETWEEN, LIKE or ILIKE");
    return value;
}

NodeId Parser::membership(NodeId value, bool is_negated, std::size_t offset) {
    expect_symbol("(");
    std::vector<NodeId> operands{value};
    for (const NodeId element : list(")")) operands.push_back(element);
    return typing_.membership(
        is_negated ? Op::NotIn : Op::In, std::move(operands), span_from(offset)
    );
}

NodeId Parser::likeness(NodeId value, Op op, std::size_t offset) {
    std::string pattern = text_literal("a pattern in quotes");
    std::string escape = "\\";
    if (take_word("escape")) escape = text_literal("the escape character in quotes");
    return typing_.like(op, value, std::move(pattern), std::move(escape), span_from(offset));
}

std::string Parser::text_literal(std::string_view what) {
    if (token_.kind != TokenKind::Text) unexpected(what);
    std::string text = std::move(token_.text);
    advance();
    return text;
}

NodeId Parser::joining() {
    const std::size_t offset = token_.offset;
    NodeId left = sum();
    while (is_symbol("||") || is_symbol("->>")) {
        const bool is_concatenation = is_symbol("||");
        advance();
        const NodeId right = sum();
        left = is_concatenation ? typing_.concatenation(left, right, span_from(offset))
                                : typing_.json_text(left, right, span_from(offset));
    }
    return left;
}

NodeId Parser::sum() {
    const std::size_t offset = token_.offset;
    NodeId left = product();
    while (is_symbol("+") || is_symbol("-")) {
        const Op op = is_symbol("+") ? Op::Add : Op::Subtract;
        advance();
        const NodeId right = product();
        left = typing_.arithmetic(op, left, right, span_from(offset));
    }
    return left;
}

NodeId Parser::product() {
    const std::size_t offset = token_.offset;
    NodeId left = sign();
    while (is_symbol("*") || is_symbol("/") || is_symbol("%")) {
        Op op = Op::Multiply;
        if (is_symbol("/")) op = Op::Divide;
        if (is_symbol("%")) op = Op::Modulo;
        advance();
        const NodeId right = sign();
        left = typing_.arithmetic(op, left, right, span_from(offset));
    }
    return left;
}

NodeId Parser::sign() {
    const std::size_t offset = token_.offset;
    if (!take_symbol("-")) return cast();
    const Nesting nesting(*this);
    const NodeId operand = sign();
    return typing_.minus(operand, span_from(offset));
}

NodeId Parser::cast() {
    const std::size_t offset = token_.offset;
    NodeId operand = atom();
    while (take_symbol("::")) {
        const Type type = type_name();
        operand = typing_.cast(operand, type, span_from(offset));
    }
    return operand;
}

Type Parser::type_name() {
    if (token_.kind != TokenKind::Name) unexpected("a type");
    std::string name = token_.text;
    const std::size_t offset = token_.offset;
    advance();
    if (name == "double") {
        expect_word("precision");
        name = "double precision";
    } else if ((name == "timestamp" || name == "time") && is_word("with")) {
        advance();
        expect_word("time");
        expect_word("zone");
        name += " with time zone";
    }
    const auto type = parse_type(name);
    if (!type) {
        throw_at(
            code_.source,
            offset,
            fmt::format(
                "There is no type \"{}\" here; allowed are text, boolean, integer, bigint, "
                "double precision, numeric, timestamptz, date, uuid, jsonb.",
                name
            )
        );
    }
    return *type;
}

std::vector<NodeId> Parser::list(std::string_view end) {
    std::vector<NodeId> elements{disjunction()};
    while (take_symbol(",")) elements.push_back(disjunction());
    expect_symbol(end);
    return elements;
}

NodeId Parser::atom() {
    const std::size_t offset = token_.offset;
    if (take_symbol("(")) {
        const NodeId inner = disjunction();
        expect_symbol(")");
        return inner;
    }
    if (token_.kind == TokenKind::Number) {
        const std::string digits = token_.text;
        advance();
        return typing_.number(digits, span_from(offset));
    }
    if (token_.kind == TokenKind::Text) {
        std::string text = std::move(token_.text);
        advance();
        return typing_.text(std::move(text), span_from(offset));
    }
    if (token_.kind == TokenKind::QuotedName) {
        const LexedToken token = token_;
        advance();
        return column(token);
    }
    if (token_.kind == TokenKind::Name) return name();
    unexpected("a value");
}

NodeId Parser::name() {
    constexpr std::array<std::string_view, 27> kReserved{
        "and",    "or",    "not",    "is",   "in",   "between", "like", "ilike", "escape",
        "then",   "else",  "end",    "when", "from", "for",     "as",   "using", "distinct",
        "select", "where", "exists", "any",  "all",  "some",    "with", "order", "user",
    };
    const LexedToken token = token_;
    const bool calls = ahead_.kind == TokenKind::Symbol && ahead_.text == "(";
    if (std::find(kReserved.begin(), kReserved.end(), token.text) != kReserved.end()) {
        if (token.text == "select" || token.text == "exists") {
            throw_at(code_.source, token.offset, "A condition cannot contain a sub-select.");
        }
        unexpected("a value");
    }
    advance();
    const Span span = span_from(token.offset);
    if (token.text == "null") return typing_.null(span);
    if (token.text == "true") return typing_.boolean(true, span);
    if (token.text == "false") return typing_.boolean(false, span);
    if (token.text == "case") return case_expression();
    if (calls) return call(token.text, token.offset);
    const auto type = parse_type(token.text);
    if (type && token_.kind == TokenKind::Text) {
        const std::string text = text_literal("a literal");
        return typing_.typed_literal(*type, text, span_from(token.offset));
    }
    return column(token);
}

NodeId Parser::column(const LexedToken& token) {
    const Span span{
        static_cast<std::uint32_t>(token.offset), static_cast<std::uint32_t>(token.end)
    };
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < code_.columns.size(); ++i) {
        if (code_.columns[i].name == token.text) {
            return typing_.column(static_cast<std::int32_t>(i), span);
        }
        names.push_back(code_.columns[i].name);
    }
    throw_at(
        code_.source,
        token.offset,
        fmt::format(
            "There is no attribute \"{}\"{}{}",
            expression::shortened(token.text, 64),
            expression::instead_of(token.text, std::move(names)),
            token.kind == TokenKind::QuotedName ? " A text stands in single quotes." : ""
        )
    );
}

NodeId Parser::case_expression() {
    const Nesting nesting(*this);
    const std::size_t offset = token_.offset;
    const bool has_subject = !is_word("when");
    const NodeId subject = has_subject ? typing_.subject(disjunction()) : 0;
    std::vector<NodeId> operands;
    while (take_word("when")) {
        const std::size_t at = token_.offset;
        const NodeId condition = disjunction();
        operands.push_back(
            has_subject ? typing_.comparison(Op::Equal, subject, condition, span_from(at))
                        : condition
        );
        expect_word("then");
        operands.push_back(disjunction());
    }
    if (operands.empty()) unexpected("WHEN");
    if (take_word("else")) operands.push_back(disjunction());
    expect_word("end");
    return typing_.choice(std::move(operands), span_from(offset));
}

NodeId Parser::cast_function() {
    const std::size_t offset = token_.offset;
    const NodeId operand = disjunction();
    expect_word("as");
    const Type type = type_name();
    expect_symbol(")");
    return typing_.cast(operand, type, span_from(offset));
}

NodeId Parser::trim_function() {
    const std::size_t offset = token_.offset;
    std::string_view function = "btrim";
    const bool has_side = is_word("leading") || is_word("trailing") || is_word("both");
    if (has_side) {
        if (is_word("leading")) function = "ltrim";
        if (is_word("trailing")) function = "rtrim";
        advance();
    }
    std::vector<NodeId> arguments;
    if (has_side && take_word("from")) {
        arguments = list(")");
        return typing_.call(function, std::move(arguments), span_from(offset));
    }
    const NodeId first = disjunction();
    if (take_word("from")) {
        const NodeId subject = disjunction();
        expect_symbol(")");
        arguments = {subject, first};
    } else {
        arguments = {first};
        while (take_symbol(",")) arguments.push_back(disjunction());
        expect_symbol(")");
    }
    return typing_.call(function, std::move(arguments), span_from(offset));
}

NodeId Parser::substring_function() {
    const std::size_t offset = token_.offset;
    std::vector<NodeId> arguments{disjunction()};
    if (take_word("from")) {
        arguments.push_back(disjunction());
        if (take_word("for")) arguments.push_back(disjunction());
        expect_symbol(")");
    } else {
        while (take_symbol(",")) arguments.push_back(disjunction());
        expect_symbol(")");
    }
    return typing_.call("substring", std::move(arguments), span_from(offset));
}

NodeId Parser::call(const std::string& name, std::size_t offset) {
    expect_symbol("(");
    if (name == "now" || name == "clock_timestamp" || name == "random") {
        throw_at(
            code_.source,
            offset,
            fmt::format(
                "A condition depends on attributes alone, so it cannot call {}(). A transition "
                "that has to wait has `after`.",
                name
            )
        );
    }
    // Before its arguments, which may have a syntax of their own: extract(year from placed_at).
    if (name != "cast") typing_.check_function(name, span_from(offset));
    if (name == "cast") return cast_function();
    if (name == "trim") return trim_function();
    if (name == "substring") return substring_function();
    std::vector<NodeId> arguments = list(")");
    const Span span = span_from(offset);
    if (name == "coalesce") return typing_.common(Op::Coalesce, std::move(arguments), span);
    if (name == "greatest") return typing_.common(Op::Greatest, std::move(arguments), span);
    if (name == "least") return typing_.common(Op::Least, std::move(arguments), span);
    if (name == "nullif" && arguments.size() == 2) {
        return typing_.null_if(arguments[0], arguments[1], span);
    }
    if (name == "nullif") throw_at(code_.source, offset, "nullif takes 2 arguments.");
    return typing_.call(name, std::move(arguments), span);
}

}  // namespace ebb::predicate
