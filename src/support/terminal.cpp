#include "support/terminal.h"

#include <fmt/format.h>

#include "support/unicode.h"

namespace ebb {

namespace {

bool is_unsafe(char32_t code) {
    return is_control(code) || is_rearranging(code);
}

}  // namespace

std::string terminal_line(std::string_view text) {
    std::string line;
    for (std::size_t at = 0; at < text.size();) {
        const DecodedCharacter next = decode_utf8(text.substr(at));
        if (next.code == U'\n' || next.code == U'\t' || next.code == U'\r') {
            if (!line.empty() && line.back() != ' ') line += ' ';
        } else if (!next.is_valid || is_unsafe(next.code)) {
            line += '?';
        } else {
            line += text.substr(at, next.bytes);
        }
        at += next.bytes;
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

std::string terminal_text(std::string_view text) {
    std::string clean;
    for (std::size_t at = 0; at < text.size();) {
        const DecodedCharacter next = decode_utf8(text.substr(at));
        const bool is_layout = next.code == U'\n' || next.code == U'\t';
        if (!is_layout && (!next.is_valid || is_unsafe(next.code))) {
            clean += '?';
        } else {
            clean += text.substr(at, next.bytes);
        }
        at += next.bytes;
    }
    return clean;
}

std::string terminal_json(std::string json) {
    std::string escaped;
    std::size_t done = 0;
    for (std::size_t at = 0; at < json.size();) {
        const auto byte = static_cast<unsigned char>(json[at]);
        if (byte < 0x7F) {
            // C0 is already escaped, and between tokens it is layout.
            ++at;
            continue;
        }
        const DecodedCharacter next = decode_utf8(std::string_view(json).substr(at));
        if (next.is_valid && is_unsafe(next.code)) {
            escaped += json.substr(done, at - done);
            escaped += fmt::format("\\u{:04x}", static_cast<unsigned>(next.code));
            done = at + next.bytes;
        }
        at += next.bytes;
    }
    return done == 0 ? json : escaped + json.substr(done);
}

}  // namespace ebb
