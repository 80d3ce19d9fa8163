#include <algorithm>
#include <ctime>
#include <memory>
#include <string_view>

#include <boost/asio/ssl/context.hpp>
#include <fmt/format.h>
#include <openssl/asn1.h>
#include <openssl/x509v3.h>

#include <ebb/error.h>

#include "server/http/connection.h"

namespace ebb::http {

namespace {

using Names = std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

constexpr std::size_t kNameBytesMax = 250;

/// Empty for a name that is not of this kind, and for one that is too long or has bytes that are
/// not printable ASCII.
std::string_view text_of(const GENERAL_NAME& name, int kind) {
    if (name.type != kind) return {};
    // The three kinds are stored alike.
    const ASN1_STRING* text = name.d.ia5;
    const std::string_view bytes(
        reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
        static_cast<std::size_t>(ASN1_STRING_length(text))
    );
    const bool is_shown =
        bytes.size() <= kNameBytesMax &&
        std::all_of(bytes.begin(), bytes.end(), [](char c) { return c > 0x20 && c < 0x7f; });
    return is_shown ? bytes : std::string_view();
}

std::string name_of(const X509& certificate) {
    const Names names(
        static_cast<GENERAL_NAMES*>(
            X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)
        ),
        &GENERAL_NAMES_free
    );
    if (!names) return {};
    for (const int kind : {GEN_URI, GEN_DNS, GEN_EMAIL}) {
        for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
            const std::string_view text = text_of(*sk_GENERAL_NAME_value(names.get(), i), kind);
            if (!text.empty()) return std::string(text);
        }
    }
    return {};
}

/// The epoch if it cannot be read.
std::chrono::system_clock::time_point end_of(const X509& certificate) {
    std::tm end{};
    if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &end) != 1) return {};
    return std::chrono::system_clock::from_time_t(timegm(&end));
}

/// Clients may present a certificate. One that is not valid ends the handshake.
void ask_for_certificates(SSL_CTX& context, const std::string& authorities) {
    STACK_OF(X509_NAME)* names = SSL_load_client_CA_file(authorities.c_str());
    if (names == nullptr ||
        SSL_CTX_load_verify_locations(&context, authorities.c_str(), nullptr) != 1) {
        sk_X509_NAME_pop_free(names, X509_NAME_free);
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "The TLS file \"{}\" cannot be used: it has no certificates of authorities in PEM.",
                authorities
            )
        );
    }
    SSL_CTX_set_client_CA_list(&context, names);
    SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, nullptr);
    // A session that is resumed is not verified again: with client certificates there are none.
    SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(&context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(&context, 0);
}

}  // namespace

std::shared_ptr<const ClientCertificate> client_certificate(const SSL& connection) {
    const Certificate certificate(SSL_get1_peer_certificate(&connection), &X509_free);
    if (!certificate || SSL_get_verify_result(&connection) != X509_V_OK) return nullptr;
    auto found = std::make_shared<ClientCertificate>();
    found->name = name_of(*certificate);
    found->expires_at = end_of(*certificate);
    return found;
}

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
    if (!files.client_ca.empty()) {
        ask_for_certificates(*context->native_handle(), files.client_ca);
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

std::chrono::system_clock::time_point expiry_of(boost::asio::ssl::context& tls) {
    const X509* certificate = SSL_CTX_get0_certificate(tls.native_handle());
    return certificate == nullptr ? std::chrono::system_clock::time_point() : end_of(*certificate);
}

}  // namespace ebb::http
