#include "core/expression/spans.h"

#include <algorithm>
#include <string>

#include "core/expression/expression.h"
#include "core/expression/lexer.h"
#include "core/expression/template.h"

namespace ebb::expression {

namespace {

/// All tokens up to the end or to the first that is none.
std::vector<Token> tokens_of(std::string_view source) {
    std::vector<Token> tokens;
    Lexer lexer(source);
    try {
        for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
            tokens.push_back(token);
        }
    } catch (const ExpressionError&) {
        // The rest cannot be cut into tokens.
    }
    return tokens;
}

Span span_of(const Token& token) {
    return {.begin = token.place, .end = token.place + token.text.size()};
}

Span without_quotes(const Token& token) {
    const Span span = span_of(token);
    if (token.kind == TokenKind::Name || token.text.size() < 2) return span;
    const bool is_prefixed =
        token.text.front() != '"' && token.text.front() != '\'' && token.text.front() != '`';
    return is_prefixed ? span : Span{.begin = span.begin + 1, .end = span.end - 1};
}

bool is_kind(const std::vector<Token>& tokens, std::size_t at, TokenKind kind) {
    return at < tokens.size() && tokens[at].kind == kind;
}

}  // namespace

Span token_at(std::string_view source, std::size_t offset) {
    offset = std::min(offset, source.size());
    try {
        const Token token = Lexer(source, offset).next();
        if (token.place == offset && !token.text.empty()) return span_of(token);
    } catch (const ExpressionError&) {
        // It is the fault itself that cannot be cut into tokens.
    }
    std::size_t end = std::min(offset + 1, source.size());
    while (end < source.size() && (static_cast<unsigned char>(source[end]) & 0xC0U) == 0x80U) ++end;
    return {.begin = offset, .end = end};
}

std::vector<Span> step_reads(std::string_view source) {
    return member_reads(source, "steps");
}

std::vector<Span> member_reads(std::string_view source, std::string_view root) {
    std::vector<Span> found;
    const std::vector<Token> tokens = tokens_of(source);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const bool is_root = tokens[i].kind == TokenKind::Name && tokens[i].text == root &&
                             (i == 0 || tokens[i - 1].kind != TokenKind::Dot);
        if (!is_root) continue;
        const bool is_field = is_kind(tokens, i + 1, TokenKind::Dot) &&
                              (is_kind(tokens, i + 2, TokenKind::Name) ||
                               is_kind(tokens, i + 2, TokenKind::QuotedName));
        const bool is_element = is_kind(tokens, i + 1, TokenKind::LeftBracket) &&
                                is_kind(tokens, i + 2, TokenKind::String);
        if (is_field || is_element) found.push_back(without_quotes(tokens[i + 2]));
    }
    return found;
}

std::vector<Span> variable_reads(std::string_view source, std::string_view name) {
    std::vector<Span> found;
    const std::vector<Token> tokens = tokens_of(source);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const bool is_field = i > 0 && tokens[i - 1].kind == TokenKind::Dot;
        if (tokens[i].kind != TokenKind::Name || tokens[i].text != name || is_field) continue;
        found.push_back(span_of(tokens[i]));
    }
    return found;
}

std::vector<Span> expressions_in(std::string_view text) {
    std::vector<Span> found;
    std::size_t at = 0;
    while ((at = text.find("${", at)) != std::string_view::npos) {
        if (at > 0 && text[at - 1] == '$') {
            at += 2;
            continue;
        }
        const std::size_t end = std::min(expression_end(text, at + 2), text.size());
        found.push_back({.begin = at + 2, .end = end});
        at = end;
    }
    return found;
}

}  // namespace ebb::expression
