// A build without libcjose: no token is valid.

#include "server/auth/oidc/jws.h"

namespace ebb::server::oidc {

bool can_verify() {
    return false;
}

std::optional<std::string> verify_signature(
    const SignedToken& /*token*/, const std::string& /*key*/
) {
    return std::nullopt;
}

}  // namespace ebb::server::oidc
