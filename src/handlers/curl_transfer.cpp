#include "handlers/curl_transfer.h"

#include <algorithm>
#include <mutex>
#include <string_view>

#include <fmt/format.h>
#include <sys/socket.h>

#include "handlers/header.h"
#include "handlers/public_address.h"

namespace ebb::curl {

namespace {

using Incoming = Transfer::Incoming;

HttpError::Kind kind_of(CURLcode code) {
    switch (code) {
        case CURLE_URL_MALFORMAT:
            return HttpError::Kind::InvalidUrl;
        case CURLE_OPERATION_TIMEDOUT:
            return HttpError::Kind::TimedOut;
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_SSL_CIPHER:
        case CURLE_SSL_ISSUER_ERROR:
        case CURLE_SSL_INVALIDCERTSTATUS:
            return HttpError::Kind::TlsFailed;
        case CURLE_SSL_CERTPROBLEM:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_CRL_BADFILE:
            return HttpError::Kind::InvalidFile;
        case CURLE_BAD_CONTENT_ENCODING:
            return HttpError::Kind::InvalidResponse;
        case CURLE_NOT_BUILT_IN:
        case CURLE_BAD_FUNCTION_ARGUMENT:
        case CURLE_UNKNOWN_OPTION:
        case CURLE_SSL_ENGINE_NOTFOUND:
            return HttpError::Kind::Unsupported;
        default:
            return HttpError::Kind::ConnectionFailed;
    }
}

bool was_connected(CURLcode code) {
    return code != CURLE_COULDNT_CONNECT && code != CURLE_COULDNT_RESOLVE_HOST &&
           code != CURLE_COULDNT_RESOLVE_PROXY;
}

// C calls these, so nothing may leave them; a short count tells libcurl to give up.

std::size_t take_body(const char* data, std::size_t size, std::size_t count, void* to) noexcept {
    auto& incoming = *static_cast<Incoming*>(to);
    const std::size_t bytes = size * count;
    if (bytes > incoming.body_bytes_max - incoming.response.body.size()) {
        incoming.is_too_large = true;
        return 0;
    }
    try {
        incoming.response.body.append(data, bytes);
        return bytes;
    } catch (const std::exception&) {
        return 0;
    }
}

void add_header(HttpResponse& response, std::string_view line) {
    // Every response begins with a status line, also the 100s before the real one.
    if (line.starts_with("HTTP/")) response.headers.clear();
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::string_view value = line.substr(colon + 1);
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
    value = value.substr(0, value.find_last_not_of(" \t\r\n") + 1);
    response.headers[to_lower(line.substr(0, colon))] = value;
}

std::size_t take_header(const char* data, std::size_t size, std::size_t count, void* to) noexcept {
    try {
        add_header(static_cast<Incoming*>(to)->response, {data, size * count});
        return size * count;
    } catch (const std::exception&) {
        return 0;
    }
}

/// Sees the address that is really connected to, so a name that resolves differently the second
/// time gets nowhere.
curl_socket_t open_public(void* to, curlsocktype /*purpose*/, curl_sockaddr* address) noexcept {
    try {
        auto& incoming = *static_cast<Incoming*>(to);
        const std::string text = address_text(&address->addr);
        const bool is_reached = is_public_address(&address->addr) ||
                                (*incoming.may_reach && (*incoming.may_reach)(text));
        if (!is_reached) {
            incoming.refused = text;
            return CURL_SOCKET_BAD;
        }
    } catch (const std::exception&) {
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

long milliseconds(Duration duration) {
    return static_cast<long>(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

HeaderList make_headers(const HttpRequest& request) {
    curl_slist* list = nullptr;
    // libcurl would wait up to a second for leave to send a large body.
    list = curl_slist_append(list, "Expect:");
    for (const auto& [name, value] : request.headers) {
        const std::string line = value.empty() ? name + ';' : name + ": " + value;
        list = curl_slist_append(list, line.c_str());
    }
    return HeaderList(list);
}

void set_tls(CURL* easy, const HttpRequest& request) {
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (!request.ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, request.ca_file.c_str());
    if (!request.client_cert.empty()) {
        curl_easy_setopt(easy, CURLOPT_SSLCERT, request.client_cert.c_str());
    }
    if (!request.client_key.empty()) {
        curl_easy_setopt(easy, CURLOPT_SSLKEY, request.client_key.c_str());
    }
}

void set_body(CURL* easy, const HttpRequest& request) {
    if (request.method == "HEAD") curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    if (request.body) {
        curl_easy_setopt(
            easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body->size())
        );
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body->data());
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void set_options(
    CURL* easy, const HttpRequest& request, const HeaderList& headers, Incoming& incoming
) {
    curl_easy_reset(easy);
    curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, request.proxy.c_str());
    if (!request.unix_socket.empty()) {
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, request.unix_socket.c_str());
    }
    curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "ebb");
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, milliseconds(request.timeout));
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(request.connect_timeout));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &incoming);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &incoming);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, incoming.error.data());
    if (request.is_public_only) {
        incoming.may_reach = &request.may_reach;
        curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &open_public);
        curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &incoming);
    }
    set_body(easy, request);
    set_tls(easy, request);
}

}  // namespace

void initialize() {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

Transfer::Transfer(CURL* easy, const HttpRequest& request)
    : easy_(easy), headers_(make_headers(request)) {
    incoming_.body_bytes_max = request.response_bytes_max;
    set_options(easy, request, headers_, incoming_);
}

HttpResponse Transfer::take_response(CURLcode code) {
    if (incoming_.is_too_large) {
        throw HttpError(
            HttpError::Kind::ResponseTooLarge,
            fmt::format(
                "the response has more than the {} bytes that max_response allows",
                incoming_.body_bytes_max
            )
        );
    }
    if (code == CURLE_ABORTED_BY_CALLBACK) {
        throw HttpError(HttpError::Kind::Stopped, "the step was stopped");
    }
    if (code != CURLE_OK && !incoming_.refused.empty()) {
        throw HttpError(
            HttpError::Kind::AddressRefused,
            fmt::format("the host has the private or reserved address {}", incoming_.refused),
            false
        );
    }
    if (code != CURLE_OK) {
        const std::string_view details = incoming_.error.data();
        throw HttpError(
            kind_of(code),
            std::string(details.empty() ? curl_easy_strerror(code) : details),
            was_connected(code)
        );
    }
    long status = 0;
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    incoming_.response.status = static_cast<int>(status);
    curl_off_t elapsed = 0;
    curl_easy_getinfo(easy_, CURLINFO_TOTAL_TIME_T, &elapsed);
    incoming_.response.elapsed = Duration(elapsed);
    return std::move(incoming_.response);
}

}  // namespace ebb::curl
