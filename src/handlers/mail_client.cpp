#include "handlers/mail_client.h"

// Makes CURL a type of its own instead of void.
#define CURL_STRICTER
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string_view>

#include <curl/curl.h>

#include "handlers/http_client.h"

// The only file that knows libcurl's mail.

namespace ebb {

namespace {

struct CurlDeleter {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }

    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

struct Reading {
    std::string_view rest;
};

// C calls these, so nothing may leave them.

std::size_t give_text(char* to, std::size_t size, std::size_t count, void* from) noexcept {
    auto& reading = *static_cast<Reading*>(from);
    const std::size_t bytes = std::min(size * count, reading.rest.size());
    std::memcpy(to, reading.rest.data(), bytes);
    reading.rest.remove_prefix(bytes);
    return bytes;
}

int look_at_stop(void* stop, curl_off_t, curl_off_t, curl_off_t, curl_off_t) noexcept {
    return static_cast<const std::stop_token*>(stop)->stop_requested() ? 1 : 0;
}

bool is_this_machine(const std::string& host) {
    return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

void set_server(CURL* easy, const MailServer& server) {
    curl_easy_setopt(easy, CURLOPT_URL, server.url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    const auto url = parse_url(server.url);
    const bool is_plain = url && url->scheme == "smtp" && is_this_machine(url->host);
    const auto tls = is_plain ? CURLUSESSL_NONE : CURLUSESSL_ALL;
    curl_easy_setopt(easy, CURLOPT_USE_SSL, static_cast<long>(tls));
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (!server.ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, server.ca_file.c_str());
    if (!server.user.empty()) {
        curl_easy_setopt(easy, CURLOPT_USERNAME, server.user.c_str());
        curl_easy_setopt(easy, CURLOPT_PASSWORD, server.password.c_str());
    }
    const auto limit = std::chrono::ceil<std::chrono::milliseconds>(server.timeout).count();
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(limit));
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limit));
}

std::string bracketed(const std::string& address) {
    return "<" + address + ">";
}

}  // namespace

bool is_mail_url(const std::string& url) {
    const auto parts = parse_url(url);
    return parts && (parts->scheme == "smtp" || parts->scheme == "smtps") && !parts->host.empty();
}

void send_mail(const MailServer& server, const Email& mail, const std::stop_token& stop) {
    // Its constructor prepares libcurl.
    const HttpClient initialised;
    const std::unique_ptr<CURL, CurlDeleter> easy(curl_easy_init());
    if (!easy) throw MailError(MailError::Kind::Failed, "no memory is left");
    std::array<char, CURL_ERROR_SIZE> error{};
    Reading reading{mail.text};
    curl_slist* list = nullptr;
    for (const std::string& to : mail.to) list = curl_slist_append(list, bracketed(to).c_str());
    const std::unique_ptr<curl_slist, CurlDeleter> recipients(list);
    set_server(easy.get(), server);
    curl_easy_setopt(easy.get(), CURLOPT_ERRORBUFFER, error.data());
    curl_easy_setopt(easy.get(), CURLOPT_MAIL_FROM, bracketed(mail.from).c_str());
    curl_easy_setopt(easy.get(), CURLOPT_MAIL_RCPT, recipients.get());
    curl_easy_setopt(easy.get(), CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy.get(), CURLOPT_READFUNCTION, &give_text);
    curl_easy_setopt(easy.get(), CURLOPT_READDATA, &reading);
    curl_easy_setopt(easy.get(), CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy.get(), CURLOPT_XFERINFOFUNCTION, &look_at_stop);
    std::stop_token token = stop;
    curl_easy_setopt(easy.get(), CURLOPT_XFERINFODATA, &token);
    const CURLcode code = curl_easy_perform(easy.get());
    if (code == CURLE_OK) return;
    if (code == CURLE_ABORTED_BY_CALLBACK) {
        throw MailError(MailError::Kind::Stopped, "the step was stopped");
    }
    long status = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
    const std::string_view details = error.data();
    constexpr long kRefusedMin = 550;  // below it are answers about the login and the syntax
    throw MailError(
        status >= kRefusedMin && status < 600 ? MailError::Kind::Refused : MailError::Kind::Failed,
        std::string(details.empty() ? curl_easy_strerror(code) : details)
    );
}

}  // namespace ebb
