#include "core/expression/field_reads.h"

#include <cstddef>
#include <optional>

#include "core/expression/code.h"
#include "core/expression/lexer.h"

namespace ebb::expression {

namespace {

/// A literal without escapes stands in the source as it is.
Span without_quotes(const Token& token, std::string_view value) {
    const std::size_t at = token.text.find(value);
    const std::size_t from = at == std::string_view::npos ? 0 : at;
    const std::size_t length = at == std::string_view::npos ? token.text.size() : value.size();
    return {.begin = token.place + from, .end = token.place + from + length};
}

/// The token of the field behind the variable or step at `place`. None if it is not directly behind
/// it, as in `(a ? b : c).d`.
std::optional<Token> token_behind(std::string_view source, std::size_t place, std::size_t field) {
    Lexer lexer(source, place);
    Token token = lexer.next();
    const bool is_element = token.kind == TokenKind::String;
    token = lexer.next();
    // The end of `steps["pay"]`.
    if (is_element && token.kind == TokenKind::RightBracket) token = lexer.next();
    if (token.kind != TokenKind::Dot && token.kind != TokenKind::LeftBracket) return std::nullopt;
    token = lexer.next();
    if (token.place != field) return std::nullopt;
    return token;
}

class Reads {
 public:
    explicit Reads(const Code& code) : code_(code), all_(code.instructions) {}

    std::vector<FieldRead> run() {
        std::vector<FieldRead> found;
        for (std::size_t i = 0; i + 1 < all_.size(); ++i) {
            const Op op = all_[i].op;
            const bool is_step = op == Op::Step || op == Op::Attempts;
            if (!is_step && op != Op::Variable) continue;
            const std::optional<std::string_view> name = field_at(i + 1);
            if (!name) continue;
            const auto token = token_behind(code_.source, all_[i].place, all_[i + 1].place);
            if (!token) continue;
            found.push_back({
                .variable = is_step ? std::string_view("steps") : code_.variables[all_[i].arg],
                .step = is_step ? code_.names[all_[i].arg] : std::string_view(),
                .name = *name,
                .span = without_quotes(*token, *name),
            });
        }
        return found;
    }

 private:
    const Code& code_;
    const std::vector<Instruction>& all_;

    /// The field that the instruction there takes of the value before it.
    std::optional<std::string_view> field_at(std::size_t at) const {
        const Instruction& here = all_[at];
        if (here.op == Op::Field || here.op == Op::HasField) return code_.names[here.arg];
        const bool is_element = here.op == Op::Constant && at + 1 < all_.size() &&
                                all_[at + 1].op == Op::Index &&
                                code_.constants[here.arg].is(Kind::String);
        if (!is_element) return std::nullopt;
        return code_.constants[here.arg].string();
    }
};

}  // namespace

std::vector<FieldRead> field_reads(const Expression& expression) {
    return Reads(expression.code()).run();
}

}  // namespace ebb::expression
