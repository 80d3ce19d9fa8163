#include <ebb/id.h>

namespace ebb {

namespace {

constexpr std::string_view kHex = "0123456789abcdef";

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool is_dash_place(std::size_t at) {
    return at == 8 || at == 13 || at == 18 || at == 23;
}

}  // namespace

std::optional<InstanceId> InstanceId::parse(std::string_view text) {
    if (text.size() != 36) return std::nullopt;
    InstanceId id;
    std::size_t nibble = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (is_dash_place(at)) {
            if (text[at] != '-') return std::nullopt;
            continue;
        }
        const int value = hex_value(text[at]);
        if (value < 0) return std::nullopt;
        const int shifted = nibble % 2 == 0 ? value << 4 : value;
        id.bytes[nibble / 2] = static_cast<std::uint8_t>(id.bytes[nibble / 2] | shifted);
        ++nibble;
    }
    return id;
}

std::string InstanceId::to_string() const {
    std::string text(36, '-');
    std::size_t at = 0;
    for (const std::uint8_t byte : bytes) {
        if (is_dash_place(at)) ++at;
        text[at++] = kHex[byte >> 4];
        text[at++] = kHex[byte & 15];
    }
    return text;
}

}  // namespace ebb
