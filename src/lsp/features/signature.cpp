// Signature help: the function of an expression whose parentheses the cursor is in.

#include <optional>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/expression/expression.h"
#include "core/expression/lexer.h"
#include "lsp/features/cursor.h"
#include "lsp/features/functions.h"
#include "lsp/features/request.h"
#include "lsp/lsp.h"

namespace ebb::lsp {

namespace {

using expression::Token;
using expression::TokenKind;

/// A call that is still open.
struct OpenCall {
    std::string name{};  ///< empty: parentheses, brackets or braces without a function
    bool is_method = false;
    std::size_t commas = 0;
};

std::vector<OpenCall> open_calls(const std::string& source) {
    std::vector<OpenCall> open;
    expression::Lexer lexer(source);
    Token before{};
    bool is_after_dot = false;
    try {
        for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
            const bool is_call =
                token.kind == TokenKind::LeftParen && before.kind == TokenKind::Name;
            switch (token.kind) {
                case TokenKind::LeftParen:
                case TokenKind::LeftBracket:
                case TokenKind::LeftBrace:
                    open.push_back(
                        is_call
                            ? OpenCall{.name = std::string(before.text), .is_method = is_after_dot}
                            : OpenCall{}
                    );
                    break;
                case TokenKind::RightParen:
                case TokenKind::RightBracket:
                case TokenKind::RightBrace:
                    if (!open.empty()) open.pop_back();
                    break;
                case TokenKind::Comma:
                    if (!open.empty()) ++open.back().commas;
                    break;
                default:
                    is_after_dot =
                        token.kind == TokenKind::Name ? before.kind == TokenKind::Dot : false;
            }
            before = token;
        }
    } catch (const ExpressionError&) {
        // A string that is not closed: the calls before it are open.
    }
    return open;
}

const FunctionText* find_function(const OpenCall& call) {
    for (const FunctionText& function : function_texts()) {
        if (function.name == call.name && function.is_method == call.is_method) return &function;
    }
    return nullptr;
}

/// The parameters of `s.replace(t, u, n?)`, as places in it.
Json parameters_of(std::string_view signature) {
    Json parameters = Json::array();
    std::size_t begin = signature.find('(') + 1;
    while (begin < signature.size() && signature[begin] != ')') {
        const std::size_t end = signature.find_first_of(",)", begin);
        parameters.push_back({{"label", {begin, end}}});
        begin = signature[end] == ',' ? end + 2 : end;
    }
    return parameters;
}

}  // namespace

Json Server::help_signature(const Json& params) {
    const Document* document = document_of(params);
    if (document == nullptr) return nullptr;
    const std::size_t offset = offset_in(*document, params);
    const Cursor cursor = cursor_at(document->tree(), offset);
    if (cursor.where != Cursor::Where::Value) return nullptr;
    const auto source = expression_before(document->tree(), cursor.node, offset);
    if (!source) return nullptr;
    const std::vector<OpenCall> open = open_calls(*source);
    for (auto call = open.rbegin(); call != open.rend(); ++call) {
        const FunctionText* function = find_function(*call);
        if (function == nullptr) continue;
        Json signature = {
            {"label", function->signature},
            {"documentation", function->text},
            {"parameters", parameters_of(function->signature)}
        };
        return {
            {"signatures", Json::array({std::move(signature)})},
            {"activeSignature", 0},
            {"activeParameter", call->commas}
        };
    }
    return nullptr;
}

}  // namespace ebb::lsp
