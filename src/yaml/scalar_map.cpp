#include "yaml/scalar_map.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace ebb::yaml {

namespace {

using Style = model::Document::Style;

constexpr std::array<std::pair<char, std::string_view>, 18> kEscapes{{
    {'0', std::string_view("\0", 1)},
    {'a', "\a"},
    {'b', "\b"},
    {'t', "\t"},
    {'\t', "\t"},
    {'n', "\n"},
    {'v', "\v"},
    {'f', "\f"},
    {'r', "\r"},
    {'e', "\x1b"},
    {' ', " "},
    {'"', "\""},
    {'/', "/"},
    {'\\', "\\"},
    {'N', "\xc2\x85"},
    {'_', "\xc2\xa0"},
    {'L', "\xe2\x80\xa8"},
    {'P', "\xe2\x80\xa9"},
}};

std::string utf8(std::uint32_t code) {
    const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
    if (code < 0x80) return {byte(code)};
    if (code < 0x800) return {byte(0xC0 | (code >> 6)), byte(0x80 | (code & 0x3F))};
    if (code < 0x10000) {
        return {
            byte(0xE0 | (code >> 12)), byte(0x80 | ((code >> 6) & 0x3F)), byte(0x80 | (code & 0x3F))
        };
    }
    return {
        byte(0xF0 | (code >> 18)),
        byte(0x80 | ((code >> 12) & 0x3F)),
        byte(0x80 | ((code >> 6) & 0x3F)),
        byte(0x80 | (code & 0x3F))
    };
}

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

class Decoder {
 public:
    explicit Decoder(std::string_view source) : source_(source) {}

    DecodedScalar flow(Style style) {
        while (at_ < source_.size()) {
            const char c = source_[at_];
            if (c == '\n' || starts_with("\r\n")) {
                fold();
            } else if (style == Style::SingleQuoted && starts_with("''")) {
                put("'", 2);
            } else if (style == Style::DoubleQuoted && c == '\\') {
                escape();
            } else {
                put(source_.substr(at_, 1), 1);
            }
        }
        return finish();
    }

    DecodedScalar block(bool is_folded) {
        const std::size_t indent = block_indent();
        bool was_more = false;
        bool is_first = true;
        std::size_t empty = 0;
        std::size_t break_at = 0;
        while (at_ < source_.size()) {
            const std::size_t end = std::min(source_.find('\n', at_), source_.size());
            std::size_t begin = at_;
            while (begin < end && begin - at_ < indent && source_[begin] == ' ') ++begin;
            std::string_view line = source_.substr(begin, end - begin);
            if (line.ends_with('\r')) line.remove_suffix(1);
            const bool is_empty = line.empty();
            const bool is_more = !is_empty && is_blank(line.front());
            if (!is_folded) {
                at_ = begin;
                put(line, line.size());
                if (end < source_.size()) put("\n", 0);
            } else if (is_empty) {
                if (end < source_.size()) ++empty;
            } else {
                const bool is_kept = is_first || was_more || is_more;
                const std::size_t breaks = empty + (is_kept && !is_first ? 1 : 0);
                at_ = break_at;
                if (!is_first && breaks == 0) put(" ", 0);
                put(std::string(breaks, '\n'), 0);
                at_ = begin;
                put(line, line.size());
                was_more = is_more;
                is_first = false;
                empty = 0;
                break_at = begin + line.size();
            }
            at_ = end + 1;
        }
        at_ = std::min(at_, source_.size());
        if (is_folded && source_.ends_with('\n'))
            put(std::string(empty + (is_first ? 0 : 1), '\n'), 0);
        return finish();
    }

 private:
    std::string_view source_;
    std::size_t at_ = 0;
    DecodedScalar result_;
    /// Blanks that a fold must not take away: they are escaped.
    std::size_t kept_ = 0;

    bool starts_with(std::string_view text) const { return source_.substr(at_).starts_with(text); }

    void put(std::string_view text, std::size_t length) {
        // A character of several bytes keeps their places if it is written as it is.
        const bool is_copy = text.size() == length;
        for (std::size_t i = 0; i < text.size(); ++i) {
            result_.places.push_back(static_cast<std::uint32_t>(at_ + (is_copy ? i : 0)));
        }
        result_.text += text;
        at_ += length;
    }

    DecodedScalar finish() {
        result_.places.push_back(static_cast<std::uint32_t>(std::min(at_, source_.size())));
        return std::move(result_);
    }

    void skip_break() { at_ += source_[at_] == '\r' ? 2 : 1; }

    void skip_blanks() {
        while (at_ < source_.size() && is_blank(source_[at_])) ++at_;
    }

    void fold() {
        while (result_.text.size() > kept_ && is_blank(result_.text.back())) {
            result_.text.pop_back();
            result_.places.pop_back();
        }
        const std::size_t first = at_;
        skip_break();
        skip_blanks();
        std::size_t empty = 0;
        while (at_ < source_.size() && (source_[at_] == '\n' || starts_with("\r\n"))) {
            ++empty;
            skip_break();
            skip_blanks();
        }
        const std::size_t next = std::exchange(at_, first);
        if (empty == 0) {
            put(" ", 0);
        } else {
            put(std::string(empty, '\n'), 0);
        }
        at_ = next;
    }

    void escape() {
        const char next = at_ + 1 < source_.size() ? source_[at_ + 1] : '\0';
        if (next == '\n' || (next == '\r' && source_.substr(at_ + 1).starts_with("\r\n"))) {
            at_ += next == '\n' ? 2 : 3;
            skip_blanks();
            while (at_ < source_.size() && source_[at_] == '\n') {
                put("\n", 1);
                skip_blanks();
            }
        } else if (const std::size_t digits = digits_of(next); digits > 0) {
            code_point(digits);
        } else {
            const auto* const known =
                std::find_if(kEscapes.begin(), kEscapes.end(), [next](const auto& escape) {
                    return escape.first == next;
                });
            if (known == kEscapes.end() || at_ + 1 >= source_.size()) {
                put("\\", 1);
            } else {
                put(known->second, 2);
            }
        }
        kept_ = result_.text.size();
    }

    static std::size_t digits_of(char letter) {
        return letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    }

    std::optional<std::uint32_t> hex_at(std::size_t at, std::size_t digits) const {
        if (at + digits > source_.size()) return std::nullopt;
        std::uint32_t code = 0;
        const char* const begin = source_.data() + at;
        const auto [end, error] = std::from_chars(begin, begin + digits, code, 16);
        if (error != std::errc() || end != begin + digits || code > 0x10FFFF) return std::nullopt;
        return code;
    }

    void code_point(std::size_t digits) {
        const std::optional<std::uint32_t> code = hex_at(at_ + 2, digits);
        if (!code) return put("\\", 1);
        std::size_t length = 2 + digits;
        std::uint32_t whole = *code;
        // JSON writes what lies above U+FFFF as two escapes.
        const bool is_high = digits == 4 && whole >= 0xD800 && whole < 0xDC00;
        if (is_high && source_.substr(at_ + 6).starts_with("\\u")) {
            const std::uint32_t low = hex_at(at_ + 8, 4).value_or(0);
            if (low >= 0xDC00 && low < 0xE000) {
                whole = 0x10000 + ((whole - 0xD800) << 10) + (low - 0xDC00);
                length = 12;
            }
        }
        put(utf8(whole), length);
    }

    std::size_t block_indent() const {
        std::size_t at = 0;
        while (at < source_.size()) {
            const std::size_t end = std::min(source_.find('\n', at), source_.size());
            std::size_t first = at;
            while (first < end && source_[first] == ' ') ++first;
            const bool is_empty = first == end || (source_[first] == '\r' && first + 1 == end);
            if (!is_empty) return first - at;
            at = end + 1;
        }
        return 0;
    }
};

}  // namespace

DecodedScalar decode_scalar(std::string_view source, Style style) {
    Decoder decoder(source);
    if (style == Style::Literal || style == Style::Folded) {
        return decoder.block(style == Style::Folded);
    }
    return decoder.flow(style);
}

}  // namespace ebb::yaml
