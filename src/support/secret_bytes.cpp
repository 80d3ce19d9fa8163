#include "support/secret_bytes.h"

#include <cstdint>

#include <sys/random.h>

#include "support/os_file.h"
#include "support/sha256.h"

namespace ebb {

namespace {

constexpr std::size_t kBlockBytes = 64;
constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kHex = "0123456789abcdef";

std::string sha256(std::string_view text) {
    const std::string hex = sha256_hex(text);
    std::string bytes;
    for (std::size_t at = 0; at < hex.size(); at += 2) {
        const std::size_t byte = kHex.find(hex[at]) * 16 + kHex.find(hex[at + 1]);
        bytes += static_cast<char>(static_cast<unsigned char>(byte));
    }
    return bytes;
}

std::string padded(std::string_view key, unsigned char with) {
    std::string pad(key);
    pad.resize(kBlockBytes, '\0');
    for (char& c : pad) c = static_cast<char>(static_cast<unsigned char>(c) ^ with);
    return pad;
}

}  // namespace

std::string secret_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    // Up to 256 bytes come at once.
    if (getrandom(bytes.data(), count, 0) != static_cast<ssize_t>(count)) throw_errno("getrandom");
    return bytes;
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
    const std::string short_key = key.size() > kBlockBytes ? sha256(key) : std::string(key);
    const std::string inner = sha256(padded(short_key, 0x36) + std::string(text));
    return sha256(padded(short_key, 0x5c) + inner);
}

std::string base64(std::string_view bytes) {
    std::string text;
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char byte : bytes) {
        bits = (bits << 8U) | static_cast<std::uint8_t>(byte);
        for (count += 8; count >= 6; count -= 6) text += kDigits[(bits >> (count - 6)) & 63U];
    }
    if (count > 0) text += kDigits[(bits << (6 - count)) & 63U];
    while (text.size() % 4 != 0) text += '=';
    return text;
}

std::optional<std::string> parse_base64(std::string_view text) {
    std::string bytes;
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char digit : text.substr(0, text.find('='))) {
        const std::size_t value = kDigits.find(digit);
        if (value == std::string_view::npos) return std::nullopt;
        bits = (bits << 6U) | static_cast<std::uint32_t>(value);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>((bits >> count) & 0xffU);
    }
    // Every sequence of bytes has exactly one text.
    if (base64(bytes) != text) return std::nullopt;
    return bytes;
}

std::string hex_of(std::string_view bytes) {
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += kHex[byte / 16];
        text += kHex[byte % 16];
    }
    return text;
}

bool is_equal_in_constant_time(std::string_view left, std::string_view right) {
    if (left.size() != right.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
        difference |= static_cast<unsigned char>(left[i] ^ right[i]);
    }
    return difference == 0;
}

}  // namespace ebb
