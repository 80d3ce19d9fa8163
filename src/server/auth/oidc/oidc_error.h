#pragma once

#include <stdexcept>
#include <string>

namespace ebb::server::oidc {

/// A login by an OpenID provider, or a token of one, that did not succeed. `what()` is a whole
/// sentence for the person, and has no secret.
class OidcError : public std::runtime_error {
 public:
    enum class Kind {
        Unavailable,  ///< the provider does not answer as it should; trying again may help
        Denied,       ///< the provider says no
        Invalid,      ///< what came is not valid: a token, a state, a claim
    };

    OidcError(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

    Kind kind() const { return kind_; }

 private:
    Kind kind_;
};

/// Throws OidcError with Invalid.
[[noreturn]] void refuse(const std::string& message);

}  // namespace ebb::server::oidc
