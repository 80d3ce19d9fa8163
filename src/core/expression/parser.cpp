#include "core/expression/parser.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/expression/literal.h"
#include "core/expression/source.h"

namespace ebb::expression {

namespace {

std::vector<std::string> sorted(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

/// What other languages write here.
std::string_view remedy(const Token& token) {
    if (token.kind == TokenKind::Name && token.text == "and") return " Write \"&&\".";
    if (token.kind == TokenKind::Name && token.text == "or") return " Write \"||\".";
    if (token.kind == TokenKind::Name && token.text == "not") return " Write \"!\".";
    if (token.kind == TokenKind::Double && token.text.starts_with('.')) {
        return " An element of a list is read with brackets: list[0].";
    }
    if (token.kind == TokenKind::Question) return " Put an inner ?: into parentheses.";
    if (token.kind == TokenKind::LeftBrace) {
        return " Messages are not supported; a map is written {\"key\": value}.";
    }
    return "";
}

}  // namespace

Parser::Depth::Depth(Parser& parser) : parser_(parser) {
    if (++parser_.depth_ <= parser_.code_.limits.depth_max) return;
    parser_.fail(
        parser_.token_,
        fmt::format(
            "The expression is nested more than {} deep, which depth_max allows.",
            parser_.code_.limits.depth_max
        )
    );
}

Parser::Parser(Code& code) : code_(code), lexer_(code.source) {}

void Parser::run() {
    if (code_.source.size() > code_.limits.source_bytes_max) {
        throw_at(
            code_.source.substr(0, 80),
            0,
            fmt::format(
                "The expression has {} bytes; source_bytes_max allows {}.",
                code_.source.size(),
                code_.limits.source_bytes_max
            )
        );
    }
    if (const std::size_t at = find_invalid_utf8(code_.source); at != std::string_view::npos) {
        throw_at(
            shortened(code_.source.substr(0, at), at), at, "The expression is not UTF-8 here."
        );
    }
    token_ = lexer_.next();
    if (is(TokenKind::End)) fail(token_, "The expression is empty.");
    expression();
    if (!is(TokenKind::End)) fail_unexpected("an operator or the end");
    emit({.op = Op::Return, .place = token_.place}, 0);
    code_.steps_read = sorted(std::move(steps_));
    code_.attempts_read = sorted(std::move(attempts_));
    code_.variables_read = sorted(std::move(variables_));
}

Token Parser::advance() {
    return std::exchange(token_, lexer_.next());
}

bool Parser::accept(TokenKind kind) {
    if (!is(kind)) return false;
    advance();
    return true;
}

void Parser::expect(TokenKind kind, std::string_view what) {
    if (!accept(kind)) fail_unexpected(what);
}

Token Parser::peek() const {
    Lexer ahead = lexer_;
    return ahead.next();
}

void Parser::fail(const Token& token, const std::string& message) const {
    throw_at(code_.source, token.place, message);
}

void Parser::fail_unexpected(std::string_view expected) const {
    fail(
        token_, fmt::format("Expected {}, found {}.{}", expected, describe(token_), remedy(token_))
    );
}

std::size_t Parser::emit(const Instruction& instruction, int stack_effect) {
    stack_ += stack_effect;
    code_.stack_max = std::max(code_.stack_max, static_cast<std::size_t>(stack_));
    code_.instructions.push_back(instruction);
    return here() - 1;
}

void Parser::push_constant(const Value& value, const Token& token) {
    emit({.op = Op::Constant, .arg = index_of(code_.constants.size()), .place = token.place}, 1);
    code_.constants.push_back(value);
}

void Parser::push_named(Op op, std::string_view name, const Token& token) {
    const int effect = op == Op::Field ? 0 : 1;
    emit({.op = op, .arg = index_of(code_.names.size()), .place = token.place}, effect);
    code_.names.push_back(name);
}

void Parser::land(std::size_t at) {
    code_.instructions[at].arg = index_of(here());
}

Parser::Form Parser::expression() {
    const Depth depth(*this);
    const Form form = binary(1);
    if (!is(TokenKind::Question)) return form;
    choice();
    return Form::Other;
}

/// From the first "?" on. A chain `a ? b : c ? d : e` is a loop, so it may be long.
void Parser::choice() {
    std::vector<std::size_t> exits;
    while (is(TokenKind::Question)) {
        const Token token = advance();
        const std::size_t choose = emit({.op = Op::Choose, .place = token.place}, -1);
        exits.push_back(emit({.op = Op::Jump, .place = token.place}, 0));
        binary(1);
        expect(TokenKind::Colon, "\":\" of the ?:");
        exits.push_back(emit({.op = Op::Jump, .place = token.place}, -1));
        land(choose);
        binary(1);
    }
    for (const std::size_t exit : exits) land(exit);
}

const Parser::Operator* Parser::find_operator(TokenKind kind) {
    static constexpr std::array<Operator, 14> kOperators = {{
        {TokenKind::OrOr, 1, Op::Or},
        {TokenKind::AndAnd, 2, Op::And},
        {TokenKind::Equal, 3, Op::Equal},
        {TokenKind::NotEqual, 3, Op::NotEqual},
        {TokenKind::Less, 3, Op::Less},
        {TokenKind::LessEqual, 3, Op::LessEqual},
        {TokenKind::Greater, 3, Op::Greater},
        {TokenKind::GreaterEqual, 3, Op::GreaterEqual},
        {TokenKind::In, 3, Op::In},
        {TokenKind::Plus, 4, Op::Add},
        {TokenKind::Minus, 4, Op::Subtract},
        {TokenKind::Star, 5, Op::Multiply},
        {TokenKind::Slash, 5, Op::Divide},
        {TokenKind::Percent, 5, Op::Modulo},
    }};
    const auto* const found = std::find_if(
        kOperators.begin(), kOperators.end(), [kind](const Operator& o) { return o.token == kind; }
    );
    return found == kOperators.end() ? nullptr : found;
}

Parser::Form Parser::binary(int precedence_min) {
    const std::size_t begin = here();
    Form form = unary();
    while (const Operator* op = find_operator(token_.kind)) {
        if (op->precedence < precedence_min) break;
        right_side(*op, advance(), begin);
        form = Form::Other;
    }
    return form;
}

void Parser::right_side(const Operator& op, const Token& token, std::size_t left_begin) {
    if (op.op == Op::In && steps_membership(token, left_begin)) return;
    const bool is_logical = op.op == Op::And || op.op == Op::Or;
    std::size_t skip = 0;
    if (is_logical) {
        const Op test = op.op == Op::And ? Op::SkipIfFalse : Op::SkipIfTrue;
        skip = emit({.op = test, .place = token.place}, 0);
    }
    binary(op.precedence + 1);
    emit({.op = op.op, .place = token.place}, -1);
    if (is_logical) land(skip);
}

/// `"pay" in steps`.
bool Parser::steps_membership(const Token& token, std::size_t left_begin) {
    if (!is(TokenKind::Name) || token_.text != "steps" || is_local("steps")) return false;
    const TokenKind next = peek().kind;
    if (next == TokenKind::Dot || next == TokenKind::LeftBracket) return false;
    const Instruction left = code_.instructions.back();
    if (here() != left_begin + 1 || left.op != Op::Constant ||
        !code_.constants[left.arg].is(Kind::String)) {
        fail(token, "Write the step's name as a string before \"in steps\": \"pay\" in steps.");
    }
    advance();
    const std::string_view name = code_.constants[left.arg].string();
    code_.instructions.pop_back();
    --stack_;
    push_named(Op::HasStep, name, token);
    steps_.emplace_back(name);
    variables_.emplace_back("steps");
    return true;
}

Parser::Form Parser::unary() {
    if (!is(TokenKind::Not) && !is(TokenKind::Minus)) return postfix(primary());
    const Depth depth(*this);
    const Token sign = advance();
    if (sign.kind == TokenKind::Minus && (is(TokenKind::Int) || is(TokenKind::Double))) {
        // Together with its sign, as only so the least int can be written.
        number(true);
        return postfix(Form::Other);
    }
    unary();
    emit({.op = sign.kind == TokenKind::Not ? Op::Not : Op::Negate, .place = sign.place}, 0);
    return Form::Other;
}

Parser::Form Parser::postfix(Form form) {
    while (true) {
        if (is(TokenKind::Dot)) {
            form = member();
        } else if (is(TokenKind::LeftBracket)) {
            form = subscript();
        } else {
            return form;
        }
    }
}

Parser::Form Parser::primary() {
    switch (token_.kind) {
        case TokenKind::Int:
        case TokenKind::Uint:
        case TokenKind::Double:
            number(false);
            return Form::Other;
        case TokenKind::String:
            string();
            return Form::Other;
        case TokenKind::True:
        case TokenKind::False: {
            const Token token = advance();
            push_constant(bool_value(token.kind == TokenKind::True), token);
            return Form::Other;
        }
        case TokenKind::Null:
            push_constant(null_value(), advance());
            return Form::Other;
        case TokenKind::LeftBracket:
            list();
            return Form::Other;
        case TokenKind::LeftBrace:
            map();
            return Form::Other;
        case TokenKind::LeftParen: {
            advance();
            const Form form = expression();
            expect(TokenKind::RightParen, "\")\"");
            return form;
        }
        case TokenKind::Name:
            return name();
        case TokenKind::Dot:
            advance();
            if (!is(TokenKind::Name)) fail_unexpected("a name");
            return global_name(advance());
        default:
            fail_unexpected("a value");
    }
}

void Parser::number(bool is_negative) {
    const Token token = advance();
    const Literal literal = number_literal(token, is_negative);
    if (!literal.problem.empty()) fail(token, literal.problem);
    push_constant(literal.value, token);
}

void Parser::string() {
    const Token token = advance();
    std::string& unescaped = code_.texts.emplace_back();
    const Literal literal = string_literal(token, unescaped);
    if (!literal.problem.empty()) {
        throw_at(code_.source, token.place + literal.problem_at, literal.problem);
    }
    if (unescaped.empty()) code_.texts.pop_back();
    push_constant(literal.value, token);
}

void Parser::list() {
    const Token token = advance();
    const std::size_t made = emit({.op = Op::NewList, .place = token.place}, 1);
    std::uint32_t count = 0;
    while (!accept(TokenKind::RightBracket)) {
        const std::uint32_t place = token_.place;
        expression();
        emit({.op = Op::Append, .place = place}, -1);
        ++count;
        if (accept(TokenKind::Comma)) continue;
        expect(TokenKind::RightBracket, "\",\" or \"]\"");
        break;
    }
    code_.instructions[made].arg = count;
}

void Parser::map() {
    const Token token = advance();
    const std::size_t made = emit({.op = Op::NewMap, .place = token.place}, 1);
    std::uint32_t count = 0;
    while (!accept(TokenKind::RightBrace)) {
        const std::uint32_t place = token_.place;
        expression();
        expect(TokenKind::Colon, "\":\" after the key");
        expression();
        emit({.op = Op::Insert, .place = place}, -2);
        ++count;
        if (accept(TokenKind::Comma)) continue;
        expect(TokenKind::RightBrace, "\",\" or \"}\"");
        break;
    }
    code_.instructions[made].arg = count;
    emit({.op = Op::EndMap, .place = token.place}, 0);
}

}  // namespace ebb::expression
