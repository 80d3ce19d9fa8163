#include <boost/asio/ssl/context.hpp>
#include <fmt/format.h>

#include <ebb/error.h>

#include "server/http/connection.h"

namespace ebb::http {

std::shared_ptr<boost::asio::ssl::context> make_tls_context(const TlsFiles& files) {
    namespace ssl = boost::asio::ssl;
    auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
    const auto check = [&](const boost::system::error_code& error, const std::string& file) {
        if (!error) return;
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("The TLS file \"{}\" cannot be used: {}.", file, error.message())
        );
    };
    boost::system::error_code error;
    context->set_options(
        ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3 |
        ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1 | ssl::context::single_dh_use
    );
    SSL_CTX_set_min_proto_version(
        context->native_handle(), files.is_tls13_only ? TLS1_3_VERSION : TLS1_2_VERSION
    );
    // Our order of ciphers is OpenSSL's, the strongest first; a client may prefer a weak one.
    SSL_CTX_set_options(
        context->native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE
    );
    context->use_certificate_chain_file(files.certificate, error);
    check(error, files.certificate);
    context->use_private_key_file(files.key, ssl::context::pem, error);
    check(error, files.key);
    if (SSL_CTX_check_private_key(context->native_handle()) != 1) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "The key \"{}\" does not belong to the certificate \"{}\".",
                files.key,
                files.certificate
            )
        );
    }
    // Only HTTP/1.1 is spoken: a client that offers others agrees on this one.
    SSL_CTX_set_alpn_select_cb(
        context->native_handle(),
        [](SSL*,
           const unsigned char** out,
           unsigned char* out_size,
           const unsigned char* in,
           unsigned in_size,
           void*) {
            static constexpr unsigned char kHttp11[] = "\x08http/1.1";
            unsigned char* chosen = nullptr;
            const int result =
                SSL_select_next_proto(&chosen, out_size, kHttp11, sizeof(kHttp11) - 1, in, in_size);
            *out = chosen;
            return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
        },
        nullptr
    );
    return context;
}

}  // namespace ebb::http
