#include "server/auth/oidc/jws.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <ebb/error.h>

#include "server/auth/signature.h"
#include "support/json.h"

namespace ebb::server::oidc {

namespace {

constexpr std::array<std::string_view, 3> kAlgorithms{"RS256", "PS256", "ES256"};
constexpr int kDepthMax = 16;

Json parse_object(std::string_view text, const char* what) {
    Json json;
    try {
        json = parse_json(text, what, {kTokenBytesMax, kDepthMax});
    } catch (const Error&) {
        refuse(fmt::format("The {} of the token is not JSON.", what));
    }
    if (!json.is_object()) refuse(fmt::format("The {} of the token is not a JSON object.", what));
    return json;
}

std::string text_of(const Json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_string()) return {};
    return found->get<std::string>();
}

bool is_for_signatures(const Json& key) {
    if (key.contains("use") && text_of(key, "use") != "sig") return false;
    const auto operations = key.find("key_ops");
    if (operations == key.end()) return true;
    return operations->is_array() &&
           std::find(operations->begin(), operations->end(), Json("verify")) != operations->end();
}

/// The public members of a key of the token's algorithm; empty if it is another key.
std::optional<Json> public_key(const SignedToken& token, const Json& key) {
    if (!key.is_object() || !is_for_signatures(key)) return std::nullopt;
    if (key.contains("alg") && text_of(key, "alg") != token.algorithm) return std::nullopt;
    if (!token.key_id.empty() && text_of(key, "kid") != token.key_id) return std::nullopt;
    const std::string type = text_of(key, "kty");
    if (token.algorithm == "ES256") {
        if (type != "EC" || text_of(key, "crv") != "P-256") return std::nullopt;
        return Json{
            {"kty", type}, {"crv", "P-256"}, {"x", text_of(key, "x")}, {"y", text_of(key, "y")}
        };
    }
    if (type != "RSA") return std::nullopt;
    const auto modulus = parse_base64url(text_of(key, "n"));
    if (!modulus || modulus->size() < kRsaBytesMin || modulus->size() > kRsaBytesMax) {
        refuse(fmt::format(
            "The key of the token must have {} to {} bits.", 8 * kRsaBytesMin, 8 * kRsaBytesMax
        ));
    }
    return Json{{"kty", type}, {"n", text_of(key, "n")}, {"e", text_of(key, "e")}};
}

}  // namespace

void refuse(const std::string& message) {
    throw OidcError(OidcError::Kind::Invalid, message);
}

SignedToken read_token(std::string compact) {
    if (compact.size() > kTokenBytesMax) {
        refuse(fmt::format("The token has more than {} bytes.", kTokenBytesMax));
    }
    if (std::count(compact.begin(), compact.end(), '.') != 2) {
        refuse("The token does not have the three parts of a signed token.");
    }
    const auto head = parse_base64url(std::string_view(compact).substr(0, compact.find('.')));
    if (!head) refuse("The header of the token is not base64url.");
    const Json header = parse_object(*head, "header");
    if (header.contains("crit")) refuse("The token has an extension that is not known (crit).");
    SignedToken token{
        .compact = std::move(compact),
        .algorithm = text_of(header, "alg"),
        .key_id = text_of(header, "kid"),
    };
    if (std::find(kAlgorithms.begin(), kAlgorithms.end(), token.algorithm) == kAlgorithms.end()) {
        refuse(fmt::format(
            "The algorithm of the token is not one of {}.", fmt::join(kAlgorithms, ", ")
        ));
    }
    return token;
}

std::optional<Json> find_key(const SignedToken& token, const Json& key_set) {
    const auto keys = key_set.find("keys");
    if (keys == key_set.end() || !keys->is_array() || keys->size() > kKeysMax) {
        refuse(fmt::format("The keys of the provider are not a list of at most {}.", kKeysMax));
    }
    std::optional<Json> found;
    for (const Json& key : *keys) {
        auto fits = public_key(token, key);
        if (!fits) continue;
        if (found && token.key_id.empty())
            refuse("The token does not name its key, and several fit.");
        if (!found) found = std::move(fits);
    }
    return found;
}

Json verified_claims(const SignedToken& token, const Json& key) {
    const auto text = verify_signature(token, key.dump());
    if (!text) refuse("The signature of the token is not valid.");
    return parse_object(*text, "text");
}

}  // namespace ebb::server::oidc
