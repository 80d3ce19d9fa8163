#include "source/cpp_code.h"

#include <algorithm>
#include <array>

namespace ebb::source {

namespace {

constexpr std::size_t kShownBytesMax = 80;
/// Between the parameters of a function and its body: `const noexcept -> ebb::Definition`.
constexpr TokenIndex kBeforeBodyMax = 16;
/// Between `constexpr` and the name.
constexpr TokenIndex kTypeTokensMax = 16;
/// Declarations of one name that are looked at; of more it is not known which one is meant.
constexpr std::size_t kSameNamesMax = 256;

constexpr std::array<std::string_view, 14> kNotTypes = {
    "return",
    "else",
    "new",
    "delete",
    "throw",
    "case",
    "goto",
    "co_return",
    "co_await",
    "operator",
    "using",
    "typename",
    "sizeof",
    "namespace"
};

bool is_bracket_open(const CppToken& token) {
    if (token.kind != CppToken::Kind::Punctuation) return false;
    const char c = token.text.front();
    return c == '(' || c == '[' || c == '{';
}

bool is_bracket_close(const CppToken& token) {
    if (token.kind != CppToken::Kind::Punctuation) return false;
    const char c = token.text.front();
    return c == ')' || c == ']' || c == '}';
}

bool can_end_type(const CppToken& token) {
    if (token.is_identifier()) {
        return std::find(kNotTypes.begin(), kNotTypes.end(), token.text) == kNotTypes.end();
    }
    return token.is('&') || token.is('*') || token.is('>');
}

bool can_follow_name(const CppToken& token) {
    if (token.kind != CppToken::Kind::Punctuation) return token.kind == CppToken::Kind::End;
    if (token.text.size() != 1) return false;
    switch (token.text.front()) {
        case '=':
        case '{':
        case '(':
        case ';':
        case ',':
        case ')':
        case ':':
        case '[':
            return true;
        default:
            return false;
    }
}

}  // namespace

CppCode::CppCode(std::string_view text)
    : text_(text),
      tokens_(lex_cpp(text, CppCodeLimits::kTokensMax)),
      match_(match_brackets(tokens_)),
      looks_max_(CppCodeLimits::kLooksMin + CppCodeLimits::kLooksPerByte * text.size()) {
    end_.begin = text.size();
    index();
}

TokenRange CppCode::inside(TokenIndex open, TokenIndex limit) const {
    return {open + 1, std::max(open + 1, std::min(match(open), limit))};
}

TokenIndex CppCode::find(TokenRange range, std::string_view wanted) const {
    for (TokenIndex i = range.begin; i < range.end && look(); ++i) {
        if (at(i).is(wanted)) return i;
        if (is_bracket_open(at(i)) && match(i) < range.end) i = match(i);
    }
    return range.end;
}

std::vector<TokenRange> CppCode::split(TokenRange range) const {
    std::vector<TokenRange> parts;
    TokenIndex begin = range.begin;
    while (begin < range.end) {
        const TokenIndex end = find({begin, range.end}, ",");
        parts.push_back({begin, end});
        begin = end + 1;
    }
    return parts;
}

std::string CppCode::text_of(TokenRange range) const {
    std::string out;
    std::size_t last = 0;
    for (TokenIndex i = range.begin; i < range.end && i < size(); ++i) {
        const CppToken& token = tokens_[i];
        const bool has_gap = !out.empty() && token.begin > last;
        if (has_gap) out += ' ';
        for (const char c : token.text) out += c == '\n' || c == '\r' ? ' ' : c;
        last = token.end();
        if (out.size() <= kShownBytesMax) continue;
        std::size_t end = kShownBytesMax;
        while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0U) == 0x80U) --end;
        return out.substr(0, end) + "…";
    }
    return out;
}

void CppCode::index() {
    around_.resize(tokens_.size(), size());
    TokenIndex around = size();
    for (TokenIndex i = 0; i < size(); ++i) {
        const CppToken& token = tokens_[i];
        if (is_bracket_close(token) && match(i) < size()) around = around_[match(i)];
        around_[i] = around;
        if (is_bracket_open(token)) {
            if (match(i) < size()) around = i;
        } else if (token.is_identifier() && i > 0 && can_follow_name(at(i + 1)) &&
                   can_end_type(tokens_[i - 1])) {
            declarations_[token.text].push_back(i);
            if (at(i + 1).is('(')) index_function(i);
        }
    }
}

/// Where the name that is declared there can be seen. Of a parameter also the body that follows.
TokenRange CppCode::scope_of(TokenIndex name) const {
    const TokenIndex bracket = around_[name];
    if (bracket >= size()) return {0, size()};
    if (!at(bracket).is('(')) return {bracket, match(bracket)};
    const TokenIndex close = match(bracket);
    const TokenIndex body = body_after(close);
    if (body < size()) return {bracket, match(body)};
    // The one statement of a loop without braces.
    return {bracket, find({close, size()}, ";")};
}

TokenIndex CppCode::end_of_scope(TokenIndex at) const {
    TokenIndex bracket = at < size() ? around_[at] : size();
    while (bracket < size() && !tokens_[bracket].is('{') && look()) bracket = around_[bracket];
    return match(bracket);
}

/// The `{` of the body of a function whose parameters end at `close`; size() if there is none.
TokenIndex CppCode::body_after(TokenIndex close) const {
    for (TokenIndex i = close + 1; i < std::min(size(), close + kBeforeBodyMax); ++i) {
        const CppToken& token = at(i);
        if (token.is("{")) return match(i) < size() ? i : size();
        const bool may_come = token.is_identifier() || token.is("->") || token.is("::") ||
                              token.is("<") || token.is(">") || token.is("&") || token.is("*");
        if (token.is("(") && at(i - 1).is("noexcept")) {
            i = std::min(match(i), size() - 1);
        } else if (!may_come) {
            break;
        }
    }
    return size();
}

bool CppCode::is_declared_constant(TokenIndex name) const {
    bool is_constexpr = false;
    bool is_const = false;
    const TokenIndex first = name > kTypeTokensMax ? name - kTypeTokensMax : 0;
    for (TokenIndex i = name; i-- > first;) {
        const CppToken& token = at(i);
        const bool is_end = token.is(";") || token.is("{") || token.is("}") || token.is("(") ||
                            token.is(")") || token.is(",") || token.is("=");
        if (is_end) break;
        is_constexpr = is_constexpr || token.is("constexpr");
        is_const = is_const || token.is("const");
    }
    // `const char* name`: the name can point to something else later.
    return is_constexpr || (is_const && !at(name - 1).is("*"));
}

TokenRange CppCode::constant_value(TokenIndex name) const {
    if (!is_declared_constant(name)) {
        // A lambda without captures by a changeable name is as good as a constant.
        const bool is_lambda =
            at(name + 1).is("=") && at(name + 2).is("[") && at(name - 1).is("auto");
        if (!is_lambda) return {};
    }
    const TokenIndex begin = name + 2;
    if (at(name + 1).is("=")) {
        const TokenRange statement{begin, find({begin, size()}, ";")};
        // `const int a = 1, b = 2;`
        return {begin, find(statement, ",")};
    }
    if (at(name + 1).is("{") && match(name + 1) < size()) return {name + 1, match(name + 1) + 1};
    return {};
}

void CppCode::index_function(TokenIndex name) {
    const TokenIndex close = match(name + 1);
    if (close >= size()) return;
    const TokenIndex body = body_after(close);
    if (body >= size()) return;
    functions_[at(name).text].push_back(
        {.parameters = parameters_in({name + 2, close}), .body = {body + 1, match(body)}}
    );
}

std::vector<std::string_view> CppCode::parameters_in(TokenRange range) const {
    std::vector<std::string_view> names;
    for (const TokenRange& part : split(range)) {
        const TokenIndex end = find(part, "=");
        const bool has_name =
            end > part.begin + 1 && at(end - 1).is_identifier() && can_end_type(at(end - 2));
        names.push_back(has_name ? at(end - 1).text : std::string_view());
    }
    return names;
}

std::optional<CppFunction> CppCode::lambda_at(TokenIndex open) const {
    TokenIndex i = match(open);
    if (!at(open).is("[") || i >= size()) return std::nullopt;
    CppFunction function{.parameters = {}, .body = {}, .is_lambda = true};
    if (at(i + 1).is("(")) {
        const TokenIndex close = match(i + 1);
        if (close >= size()) return std::nullopt;
        function.parameters = parameters_in({i + 2, close});
        i = close;
    }
    const TokenIndex body = body_after(i);
    if (body >= size()) return std::nullopt;
    function.body = {body + 1, match(body)};
    return function;
}

CppCode::Declaration CppCode::find_declaration(std::string_view name, TokenIndex at) const {
    const auto found = declarations_.find(name);
    if (found == declarations_.end()) return {};
    const std::vector<TokenIndex>& all = found->second;
    auto last = std::lower_bound(all.begin(), all.end(), at);
    // Scopes are nested, so the last declaration that is visible is the innermost.
    for (std::size_t count = 0; last != all.begin(); ++count) {
        --last;
        if (count >= kSameNamesMax) return {.is_found = true};
        if (scope_of(*last).contains(at)) return {.is_found = true, .value = constant_value(*last)};
    }
    return {};
}

const CppFunction* CppCode::find_function(std::string_view name) const {
    const auto found = functions_.find(name);
    if (found == functions_.end() || found->second.size() != 1) return nullptr;
    return &found->second.front();
}

}  // namespace ebb::source
