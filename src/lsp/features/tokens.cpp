// Semantic tokens: what is inside of expressions, and the names of nodes and handlers.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/expression/expression.h"
#include "core/expression/lexer.h"
#include "lsp/features/diagnostics.h"
#include "lsp/features/names.h"
#include "lsp/features/request.h"
#include "lsp/lsp.h"

namespace ebb::lsp {

namespace {

constexpr std::size_t kTokensMax = 50'000;

enum class TokenType {
    Variable,
    Property,
    Method,
    String,
    Number,
    Operator,
    Keyword,
    Label,
    Class
};

constexpr std::array<std::string_view, 9> kTypeNames = {
    "variable", "property", "method", "string", "number", "operator", "keyword", "label", "class"
};

struct Mark {
    std::size_t begin = 0;
    std::size_t end = 0;
    TokenType type = TokenType::Variable;
    bool is_declaration = false;
};

std::optional<TokenType> type_of(const expression::Token& token, bool is_field, bool is_call) {
    using Is = expression::TokenKind;
    switch (token.kind) {
        case Is::Name:
        case Is::QuotedName:
            if (is_call) return TokenType::Method;
            return is_field ? TokenType::Property : TokenType::Variable;
        case Is::Int:
        case Is::Uint:
        case Is::Double:
            return TokenType::Number;
        case Is::String:
            return TokenType::String;
        case Is::True:
        case Is::False:
        case Is::Null:
        case Is::In:
            return TokenType::Keyword;
        case Is::LeftParen:
        case Is::RightParen:
        case Is::LeftBracket:
        case Is::RightBracket:
        case Is::LeftBrace:
        case Is::RightBrace:
        case Is::Comma:
        case Is::Dot:
        case Is::Colon:
        case Is::End:
            return std::nullopt;
        default:
            return TokenType::Operator;
    }
}

void add_expression(const ExpressionPlace& place, std::vector<Mark>& marks) {
    expression::Lexer lexer(place.source);
    bool is_field = false;
    try {
        while (true) {
            const expression::Token token = lexer.next();
            if (token.kind == expression::TokenKind::End) return;
            const std::size_t end = token.place + token.text.size();
            const bool is_call = end < place.source.size() && place.source[end] == '(';
            if (const auto type = type_of(token, is_field, is_call)) {
                marks.push_back(
                    {.begin = place.places[token.place], .end = place.places[end], .type = *type}
                );
            }
            is_field = token.kind == expression::TokenKind::Dot;
        }
    } catch (const ExpressionError&) {
        // What cannot be cut into tokens has no color.
    }
}

std::vector<Mark> marks_of(const Document& document) {
    const yaml::LineTree& tree = document.tree();
    std::vector<Mark> marks;
    for (const NamePlace& name : names_of(tree)) {
        const bool is_handler = name.kind == NameKind::Handler;
        if (!is_handler && name.kind != NameKind::Node) continue;
        marks.push_back(
            {.begin = name.begin,
             .end = name.end,
             .type = is_handler ? TokenType::Class : TokenType::Label,
             .is_declaration = name.is_declaration}
        );
    }
    for (int node = 0; node < static_cast<int>(tree.nodes().size()); ++node) {
        if (tree.at(node).kind != yaml::TreeNode::Kind::Scalar) continue;
        for (const ExpressionPlace& place : expressions_of(tree, node))
            add_expression(place, marks);
    }
    std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
        return a.begin < b.begin;
    });
    return marks;
}

/// The tokens that are at least in part between two offsets.
Json tokens_json(const Document& document, std::size_t first, std::size_t last_offset) {
    Json data = Json::array();
    const LineIndex& lines = document.lines();
    Position last;
    std::size_t end = 0;
    for (const Mark& mark : marks_of(document)) {
        if (mark.end <= first || mark.begin >= last_offset) continue;
        const Position from = lines.position(mark.begin);
        const Position to = lines.position(mark.end);
        // Tokens must not overlap, and each is in one line.
        const bool is_usable = mark.begin >= end && from.line == to.line &&
                               to.character > from.character && data.size() < 5 * kTokensMax;
        if (!is_usable) continue;
        data.push_back(from.line - last.line);
        data.push_back(from.line == last.line ? from.character - last.character : from.character);
        data.push_back(to.character - from.character);
        data.push_back(static_cast<int>(mark.type));
        data.push_back(mark.is_declaration ? 1 : 0);
        last = from;
        end = mark.end;
    }
    return {{"data", std::move(data)}};
}

}  // namespace

Json token_legend() {
    return {{"tokenTypes", kTypeNames}, {"tokenModifiers", {"declaration"}}};
}

Json Server::list_tokens(const Json& params) {
    const Document* document = document_of(params);
    if (document == nullptr) return {{"data", Json::array()}};
    return tokens_json(*document, 0, document->text().size());
}

Json Server::list_tokens_in_range(const Json& params) {
    const Document* document = document_of(params);
    if (document == nullptr) return {{"data", Json::array()}};
    const Json& range = params.at("range");
    const std::size_t begin = offset_at(*document, range.at("start"));
    return tokens_json(*document, begin, offset_at(*document, range.at("end")));
}

}  // namespace ebb::lsp
