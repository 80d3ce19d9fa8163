#include "server/auth/secret.h"

#include <array>
#include <cstdint>

#include <sys/random.h>

#include <ebb/error.h>

#include "support/os_file.h"
#include "support/sha256.h"

namespace ebb::server {

namespace {

constexpr std::string_view kPrefix = "ebb_";
constexpr std::size_t kIdSize = 8;
constexpr std::size_t kSecretSize = 43;
constexpr std::size_t kChecksumSize = 6;
constexpr std::string_view kBase62 =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kBase64Url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

template <std::size_t N>
std::array<std::uint8_t, N> random_bytes() {
    std::array<std::uint8_t, N> bytes{};
    static_assert(N <= 256, "more may come in pieces");
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(N)) {
        throw_errno("getrandom");
    }
    return bytes;
}

/// For each value of a byte, what it changes in a CRC.
constexpr std::array<std::uint32_t, 256> kCrcOfBytes = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
        }
        table[byte] = crc;
    }
    return table;
}();

/// CRC-32 of IEEE 802.3. Every request with a token computes it.
std::uint32_t checksum(std::string_view text) {
    std::uint32_t crc = 0xffffffff;
    for (const char c : text) {
        crc = (crc >> 8U) ^ kCrcOfBytes[(crc ^ static_cast<std::uint8_t>(c)) & 0xffU];
    }
    return ~crc;
}

std::string base62(std::uint64_t number, std::size_t size) {
    std::string text(size, '0');
    for (std::size_t at = size; at-- > 0; number /= kBase62.size()) {
        text[at] = kBase62[number % kBase62.size()];
    }
    return text;
}

}  // namespace

std::string make_secret() {
    const auto bytes = random_bytes<32>();
    std::string text;
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const std::uint8_t byte : bytes) {
        bits = (bits << 8U) | byte;
        for (count += 8; count >= 6; count -= 6) text += kBase64Url[(bits >> (count - 6)) & 63U];
    }
    text += kBase64Url[(bits << (6 - count)) & 63U];
    return text;
}

TokenText make_token() {
    std::uint64_t number = 0;
    for (const std::uint8_t byte : random_bytes<8>()) number = (number << 8U) | byte;
    TokenText token;
    token.id = base62(number, kIdSize);
    token.whole = std::string(kPrefix) + token.id + "_" + make_secret();
    token.whole += base62(checksum(token.whole), kChecksumSize);
    return token;
}

std::optional<std::string> token_id(std::string_view text) {
    constexpr std::size_t kSize = kPrefix.size() + kIdSize + 1 + kSecretSize + kChecksumSize;
    if (text.size() != kSize || !text.starts_with(kPrefix)) return std::nullopt;
    if (text[kPrefix.size() + kIdSize] != '_') return std::nullopt;
    const std::string_view checked = text.substr(0, kSize - kChecksumSize);
    if (text.substr(checked.size()) != base62(checksum(checked), kChecksumSize)) {
        return std::nullopt;
    }
    return std::string(text.substr(kPrefix.size(), kIdSize));
}

std::string hash_secret(std::string_view secret) {
    return sha256_hex(secret);
}

bool is_equal_secret(std::string_view left, std::string_view right) {
    if (left.size() != right.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
        difference |= static_cast<unsigned char>(left[i] ^ right[i]);
    }
    return difference == 0;
}

}  // namespace ebb::server
