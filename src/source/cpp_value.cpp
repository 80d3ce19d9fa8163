#include "source/cpp_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace ebb::source {

namespace {

using Kind = CppValue::Kind;

constexpr int kDepthMax = 16;
constexpr TokenIndex kTemplateTokensMax = 24;

struct Unit {
    std::string_view suffix;    ///< of a literal
    std::string_view function;  ///< std::chrono::...
    std::int64_t microseconds;
};

constexpr std::array<Unit, 8> kUnits{{
    {"us", "microseconds", 1},
    {"ms", "milliseconds", 1'000},
    {"s", "seconds", 1'000'000},
    {"min", "minutes", 60'000'000},
    {"h", "hours", 3'600'000'000},
    {"", "days", 86'400'000'000},
    {"", "weeks", 604'800'000'000},
    {"", "Duration", 1},
}};

/// The product, or nothing if it is too large.
std::optional<std::int64_t> multiply(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
    return product;
}

std::optional<std::int64_t> add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
    return sum;
}

CppValue text_value(std::string text) {
    return {.kind = Kind::Text, .text = std::move(text)};
}

CppValue integer_value(std::optional<std::int64_t> value) {
    if (!value) return {};
    return {.kind = Kind::Integer, .integer = *value};
}

CppValue time_value(std::optional<std::int64_t> microseconds) {
    if (!microseconds) return {};
    return {.kind = Kind::Time, .time = Duration(*microseconds)};
}

bool is_integer_suffix(std::string_view suffix) {
    return suffix.find_first_not_of("uUlLzZ") == std::string_view::npos && suffix.size() <= 3;
}

CppValue read_number(std::string_view token) {
    std::string text(token);
    std::erase(text, '\'');
    const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
    const bool is_odd_base =
        text.starts_with("0b") || text.starts_with("0B") ||
        (text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9');
    if (is_odd_base) return {};
    const char* begin = text.data() + (is_hex ? 2 : 0);
    const char* end = text.data() + text.size();
    std::int64_t integer = 0;
    const auto whole = std::from_chars(begin, end, integer, is_hex ? 16 : 10);
    if (whole.ec != std::errc()) return {};
    const std::string_view suffix(whole.ptr, static_cast<std::size_t>(end - whole.ptr));
    if (is_integer_suffix(suffix)) return integer_value(integer);
    if (is_hex) return {};
    for (const Unit& unit : kUnits) {
        if (!unit.suffix.empty() && suffix == unit.suffix) {
            return time_value(multiply(integer, unit.microseconds));
        }
    }
    double real = 0;
    const auto number = std::from_chars(begin, end, real);
    const std::string_view rest(number.ptr, static_cast<std::size_t>(end - number.ptr));
    if (number.ec != std::errc() || (!rest.empty() && rest != "f" && rest != "F")) return {};
    return {.kind = Kind::Real, .real = real};
}

CppValue sum(const CppValue& a, const CppValue& b, bool is_minus) {
    const std::int64_t sign = is_minus ? -1 : 1;
    if (a.is(Kind::Text) && b.is(Kind::Text) && !is_minus) return text_value(a.text + b.text);
    if (a.is(Kind::Integer) && b.is(Kind::Integer)) {
        const auto other = multiply(b.integer, sign);
        return other ? integer_value(add(a.integer, *other)) : CppValue{};
    }
    if (a.is(Kind::Time) && b.is(Kind::Time)) {
        const auto other = multiply(b.time.count(), sign);
        return other ? time_value(add(a.time.count(), *other)) : CppValue{};
    }
    if (a.is_number() && b.is_number()) {
        return {.kind = Kind::Real, .real = a.number() + static_cast<double>(sign) * b.number()};
    }
    return {};
}

CppValue product(const CppValue& a, const CppValue& b) {
    if (a.is(Kind::Integer) && b.is(Kind::Integer)) {
        return integer_value(multiply(a.integer, b.integer));
    }
    if (a.is(Kind::Time) && b.is(Kind::Integer)) {
        return time_value(multiply(a.time.count(), b.integer));
    }
    if (a.is(Kind::Integer) && b.is(Kind::Time)) return product(b, a);
    if (a.is_number() && b.is_number()) {
        return {.kind = Kind::Real, .real = a.number() * b.number()};
    }
    return {};
}

class Evaluator {
 public:
    Evaluator(const CppCode& code, TokenRange range, const CppBindings& bindings, int depth)
        : code_(code), range_(range), at_(range.begin), bindings_(bindings), depth_(depth) {}

    CppValue run() {
        const bool may_read = depth_ <= kDepthMax && code_.look();
        CppValue value = may_read ? read_sum() : CppValue{};
        if (at_ != range_.end) value = {};
        // Of a name that stands for braces or a lambda, the place of these is what counts.
        const bool has_range =
            value.is(Kind::Braces) || (value.is(Kind::Function) && !value.range.is_empty());
        if (!has_range) value.range = range_;
        return value;
    }

 private:
    const CppCode& code_;
    TokenRange range_;
    TokenIndex at_;
    const CppBindings& bindings_;
    int depth_;

    const CppToken& token(TokenIndex offset = 0) const {
        static const CppToken kEnd;
        return at_ + offset < range_.end ? code_.at(at_ + offset) : kEnd;
    }

    CppValue evaluate_inside(TokenRange range) const {
        return Evaluator(code_, range, bindings_, depth_ + 1).run();
    }

    CppValue read_sum() {
        CppValue value = read_product();
        while (token().is("+") || token().is("-")) {
            const bool is_minus = token().is("-");
            ++at_;
            value = sum(value, read_product(), is_minus);
        }
        return value;
    }

    CppValue read_product() {
        CppValue value = read_primary();
        while (token().is("*")) {
            ++at_;
            value = product(value, read_primary());
        }
        return value;
    }

    CppValue read_primary() {
        const CppToken& first = token();
        code_.look();
        switch (first.kind) {
            case CppToken::Kind::String:
                return read_text();
            case CppToken::Kind::Number:
                ++at_;
                return read_number(first.text);
            case CppToken::Kind::Identifier:
                return read_name();
            case CppToken::Kind::Punctuation:
                return read_punctuation();
            default:
                ++at_;
                return {};
        }
    }

    CppValue read_punctuation() {
        if (token().is("-")) {
            ++at_;
            return sum(integer_value(0), read_primary(), true);
        }
        if (token().is("::")) {
            ++at_;
            return read_primary();
        }
        if (token().is("{")) return read_braces();
        if (token().is("[")) {
            // Whatever belongs to the lambda; what is not a lambda is found out when it is called.
            at_ = range_.end;
            return {.kind = Kind::Function};
        }
        if (!token().is("(")) {
            ++at_;
            return {};
        }
        const TokenRange inner = code_.inside(at_, range_.end);
        at_ = std::min(inner.end + 1, range_.end);
        return evaluate_inside(inner);
    }

    CppValue read_braces() {
        const TokenRange inner = code_.inside(at_, range_.end);
        at_ = std::min(inner.end + 1, range_.end);
        return {.kind = Kind::Braces, .range = inner};
    }

    CppValue read_text() {
        std::string text;
        while (token().is_string()) {
            const std::string_view literal = token().text;
            const std::size_t quote = literal.find('"');
            const bool is_wide = quote > 0 && (literal[0] == 'L' || literal[0] == 'U' ||
                                               (literal[0] == 'u' && literal[1] != '8'));
            if (is_wide) return {};
            text += cpp_string_value(literal);
            const std::size_t end = token().end();
            ++at_;
            // "text"s and "text"sv
            const bool is_suffix = token().is_identifier() && token().begin == end;
            if (is_suffix && (token().is("s") || token().is("sv"))) ++at_;
        }
        return text_value(std::move(text));
    }

    /// `a::b::c`, a call of some functions, a type with braces, or a constant.
    CppValue read_name() {
        const TokenIndex begin = at_;
        bool is_qualified = false;
        while (token(1).is("::") && token(2).is_identifier()) {
            at_ += 2;
            is_qualified = true;
        }
        const TokenIndex name = at_++;
        if (token().is("<")) skip_template();
        if (token().is("{")) return read_typed_braces(name);
        if (token().is("(")) return read_call(begin, name);
        return is_qualified ? read_qualified(name) : read_plain(name);
    }

    void skip_template() {
        int depth = 0;
        for (TokenIndex i = 0; i < kTemplateTokensMax && at_ + i < range_.end; ++i) {
            if (token(i).is("<")) ++depth;
            if (token(i).is(">") && --depth == 0) {
                at_ += i + 1;
                return;
            }
        }
    }

    static const Unit* unit_of(std::string_view name) {
        const auto* found = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& unit) {
            return unit.function == name;
        });
        return found == kUnits.end() ? nullptr : found;
    }

    CppValue read_typed_braces(TokenIndex name) {
        CppValue braces = read_braces();
        const Unit* unit = unit_of(code_.at(name).text);
        if (unit == nullptr) return braces;
        return in_unit(*unit, braces.range);
    }

    CppValue in_unit(const Unit& unit, TokenRange argument) const {
        if (argument.is_empty()) return {};
        const CppValue value = evaluate_inside(argument);
        if (value.is(Kind::Time)) return value;
        if (!value.is(Kind::Integer)) return {};
        return time_value(multiply(value.integer, unit.microseconds));
    }

    CppValue read_call(TokenIndex begin, TokenIndex name) {
        const TokenRange inside = code_.inside(at_, range_.end);
        at_ = std::min(inside.end + 1, range_.end);
        const std::string_view function = code_.at(name).text;
        if (const Unit* unit = unit_of(function)) return in_unit(*unit, inside);
        const bool is_of_payload = name > begin + 1 && code_.at(name - 2).is("Payload");
        const bool keeps_text = function == "string" || function == "string_view" ||
                                function == "Payload" || (function == "text" && is_of_payload);
        if (keeps_text) {
            if (inside.is_empty()) return text_value({});
            CppValue value = evaluate_inside(inside);
            return value.is(Kind::Text) ? value : CppValue{};
        }
        if (function == "move") return evaluate_inside(inside);
        return {};
    }

    CppValue word(TokenIndex name) const {
        return {.kind = Kind::Word, .text = std::string(code_.at(name).text)};
    }

    /// A constant of a class, unless it is an enumerator or not of this file.
    CppValue read_qualified(TokenIndex name) const { return word(name); }

    CppValue read_plain(TokenIndex name) const {
        const std::string_view text = code_.at(name).text;
        if (text == "true" || text == "false") {
            return {.kind = Kind::Bool, .integer = text == "true" ? 1 : 0};
        }
        if (text == "nullptr") return {.kind = Kind::Braces, .range = {name, name}};
        if (const CppValue* bound = bindings_(text)) return *bound;
        const CppCode::Declaration declaration = code_.find_declaration(text, name);
        if (const CppFunction* function = code_.find_function(text);
            function != nullptr && declaration.value.is_empty()) {
            return {.kind = Kind::Function, .function = function};
        }
        if (!declaration.is_found) return word(name);
        if (declaration.value.is_empty()) return {};
        return evaluate_inside(declaration.value);
    }
};

}  // namespace

CppValue evaluate(const CppCode& code, TokenRange range, const CppBindings& bindings) {
    if (range.is_empty()) return {};
    return Evaluator(code, range, bindings, 0).run();
}

}  // namespace ebb::source
