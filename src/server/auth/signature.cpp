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

}  // namespace

std::string base64url(std::string_view bytes) {
    std::string text;
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
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char digit : text) {
        const std::size_t value = kDigits.find(digit);
        if (value == std::string_view::npos) return std::nullopt;
        bits = (bits << 6U) | static_cast<std::uint32_t>(value);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>((bits >> count) & 0xffU);
    }
    // Every sequence of bytes has exactly one text.
    if (base64url(bytes) != text) return std::nullopt;
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
