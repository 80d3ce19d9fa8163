#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Just enough of Unicode to show foreign text safely and to know about how wide it is.

namespace ebb::diagram {

/// The code points of `text` fit for one line of a picture: white space becomes a space; control
/// characters, direction overrides and invalid UTF-8 become U+FFFD.
std::u32string decode_line(std::string_view text);

/// decode_line as UTF-8 again.
std::string clean_line(std::string_view text);

/// clean_line, cut to at most `chars_max` characters and an ellipsis.
std::string shorten(std::string_view text, std::size_t chars_max);

/// The width of `text` in a common sans-serif font, in pixels.
double text_width(std::u32string_view text, double font_size);

/// What of a text is shown, and how wide that is.
struct FittedText {
    std::string text;
    double width = 0;
    bool is_cut = false;
};

/// As much of `text` as is at most `width_max` wide; what is cut ends in an ellipsis.
FittedText fit_text(std::string_view text, double font_size, double width_max);

}  // namespace ebb::diagram
