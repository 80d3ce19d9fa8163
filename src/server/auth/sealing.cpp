#include "server/auth/sealing.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <openssl/evp.h>

#include <ebb/error.h>

#include "support/secret_bytes.h"
#include "support/sha256.h"

namespace ebb::server {

namespace {

constexpr std::string_view kPrefix = "sealed:1:";
constexpr std::size_t kIdDigits = 8;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;

using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

int size_of(std::string_view text) {
    return static_cast<int>(text.size());
}

void require(bool is_done) {
    if (!is_done) throw Error(ErrorCode::Internal, "The encryption of a secret failed.");
}

Context new_context() {
    Context context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
    require(context != nullptr);
    return context;
}

/// Of `key`; it does not lead back to it.
std::string id_of(std::string_view key) {
    return sha256_hex(fmt::format("ebb store key {}", hex_of(key))).substr(0, kIdDigits);
}

std::string encrypt(
    std::string_view key, std::string_view nonce, std::string_view text, std::string_view place
) {
    const Context context = new_context();
    auto* ctx = context.get();
    std::string out(text.size() + kTagBytes, '\0');
    auto* at = reinterpret_cast<unsigned char*>(out.data());
    int size = 0;
    require(
        EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), nullptr, bytes_of(key), bytes_of(nonce)) == 1
    );
    require(EVP_EncryptUpdate(ctx, nullptr, &size, bytes_of(place), size_of(place)) == 1);
    require(EVP_EncryptUpdate(ctx, at, &size, bytes_of(text), size_of(text)) == 1);
    require(EVP_EncryptFinal_ex(ctx, at + size, &size) == 1);
    require(
        EVP_CIPHER_CTX_ctrl(
            ctx, EVP_CTRL_GCM_GET_TAG, static_cast<int>(kTagBytes), at + text.size()
        ) == 1
    );
    return out;
}

/// Empty: the text, its place or the key is another one.
std::optional<std::string> decrypt(
    std::string_view key, std::string_view nonce, std::string_view sealed, std::string_view place
) {
    const Context context = new_context();
    auto* ctx = context.get();
    const std::string_view text = sealed.substr(0, sealed.size() - kTagBytes);
    std::string tag(sealed.substr(text.size()));
    std::string out(text.size(), '\0');
    auto* at = reinterpret_cast<unsigned char*>(out.data());
    int size = 0;
    require(
        EVP_DecryptInit_ex(ctx, EVP_aes_256_gcm(), nullptr, bytes_of(key), bytes_of(nonce)) == 1
    );
    require(EVP_DecryptUpdate(ctx, nullptr, &size, bytes_of(place), size_of(place)) == 1);
    require(EVP_DecryptUpdate(ctx, at, &size, bytes_of(text), size_of(text)) == 1);
    require(
        EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, static_cast<int>(kTagBytes), tag.data()) == 1
    );
    if (EVP_DecryptFinal_ex(ctx, at + size, &size) != 1) return std::nullopt;
    return out;
}

/// Empty if `text` is not the hexadecimal digits of a key.
std::string parse_hex(std::string_view text) {
    std::string bytes;
    if (text.size() != 2 * KeyBox::kKeyBytes) return bytes;
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const auto digit = [](char c) {
            if (c >= '0' && c <= '9') return c - '0';
            if (c >= 'a' && c <= 'f') return c - 'a' + 10;
            return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        };
        const int high = digit(text[i]);
        const int low = digit(text[i + 1]);
        if (high < 0 || low < 0) return {};
        bytes += static_cast<char>(high * 16 + low);
    }
    return bytes;
}

}  // namespace

std::string parse_store_key(std::string_view text) {
    std::string bytes = parse_hex(text);
    if (bytes.empty()) bytes = parse_base64(text).value_or(std::string());
    if (bytes.size() == KeyBox::kKeyBytes) return bytes;
    throw Error(
        ErrorCode::InvalidArgument,
        "The key is not the base64 (44 characters) or the hexadecimal digits (64) of 32 random "
        "bytes; `openssl rand -base64 32` makes one."
    );
}

KeyBox::KeyBox(std::string key, const std::string& other) : key_id_(id_of(key)) {
    if (!other.empty()) keys_[id_of(other)] = other;
    keys_[key_id_] = std::move(key);
}

std::string KeyBox::seal(std::string_view secret, std::string_view place) const {
    const std::string nonce = secret_bytes(kNonceBytes);
    const std::string text = encrypt(keys_.find(key_id_)->second, nonce, secret, place);
    return fmt::format("{}{}:{}", kPrefix, key_id_, base64(nonce + text));
}

bool KeyBox::is_current(std::string_view sealed) const {
    return sealed.starts_with(fmt::format("{}{}:", kPrefix, key_id_));
}

std::string KeyBox::open(std::string_view sealed, std::string_view place) const {
    const std::size_t begin = kPrefix.size() + kIdDigits + 1;
    if (!sealed.starts_with(kPrefix) || sealed.size() <= begin || sealed[begin - 1] != ':') {
        throw Error(
            ErrorCode::CorruptState, fmt::format("The secret of the {} cannot be read.", place)
        );
    }
    const auto key = keys_.find(sealed.substr(kPrefix.size(), kIdDigits));
    if (key == keys_.end()) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "The secret of the {} was encrypted with another key. Give that one as the old key "
                "(EBB_OLD_KEY, `ebb serve --old-key`), so that it is encrypted again.",
                place
            )
        );
    }
    const auto bytes = parse_base64(sealed.substr(begin));
    if (bytes && bytes->size() >= kNonceBytes + kTagBytes) {
        const std::string_view all = *bytes;
        auto text =
            decrypt(key->second, all.substr(0, kNonceBytes), all.substr(kNonceBytes), place);
        if (text) return std::move(*text);
    }
    throw Error(
        ErrorCode::CorruptState,
        fmt::format("The encrypted secret of the {} was changed after it was written.", place)
    );
}

}  // namespace ebb::server
