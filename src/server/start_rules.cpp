#include "server/start_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include <ebb/error.h>

#include "server/http/listening.h"

namespace ebb::server {

void check_start_rules(const ServerOptions& options, const std::vector<http::Endpoint>& endpoints) {
    if (options.tls_certificate.empty() != options.tls_key.empty()) {
        throw Error(
            ErrorCode::InvalidArgument,
            "TLS needs both a certificate and a key (--tls-cert, --tls-key)."
        );
    }
    if (!options.tls_client_ca.empty() && options.tls_certificate.empty()) {
        throw Error(
            ErrorCode::InvalidArgument,
            "Client certificates need TLS: give --tls-cert and --tls-key with --tls-client-ca."
        );
    }
    const auto open = std::find_if(endpoints.begin(), endpoints.end(), [](const auto& endpoint) {
        return !endpoint.is_local();
    });
    if (open == endpoints.end()) return;
    if (open->kind == http::Endpoint::Kind::Descriptor && !http::is_socket(open->descriptor)) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "fd:{} is not a socket: the service manager passes no such socket.",
                open->descriptor
            )
        );
    }
    const std::string where = open->name();
    if (!options.needs_login) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "{} can be reached from other machines, and there is no login: --no-auth is only "
                "for loopback addresses and Unix sockets.",
                where
            )
        );
    }
    const bool is_protected = !options.tls_certificate.empty() || !options.behind_proxy.empty() ||
                              options.allows_plaintext;
    if (is_protected) return;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "{} can be reached from other machines without encryption. Give a certificate "
            "(--tls-cert and --tls-key), or name the proxy that encrypts (--behind-proxy CIDR), or "
            "say that plain text is what you want (--insecure-plaintext).",
            where
        )
    );
}

}  // namespace ebb::server
