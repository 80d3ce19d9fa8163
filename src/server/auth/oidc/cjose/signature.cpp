// Signatures, checked by libcjose. The only file that knows it.

#include <memory>

#include <cjose/cjose.h>

#include "server/auth/oidc/jws.h"

namespace ebb::server::oidc {

namespace {

struct CjoseDeleter {
    void operator()(cjose_jwk_t* key) const { cjose_jwk_release(key); }

    void operator()(cjose_jws_t* jws) const { cjose_jws_release(jws); }
};

using Key = std::unique_ptr<cjose_jwk_t, CjoseDeleter>;
using Jws = std::unique_ptr<cjose_jws_t, CjoseDeleter>;

}  // namespace

bool can_verify() {
    return true;
}

std::optional<std::string> verify_signature(const SignedToken& token, const std::string& key) {
    cjose_err error{};
    const Key public_key(cjose_jwk_import(key.data(), key.size(), &error));
    const Jws jws(cjose_jws_import(token.compact.data(), token.compact.size(), &error));
    if (!public_key || !jws) return std::nullopt;
    // The library reads the header again: it must find the algorithm that the key was chosen for.
    const char* algorithm =
        cjose_header_get(cjose_jws_get_protected(jws.get()), CJOSE_HDR_ALG, &error);
    if (algorithm == nullptr || token.algorithm != algorithm) return std::nullopt;
    if (!cjose_jws_verify(jws.get(), public_key.get(), &error)) return std::nullopt;
    std::uint8_t* text = nullptr;
    std::size_t size = 0;
    if (!cjose_jws_get_plaintext(jws.get(), &text, &size, &error)) return std::nullopt;
    // The bytes belong to the token.
    return std::string(reinterpret_cast<const char*>(text), size);
}

}  // namespace ebb::server::oidc
