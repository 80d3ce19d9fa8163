#include "support/unicode.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace ebb {

namespace {

struct Range {
    char32_t first;
    char32_t last;
};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, char32_t code) {
    const auto* after = std::upper_bound(
        ranges.begin(), ranges.end(), code, [](char32_t x, const Range& r) { return x < r.first; }
    );
    return after != ranges.begin() && code <= std::prev(after)->last;
}

constexpr std::array<Range, 16> kZeroWidth{
    Range{0x0300, 0x036F},
    Range{0x0483, 0x0489},
    Range{0x0591, 0x05BD},
    Range{0x0610, 0x061A},
    Range{0x064B, 0x065F},
    Range{0x0900, 0x0902},
    Range{0x093A, 0x093A},
    Range{0x0941, 0x0948},
    Range{0x0E34, 0x0E3A},
    Range{0x1AB0, 0x1AFF},
    Range{0x1DC0, 0x1DFF},
    Range{0x200B, 0x200F},
    Range{0x20D0, 0x20FF},
    Range{0xFE00, 0xFE0F},
    Range{0xFE20, 0xFE2F},
    Range{0xE0100, 0xE01EF}
};

constexpr std::array<Range, 8> kWide{
    Range{0x1100, 0x115F},
    Range{0x2E80, 0x303E},
    Range{0x3041, 0xA4CF},
    Range{0xAC00, 0xD7A3},
    Range{0xF900, 0xFAFF},
    Range{0xFE30, 0xFE6F},
    Range{0xFF00, 0xFF60},
    Range{0x1F300, 0x3FFFD}
};

constexpr std::array<Range, 2> kRearranging{Range{0x2028, 0x202E}, Range{0x2066, 0x2069}};

}  // namespace

DecodedCharacter decode_utf8(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return static_cast<char32_t>(static_cast<unsigned char>(text[i]));
    };
    const char32_t lead = byte(0);
    if (lead < 0x80) return {lead, 1, true};
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
    char32_t code = lead & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return {};
        code = (code << 6) | (byte(i) & 0x3F);
    }
    constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
    if (code < kLeast[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
    return {code, length, true};
}

void append_utf8(std::string& out, char32_t code) {
    const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
    const auto put_rest = [&](int shift) { put(0x80 | ((code >> shift) & 0x3F)); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0 | (code >> 6));
        put_rest(0);
    } else if (code < 0x10000) {
        put(0xE0 | (code >> 12));
        put_rest(6);
        put_rest(0);
    } else {
        put(0xF0 | (code >> 18));
        put_rest(12);
        put_rest(6);
        put_rest(0);
    }
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool is_zero_width(char32_t code) {
    return is_in(kZeroWidth, code);
}

bool is_wide(char32_t code) {
    return is_in(kWide, code);
}

bool is_control(char32_t code) {
    return code < 0x20 || (code >= 0x7F && code <= 0x9F);
}

bool is_rearranging(char32_t code) {
    return is_in(kRearranging, code);
}

}  // namespace ebb
