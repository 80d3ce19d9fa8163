// Selection ranges: from the word at the cursor to the expression, the value, the member, the node
// and the whole text.

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/expression/expression.h"
#include "core/expression/lexer.h"
#include "lsp/features/names.h"
#include "lsp/features/request.h"
#include "lsp/lsp.h"

namespace ebb::lsp {

namespace {

using expression::Token;
using expression::TokenKind;

constexpr std::size_t kPositionsMax = 1'000;
/// What is nested deeper is skipped up to the whole text.
constexpr std::size_t kRangesMax = 100;

class Selection {
 public:
    Selection(const Document& document, std::size_t offset)
        : document_(document), tree_(document.tree()), offset_(offset) {}

    Json run() {
        const int inner = tree_.innermost(offset_);
        if (tree_.at(inner).kind == yaml::TreeNode::Kind::Scalar) {
            for (const ExpressionPlace& place : expressions_of(tree_, inner)) add(place);
        }
        for (int node = inner; node > 0; node = tree_.at(node).parent) {
            const yaml::TreeNode& here = tree_.at(node);
            grow(here.key.begin, here.key.end);
            grow(here.value.begin, here.value.end);
            grow(here.whole.begin, here.whole.end);
        }
        if (ranges_.empty()) ranges_.emplace_back(offset_, offset_);
        if (ranges_.size() > kRangesMax) ranges_.resize(kRangesMax);
        grow(0, document_.text().size());
        return nested();
    }

 private:
    const Document& document_;
    const yaml::LineTree& tree_;
    std::size_t offset_;
    std::vector<std::pair<std::size_t, std::size_t>> ranges_;

    /// Each range holds the one before it.
    void grow(std::size_t begin, std::size_t end) {
        const bool is_here = begin <= offset_ && offset_ <= end && begin < end;
        const bool holds_last =
            ranges_.empty() || (begin <= ranges_.back().first && ranges_.back().second <= end);
        const bool is_new = ranges_.empty() || ranges_.back() != std::pair(begin, end);
        if (is_here && holds_last && is_new) ranges_.emplace_back(begin, end);
    }

    Json nested() const {
        Json outer = nullptr;
        for (auto range = ranges_.rbegin(); range != ranges_.rend(); ++range) {
            Json here = {{"range", range_json(document_.lines(), range->first, range->second)}};
            if (!outer.is_null()) here["parent"] = std::move(outer);
            outer = std::move(here);
        }
        return outer;
    }

    void add(const ExpressionPlace& place) {
        if (offset_ < place.begin || offset_ > place.end) return;
        const std::vector<Token> tokens = tokens_of(place);
        add_token(place, tokens);
        add_brackets(place, tokens);
        grow(place.begin, place.end);
        const std::string& text = document_.text();
        const bool has_braces = place.begin >= 2 && text.compare(place.begin - 2, 2, "${") == 0;
        if (has_braces && place.end < text.size() && text[place.end] == '}') {
            grow(place.begin - 2, place.end + 1);
        }
    }

    static std::vector<Token> tokens_of(const ExpressionPlace& place) {
        std::vector<Token> tokens;
        expression::Lexer lexer(place.source);
        try {
            for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
                tokens.push_back(token);
            }
        } catch (const ExpressionError&) {
            // What follows cannot be cut into tokens.
        }
        return tokens;
    }

    static std::size_t end_of(const Token& token) { return token.place + token.text.size(); }

    static bool is_name(const Token& token) {
        return token.kind == TokenKind::Name || token.kind == TokenKind::QuotedName;
    }

    /// The token, and all that is read up to it: `steps.pay.output` of `steps.pay.output.id`.
    void add_token(const ExpressionPlace& place, const std::vector<Token>& tokens) {
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const bool is_at = place.places[tokens[i].place] <= offset_ &&
                               offset_ <= place.places[end_of(tokens[i])];
            if (!is_at) continue;
            grow(place.places[tokens[i].place], place.places[end_of(tokens[i])]);
            if (!is_name(tokens[i])) continue;
            std::size_t first = i;
            std::size_t last = i;
            while (first >= 2 && tokens[first - 1].kind == TokenKind::Dot &&
                   is_name(tokens[first - 2])) {
                first -= 2;
            }
            grow(place.places[tokens[first].place], place.places[end_of(tokens[i])]);
            while (last + 2 < tokens.size() && tokens[last + 1].kind == TokenKind::Dot &&
                   is_name(tokens[last + 2])) {
                last += 2;
            }
            grow(place.places[tokens[first].place], place.places[end_of(tokens[last])]);
        }
    }

    /// What is between brackets, and the brackets; the innermost ones first.
    void add_brackets(const ExpressionPlace& place, const std::vector<Token>& tokens) {
        std::vector<Token> open;
        for (const Token& token : tokens) {
            switch (token.kind) {
                case TokenKind::LeftParen:
                case TokenKind::LeftBracket:
                case TokenKind::LeftBrace:
                    open.push_back(token);
                    break;
                case TokenKind::RightParen:
                case TokenKind::RightBracket:
                case TokenKind::RightBrace:
                    if (open.empty()) break;
                    grow(place.places[end_of(open.back())], place.places[token.place]);
                    grow(place.places[open.back().place], place.places[end_of(token)]);
                    open.pop_back();
                    break;
                default:
                    break;
            }
        }
    }
};

}  // namespace

Json Server::list_selections(const Json& params) {
    const Document* document = document_of(params);
    if (document == nullptr) return nullptr;
    const Json& positions = params.at("positions");
    if (positions.size() > kPositionsMax) {
        throw Error(ErrorCode::InvalidArgument, "There are more than 1000 positions.");
    }
    Json list = Json::array();
    for (const Json& position : positions) {
        list.push_back(Selection(*document, offset_at(*document, position)).run());
    }
    return list;
}

}  // namespace ebb::lsp
