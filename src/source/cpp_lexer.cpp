#include "source/cpp_lexer.h"

#include <algorithm>
#include <array>

#include "support/unicode.h"

namespace ebb::source {

namespace {

constexpr std::size_t kRawDelimiterMax = 16;

enum class Class : std::uint8_t { Other, Space, Word, Digit, Quote };

constexpr std::array<Class, 256> make_classes() {
    std::array<Class, 256> classes{};
    for (const char c : {' ', '\t', '\n', '\r', '\f', '\v'}) {
        classes[static_cast<unsigned char>(c)] = Class::Space;
    }
    for (std::size_t c = 'a'; c <= 'z'; ++c) classes[c] = Class::Word;
    for (std::size_t c = 'A'; c <= 'Z'; ++c) classes[c] = Class::Word;
    for (std::size_t c = '0'; c <= '9'; ++c) classes[c] = Class::Digit;
    for (std::size_t c = 0x80; c < 0x100; ++c) classes[c] = Class::Word;
    classes[static_cast<unsigned char>('_')] = Class::Word;
    classes[static_cast<unsigned char>('"')] = Class::Quote;
    classes[static_cast<unsigned char>('\'')] = Class::Quote;
    return classes;
}

constexpr std::array<Class, 256> kClasses = make_classes();

Class class_of(char c) {
    return kClasses[static_cast<unsigned char>(c)];
}

bool is_word(char c) {
    return class_of(c) == Class::Word || class_of(c) == Class::Digit;
}

class Lexer {
 public:
    Lexer(std::string_view text, std::size_t tokens_max) : text_(text), tokens_max_(tokens_max) {
        tokens_.reserve(std::min(text.size() / 6 + 1, tokens_max));
    }

    std::vector<CppToken> run() {
        while (at_ < text_.size() && tokens_.size() <= tokens_max_) step();
        if (tokens_.size() > tokens_max_) tokens_.clear();
        return std::move(tokens_);
    }

 private:
    std::string_view text_;
    std::size_t tokens_max_;
    std::size_t at_ = 0;
    bool is_line_start_ = true;
    std::vector<CppToken> tokens_;

    char peek(std::size_t offset = 0) const {
        return at_ + offset < text_.size() ? text_[at_ + offset] : '\0';
    }

    void add(CppToken::Kind kind, std::size_t end) {
        end = std::min(end, text_.size());
        tokens_.push_back({kind, text_.substr(at_, end - at_), at_});
        at_ = end;
        is_line_start_ = false;
    }

    void step() {
        const char c = text_[at_];
        switch (class_of(c)) {
            case Class::Space:
                if (c == '\n') is_line_start_ = true;
                ++at_;
                return;
            case Class::Word:
                return add_word();
            case Class::Digit:
                return add_number();
            case Class::Quote:
                return add_quoted(at_);
            case Class::Other:
                break;
        }
        if (c == '/' && peek(1) == '/') {
            skip_line();
        } else if (c == '/' && peek(1) == '*') {
            const std::size_t end = text_.find("*/", at_ + 2);
            at_ = end == std::string_view::npos ? text_.size() : end + 2;
        } else if (c == '#' && is_line_start_) {
            skip_directive();
        } else if (c == '.' && class_of(peek(1)) == Class::Digit) {
            add_number();
        } else {
            add_punctuation();
        }
    }

    void add_punctuation() {
        const char c = peek();
        const char next = peek(1);
        const bool is_pair = (c == ':' && next == ':') || (c == '-' && next == '>');
        add(CppToken::Kind::Punctuation, at_ + (is_pair ? 2 : 1));
    }

    void add_word() {
        std::size_t end = at_;
        while (end < text_.size() && is_word(text_[end])) ++end;
        const std::string_view word = text_.substr(at_, end - at_);
        const bool is_prefix =
            end < text_.size() && text_[end] == '"' && word.size() <= 3 &&
            (word == "R" || word == "L" || word == "u" || word == "U" || word == "u8" ||
             word == "LR" || word == "uR" || word == "UR" || word == "u8R");
        if (is_prefix) return add_quoted(end);
        add(CppToken::Kind::Identifier, end);
    }

    void add_number() {
        std::size_t end = at_ + 1;
        while (end < text_.size()) {
            const char c = text_[end];
            const char before = text_[end - 1];
            const bool is_exponent = (c == '+' || c == '-') && (before == 'e' || before == 'E') &&
                                     !text_.substr(at_, 2).starts_with("0x");
            const bool is_separator =
                c == '\'' && end + 1 < text_.size() && is_word(text_[end + 1]);
            if (!is_word(c) && c != '.' && !is_exponent && !is_separator) break;
            ++end;
        }
        add(CppToken::Kind::Number, end);
    }

    /// `quote` is where the quote is, behind a prefix.
    void add_quoted(std::size_t quote) {
        const bool is_raw = quote > at_ && text_[quote - 1] == 'R';
        if (is_raw) {
            // No further: code with many of these quotes would be searched to its end for each.
            const std::size_t size = text_.substr(quote + 1, kRawDelimiterMax + 1).find('(');
            if (size != std::string_view::npos) {
                const std::size_t open = quote + 1 + size;
                const std::string closing = ")" + std::string(text_.substr(quote + 1, size)) + "\"";
                const std::size_t end = text_.find(closing, open);
                const bool is_open = end == std::string_view::npos;
                return add(CppToken::Kind::String, is_open ? text_.size() : end + closing.size());
            }
        }
        const char mark = text_[quote];
        std::size_t end = quote + 1;
        // A quote that is not closed ends with its line.
        while (end < text_.size() && text_[end] != mark && text_[end] != '\n') {
            end += text_[end] == '\\' ? 2 : 1;
        }
        if (end < text_.size() && text_[end] == mark) ++end;
        add(mark == '"' ? CppToken::Kind::String : CppToken::Kind::Character, end);
    }

    /// To the end of the line and of those that it goes on in.
    void skip_line() {
        while (at_ < text_.size()) {
            const std::size_t end = text_.find('\n', at_);
            if (end == std::string_view::npos) {
                at_ = text_.size();
                return;
            }
            const bool goes_on =
                end > at_ && (text_[end - 1] == '\\' ||
                              (text_[end - 1] == '\r' && end > at_ + 1 && text_[end - 2] == '\\'));
            at_ = end + 1;
            if (!goes_on) break;
        }
        is_line_start_ = true;
    }

    std::string_view directive_at(std::size_t at) const {
        ++at;
        while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
        std::size_t end = at;
        while (end < text_.size() && is_word(text_[end])) ++end;
        return text_.substr(at, end - at);
    }

    void skip_directive() {
        const std::string_view name = directive_at(at_);
        const std::size_t begin = at_;
        skip_line();
        const std::string_view line = text_.substr(begin, at_ - begin);
        const bool is_never = name == "if" && line.find(" 0") != std::string_view::npos &&
                              line.find_first_not_of("#if0 \t\r\n") == std::string_view::npos;
        // The first part of a condition is read, so its #else begins what is skipped.
        if (is_never || name == "else" || name == "elif") skip_part(!is_never);
    }

    /// To the directive that ends the part. `is_rest`: up to #endif, whatever comes before it.
    void skip_part(bool is_rest) {
        int depth = 0;
        while (at_ < text_.size()) {
            const std::size_t first = text_.find_first_not_of(" \t", at_);
            if (first != std::string_view::npos && text_[first] == '#') {
                const std::string_view name = directive_at(first);
                const bool is_end = name == "endif";
                const bool is_other = !is_rest && (name == "else" || name == "elif");
                if (name.starts_with("if")) ++depth;
                if (depth == 0 && (is_end || is_other)) return skip_line();
                if (is_end) --depth;
            }
            skip_line();
        }
    }
};

char simple_escape(char c) {
    switch (c) {
        case 'n':
            return '\n';
        case 't':
            return '\t';
        case 'r':
            return '\r';
        case 'b':
            return '\b';
        case 'f':
            return '\f';
        case 'v':
            return '\v';
        case 'a':
            return '\a';
        default:
            return c;
    }
}

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

/// Up to `digits_max` digits of `base` at `at`, which moves behind them.
char32_t read_digits(std::string_view text, std::size_t& at, int base, std::size_t digits_max) {
    char32_t value = 0;
    for (std::size_t i = 0; i < digits_max && at < text.size(); ++i, ++at) {
        const int digit = digit_of(text[at]);
        if (digit >= base) break;
        value = value * static_cast<char32_t>(base) + static_cast<char32_t>(digit);
    }
    return value;
}

void append_escape(std::string& out, std::string_view text, std::size_t& at) {
    const char c = text[at];
    if (c == 'x') {
        out += static_cast<char>(read_digits(text, ++at, 16, 8) & 0xFFU);
    } else if (c == 'u' || c == 'U') {
        const char32_t point = read_digits(text, ++at, 16, c == 'u' ? 4 : 8);
        append_utf8(out, point <= 0x10FFFF ? point : U'\uFFFD');
    } else if (c >= '0' && c <= '7') {
        out += static_cast<char>(read_digits(text, at, 8, 3) & 0xFFU);
    } else {
        if (c != '\n') out += simple_escape(c);
        ++at;
    }
}

}  // namespace

std::vector<CppToken> lex_cpp(std::string_view text, std::size_t tokens_max) {
    return Lexer(text, tokens_max).run();
}

std::vector<std::uint32_t> match_brackets(const std::vector<CppToken>& tokens) {
    const auto none = static_cast<std::uint32_t>(tokens.size());
    std::vector<std::uint32_t> match(tokens.size(), none);
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].kind != CppToken::Kind::Punctuation) continue;
        const char c = tokens[i].text.front();
        if (c == '(' || c == '[' || c == '{') {
            open.push_back(i);
        } else if (c == ')' || c == ']' || c == '}') {
            const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
            // A brace that closes is right, and what was left open inside it is not.
            while (c == '}' && !open.empty() && tokens[open.back()].text.front() != '{') {
                open.pop_back();
            }
            if (open.empty() || tokens[open.back()].text.front() != wanted) continue;
            match[open.back()] = i;
            match[i] = open.back();
            open.pop_back();
        }
    }
    return match;
}

std::string cpp_string_value(std::string_view literal) {
    const std::size_t quote = literal.find('"');
    if (quote == std::string_view::npos) return {};
    if (quote > 0 && literal[quote - 1] == 'R') {
        const std::size_t open = literal.find('(', quote);
        if (open == std::string_view::npos) return {};
        const std::size_t closing = open - quote - 1 + 2;  // `)`, the delimiter and the quote
        const std::size_t end = literal.size() - std::min(literal.size() - open - 1, closing);
        return std::string(literal.substr(open + 1, end - open - 1));
    }
    std::string_view text = literal.substr(quote + 1);
    if (text.ends_with('"')) text.remove_suffix(1);
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '\\' && at + 1 < text.size()) {
            append_escape(out, text, ++at);
        } else {
            out += text[at++];
        }
    }
    return out;
}

}  // namespace ebb::source
