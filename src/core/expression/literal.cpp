#include "core/expression/literal.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "core/expression/source.h"
#include "support/unicode.h"

namespace ebb::expression {

namespace {

Literal problem(std::string message, std::size_t at = 0) {
    return {.value = null_value(), .problem = std::move(message), .problem_at = at};
}

/// The digits of an integer literal without prefix and suffix.
std::optional<std::uint64_t> read_natural(std::string_view text) {
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        text.remove_prefix(2);
        base = 16;
    }
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc()) return std::nullopt;
    return number;
}

/// The escapes of a string literal, one after the other.
class Unescaper {
 public:
    Unescaper(std::string_view text, std::string& out) : text_(text), out_(out) {}

    /// Empty when all is well.
    std::string run() {
        while (at_ < text_.size()) {
            if (text_[at_] != '\\') {
                out_ += text_[at_++];
                continue;
            }
            escape_at_ = at_;
            at_ += 2;
            if (std::string found = escape(text_[at_ - 1]); !found.empty()) return found;
        }
        return {};
    }

    std::size_t escape_at() const { return escape_at_; }

 private:
    std::string escape(char letter) {
        static constexpr std::string_view kLetters = "abfnrtv\\?\"'`";
        static constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\?\"'`";
        if (const auto known = kLetters.find(letter); known != std::string_view::npos) {
            out_ += kMeanings[known];
            return {};
        }
        switch (letter) {
            case 'x':
            case 'X':
                return digits(2, 16);
            case 'u':
                return digits(4, 16);
            case 'U':
                return digits(8, 16);
            default:
                break;
        }
        if (letter >= '0' && letter <= '3') {
            --at_;
            return digits(3, 8);
        }
        return fmt::format(
            "There is no escape \"\\{}\"; there are \\a \\b \\f \\n \\r \\t \\v \\\\ \\? \\\" \\' "
            "\\` \\xHH \\uHHHH \\UHHHHHHHH and \\OOO.",
            letter
        );
    }

    std::string digits(std::size_t count, int base) {
        const std::string_view digits = text_.substr(at_, count);
        std::uint32_t code_point = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), code_point, base);
        if (digits.size() < count || error != std::errc() || end != digits.data() + count) {
            return fmt::format(
                "This escape needs {} {} digits.", count, base == 8 ? "octal" : "hexadecimal"
            );
        }
        if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF)) {
            return "This escape is not a Unicode character: surrogates and numbers above 10FFFF "
                   "are not allowed.";
        }
        append_utf8(out_, code_point);
        at_ += count;
        return {};
    }

    std::string_view text_;
    std::string& out_;
    std::size_t at_ = 0;
    std::size_t escape_at_ = 0;
};

/// from_chars reports what is too small and what is too great alike. A long double tells them
/// apart, and where even that overflows the exponent's sign does.
std::optional<double> out_of_range_double(std::string_view text) {
    long double wide = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), wide);
    if (error == std::errc() && std::fabs(wide) < 1) return static_cast<double>(wide);
    if (error != std::errc() && text.find_first_of("eE") != std::string_view::npos &&
        text[text.find_first_of("eE") + 1] == '-') {
        return 0.0;
    }
    return std::nullopt;
}

}  // namespace

std::optional<double> parse_double(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    if (text.empty() || text == "-" || text.starts_with("-+") || text.starts_with('+')) {
        return std::nullopt;
    }
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end != text.data() + text.size()) return std::nullopt;
    if (error == std::errc::result_out_of_range) return out_of_range_double(text);
    if (error != std::errc()) return std::nullopt;
    return number;
}

Literal number_literal(const Token& token, bool is_negative) {
    if (token.kind == TokenKind::Double) {
        const auto number = parse_double(token.text);
        if (!number) return problem(fmt::format("{} is too large for a double.", token.text));
        return {.value = double_value(is_negative ? -*number : *number)};
    }
    std::string_view digits = token.text;
    if (token.kind == TokenKind::Uint) digits.remove_suffix(1);
    const auto number = read_natural(digits);
    if (token.kind == TokenKind::Uint) {
        if (!number) {
            return problem(fmt::format(
                "{} is too large for a uint, whose maximum is 18446744073709551615u.", token.text
            ));
        }
        return {.value = uint_value(*number)};
    }
    const std::uint64_t most = std::uint64_t{INT64_MAX} + (is_negative ? 1 : 0);
    if (!number || *number > most) {
        return problem(fmt::format(
            "{}{} is outside of the range of int; write {}u for a uint or {}.0 for a double.",
            is_negative ? "-" : "",
            token.text,
            token.text,
            token.text
        ));
    }
    return {.value = int_value(static_cast<std::int64_t>(is_negative ? 0 - *number : *number))};
}

Literal string_literal(const Token& token, std::string& unescaped) {
    std::string_view text = token.text;
    const bool is_raw = text.starts_with('r') || text.starts_with('R');
    if (is_raw) text.remove_prefix(1);
    const bool is_triple = text.size() >= 6 && text[1] == text[0] && text[2] == text[0];
    const std::size_t fence = is_triple ? 3 : 1;
    text = text.substr(fence, text.size() - 2 * fence);
    if (is_raw || text.find('\\') == std::string_view::npos) return {.value = string_value(text)};
    Unescaper unescaper(text, unescaped);
    if (std::string found = unescaper.run(); !found.empty()) {
        return problem(std::move(found), fence + unescaper.escape_at());
    }
    return {.value = string_value(unescaped)};
}

}  // namespace ebb::expression
