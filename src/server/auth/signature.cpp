#include "server/auth/signature.h"

#include <array>
#include <cstdint>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <ebb/error.h>

#include "server/auth/secret.h"

namespace ebb::server {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The value of each character; kNoDigit = it is none.
constexpr std::uint8_t kNoDigit = 0xff;

constexpr std::array<std::uint8_t, 256> kValues = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(kNoDigit);
    for (std::size_t i = 0; i < kDigits.size(); ++i) {
        values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
    }
    return values;
}();

}  // namespace

std::string base64url(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() * 4 + 2) / 3);
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char byte : bytes) {
        bits = (bits << 8U) | static_cast<std::uint8_t>(byte);
        for (count += 8; count >= 6; count -= 6) text += kDigits[(bits >> (count - 6)) & 63U];
    }
    if (count > 0) text += kDigits[(bits << (6 - count)) & 63U];
    return text;
}

std::optional<std::string> parse_base64url(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size() * 3 / 4);
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char digit : text) {
        const std::uint8_t value = kValues[static_cast<unsigned char>(digit)];
        if (value == kNoDigit) return std::nullopt;
        bits = (bits << 6U) | value;
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>((bits >> count) & 0xffU);
    }
    // Every sequence of bytes has exactly one text: no rest of a digit, and nothing in what is left
    // over of the last one.
    if (count >= 6 || (bits & ((1U << count) - 1U)) != 0) return std::nullopt;
    return bytes;
}

std::string Signer::mac(std::string_view purpose, std::string_view text) const {
    const std::string signed_text = std::string(purpose) + '\n' + std::string(text);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    const auto* data = reinterpret_cast<const unsigned char*>(signed_text.data());
    const int key_size = static_cast<int>(key_.size());
    if (HMAC(EVP_sha256(), key_.data(), key_size, data, signed_text.size(), digest.data(), &size) ==
        nullptr) {
        throw Error(ErrorCode::Internal, "OpenSSL cannot make an HMAC.");
    }
    return {reinterpret_cast<const char*>(digest.data()), size};
}

std::string Signer::sign(std::string_view purpose, std::string_view text) const {
    return base64url(text) + "." + base64url(mac(purpose, text));
}

std::optional<std::string> Signer::verify(std::string_view purpose, std::string_view token) const {
    const std::size_t dot = token.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    auto text = parse_base64url(token.substr(0, dot));
    const auto given = parse_base64url(token.substr(dot + 1));
    if (!text || !given || !is_equal_secret(*given, mac(purpose, *text))) return std::nullopt;
    return text;
}

}  // namespace ebb::server
