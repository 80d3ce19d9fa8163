#include "core/diagram/unicode.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "support/unicode.h"

namespace ebb::diagram {
namespace {

constexpr char32_t kEllipsis = 0x2026;

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
    return is_control(c) || is_rearranging(c) || (c & 0xFFFE) == 0xFFFE;
}

bool is_space(char32_t c) {
    return c == '\t' || c == '\n' || c == '\r' || c == 0x85 || c == 0xA0 || c == 0x2028 ||
           c == 0x2029;
}

double char_width(char32_t c) {
    if (c >= 0x20 && c <= 0x7E) return kAsciiWidths[c - 0x20] / 1000.0;
    if (is_zero_width(c)) return 0;
    if (c >= 0x1F000) return 1.3;
    if (is_wide(c)) return 1.02;
    return c < 0x0530 ? 0.75 : 0.9;
}

}  // namespace

std::u32string decode_line(std::string_view text) {
    std::u32string line;
    line.reserve(text.size());
    while (!text.empty()) {
        const DecodedCharacter next = decode_utf8(text);
        const char32_t shown = is_unfit(next.code) ? kReplacementCharacter : next.code;
        line.push_back(is_space(next.code) ? U' ' : shown);
        text.remove_prefix(next.bytes);
    }
    return line;
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
