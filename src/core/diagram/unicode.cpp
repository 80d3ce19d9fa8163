#include "core/diagram/unicode.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ebb::diagram {
namespace {

constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kEllipsis = 0x2026;

struct Range {
    char32_t first;
    char32_t last;
};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, char32_t c) {
    const auto* after = std::upper_bound(
        ranges.begin(), ranges.end(), c, [](char32_t x, const Range& r) { return x < r.first; }
    );
    return after != ranges.begin() && c <= std::prev(after)->last;
}

/// Combining marks, joiners and variation selectors: they add to the character before them.
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
    Range{0x200B, 0x200D},
    Range{0x20D0, 0x20FF},
    Range{0xFE00, 0xFE0F},
    Range{0xFE20, 0xFE2F},
    Range{0xE0100, 0xE01EF}
};

/// East Asian wide characters and emoji.
constexpr std::array<Range, 10> kWide{
    Range{0x1100, 0x115F},
    Range{0x2E80, 0x303E},
    Range{0x3041, 0x33FF},
    Range{0x3400, 0x4DBF},
    Range{0x4E00, 0xA4CF},
    Range{0xAC00, 0xD7A3},
    Range{0xF900, 0xFAFF},
    Range{0xFE30, 0xFE6F},
    Range{0xFF00, 0xFF60},
    Range{0x1F300, 0x3FFFD}
};

/// Overrides and isolates of the writing direction would reorder what stands around them.
constexpr std::array<Range, 5> kUnfit{
    Range{0x0000, 0x001F},
    Range{0x007F, 0x009F},
    Range{0x202A, 0x202E},
    Range{0x2066, 0x2069},
    Range{0xFFFE, 0xFFFF}
};

/// Widths of U+0020..U+007E in thousandths of the font size: the greater ones of Helvetica, DejaVu
/// Sans and Segoe UI, so that a text fits whichever font the reader has.
constexpr std::array<int, 95> kAsciiWidths{
    320, 400, 460, 840, 640, 950, 780, 280, 390, 390, 500, 840, 320, 400,  320, 340, 640, 640, 640,
    640, 640, 640, 640, 640, 640, 640, 340, 340, 840, 840, 840, 560, 1010, 690, 690, 720, 770, 670,
    620, 780, 760, 300, 500, 670, 560, 900, 750, 790, 670, 790, 700, 670,  620, 740, 690, 990, 690,
    670, 690, 390, 340, 390, 840, 560, 500, 620, 640, 560, 640, 620, 360,  640, 640, 280, 280, 580,
    280, 980, 640, 620, 640, 640, 420, 530, 400, 640, 600, 820, 600, 600,  530, 640, 340, 640, 840
};

bool is_unfit(char32_t c) {
    return is_in(kUnfit, c) || (c >= 0xD800 && c <= 0xDFFF) || (c & 0xFFFE) == 0xFFFE;
}

bool is_space(char32_t c) {
    return c == '\t' || c == '\n' || c == '\r' || c == 0x85 || c == 0xA0 || c == 0x2028 ||
           c == 0x2029;
}

struct Decoded {
    char32_t c = kReplacement;
    std::size_t length = 1;
};

/// The code point at the start of `text`, which is not empty. One that is not well formed takes one
/// byte.
Decoded decode_one(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return static_cast<char32_t>(static_cast<unsigned char>(text[i]));
    };
    const char32_t lead = byte(0);
    if (lead < 0x80) return {lead, 1};
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
    char32_t c = lead & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return {};
        c = (c << 6) | (byte(i) & 0x3F);
    }
    constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
    if (c < kLeast[length] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return {};
    return {c, length};
}

double char_width(char32_t c) {
    if (c >= 0x20 && c <= 0x7E) return kAsciiWidths[c - 0x20] / 1000.0;
    if (is_in(kZeroWidth, c)) return 0;
    if (c >= 0x1F000) return 1.3;
    if (is_in(kWide, c)) return 1.02;
    return c < 0x0530 ? 0.75 : 0.9;
}

}  // namespace

std::u32string decode_line(std::string_view text) {
    std::u32string line;
    line.reserve(text.size());
    while (!text.empty()) {
        const Decoded next = decode_one(text);
        const char32_t shown = is_unfit(next.c) ? kReplacement : next.c;
        line.push_back(is_space(next.c) ? U' ' : shown);
        text.remove_prefix(next.length);
    }
    return line;
}

void append_utf8(std::string& out, char32_t c) {
    const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
    const auto put_rest = [&](int shift) { put(0x80 | ((c >> shift) & 0x3F)); };
    if (c < 0x80) {
        put(c);
    } else if (c < 0x800) {
        put(0xC0 | (c >> 6));
        put_rest(0);
    } else if (c < 0x10000) {
        put(0xE0 | (c >> 12));
        put_rest(6);
        put_rest(0);
    } else {
        put(0xF0 | (c >> 18));
        put_rest(12);
        put_rest(6);
        put_rest(0);
    }
}

std::string clean_line(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char32_t c : decode_line(text)) append_utf8(out, c);
    return out;
}

std::string shorten(std::string_view text, std::size_t chars_max) {
    const std::u32string line = decode_line(text);
    std::string out;
    for (const char32_t c : line.substr(0, chars_max)) append_utf8(out, c);
    if (line.size() > chars_max) append_utf8(out, kEllipsis);
    return out;
}

double text_width(std::u32string_view text, double font_size) {
    double width = 0;
    for (const char32_t c : text) width += char_width(c);
    return width * font_size;
}

FittedText fit_text(std::string_view text, double font_size, double width_max) {
    const std::u32string line = decode_line(text);
    std::size_t fits = 0;
    double width = 0;
    double cut_width = 0;
    const double ellipsis = char_width(kEllipsis) * font_size;
    for (std::size_t i = 0; i < line.size() && width <= width_max; ++i) {
        if (char_width(line[i]) > 0 && width + ellipsis <= width_max) {
            fits = i;
            cut_width = width;
        }
        width += char_width(line[i]) * font_size;
    }
    FittedText fitted;
    fitted.is_cut = width > width_max;
    fitted.width = fitted.is_cut ? cut_width + ellipsis : width;
    for (const char32_t c : line.substr(0, fitted.is_cut ? fits : line.size()))
        append_utf8(fitted.text, c);
    if (fitted.is_cut) append_utf8(fitted.text, kEllipsis);
    return fitted;
}

}  // namespace ebb::diagram
