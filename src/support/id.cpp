#include <array>
#include <ostream>

#include <fmt/format.h>

#include <ebb/error.h>
#include <ebb/id.h>

#include "support/json.h"

namespace ebb {

namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::size_t kSize = 36;
constexpr std::array<std::size_t, 4> kDashes{8, 13, 18, 23};

/// The positions of the two digits of each byte.
constexpr std::array<std::size_t, 16> kPlaces{
    0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34
};

/// The value of each hexadecimal digit; -1 for every other byte.
constexpr std::array<std::int8_t, 256> kValues = [] {
    std::array<std::int8_t, 256> values{};
    values.fill(-1);
    for (std::size_t i = 0; i < kHex.size(); ++i) {
        const auto digit = static_cast<unsigned char>(kHex[i]);
        values[digit] = static_cast<std::int8_t>(i);
        if (i >= 10) values[digit - 'a' + 'A'] = static_cast<std::int8_t>(i);
    }
    return values;
}();

int value_of(char digit) {
    return kValues[static_cast<unsigned char>(digit)];
}

}  // namespace

std::optional<InstanceId> InstanceId::parse(std::string_view text) {
    if (text.size() != kSize) return std::nullopt;
    for (const std::size_t at : kDashes) {
        if (text[at] != '-') return std::nullopt;
    }
    InstanceId id;
    int all = 0;
    for (std::size_t i = 0; i < kPlaces.size(); ++i) {
        const char* digits = text.data() + kPlaces[i];
        const int value = value_of(digits[0]) * 16 | value_of(digits[1]);
        all |= value;
        id.bytes[i] = static_cast<std::uint8_t>(value);
    }
    return all < 0 ? std::nullopt : std::optional(id);
}

std::string InstanceId::to_string() const {
    std::string text(kSize, '-');
    for (std::size_t i = 0; i < kPlaces.size(); ++i) {
        char* digits = text.data() + kPlaces[i];
        digits[0] = kHex[bytes[i] >> 4];
        digits[1] = kHex[bytes[i] & 15];
    }
    return text;
}

std::ostream& operator<<(std::ostream& out, const InstanceId& id) {
    return out << id.to_string();
}

void throw_invalid_id(std::string_view text) {
    constexpr std::size_t kShownMax = 64;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("\"{}\" is not the id of an instance.", clean_text(text, kShownMax))
    );
}

}  // namespace ebb
