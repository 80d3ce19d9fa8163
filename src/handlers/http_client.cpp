#include "handlers/http_client.h"

// Makes CURL and CURLM types of their own instead of void.
#define CURL_STRICTER
#include <algorithm>
#include <array>
#include <mutex>

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include "handlers/header.h"
#include "handlers/public_address.h"
#include "support/sync.h"

// The only file that knows libcurl.

namespace ebb {

namespace {

struct CurlDeleter {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }

    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }

    void operator()(curl_slist* list) const { curl_slist_free_all(list); }

    void operator()(CURLU* url) const { curl_url_cleanup(url); }

    void operator()(char* text) const { curl_free(text); }
};

using UrlHandle = std::unique_ptr<CURLU, CurlDeleter>;
using HeaderList = std::unique_ptr<curl_slist, CurlDeleter>;

std::string url_part(const UrlHandle& url, CURLUPart part, unsigned flags = 0) {
    char* text = nullptr;
    if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK) return {};
    const std::unique_ptr<char, CurlDeleter> owner(text);
    return text;
}

/// Null if `text` is not a URL.
UrlHandle open_url(const std::string& text) {
    UrlHandle url(curl_url());
    constexpr unsigned kFlags = CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS;
    if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), kFlags) != CURLUE_OK) url.reset();
    return url;
}

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

/// What libcurl writes into while a request runs.
struct Transfer {
    HttpResponse response;
    std::size_t body_bytes_max = 0;
    bool is_too_large = false;
    bool is_refused = false;  // an address was
    std::array<char, CURL_ERROR_SIZE> error{};
};

// C calls these, so nothing may leave them; a short count tells libcurl to give up.

std::size_t take_body(const char* data, std::size_t size, std::size_t count, void* to) noexcept {
    auto& transfer = *static_cast<Transfer*>(to);
    const std::size_t bytes = size * count;
    if (bytes > transfer.body_bytes_max - transfer.response.body.size()) {
        transfer.is_too_large = true;
        return 0;
    }
    try {
        transfer.response.body.append(data, bytes);
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
        add_header(static_cast<Transfer*>(to)->response, {data, size * count});
        return size * count;
    } catch (const std::exception&) {
        return 0;
    }
}

/// Sees the address that is really connected to, so a name that resolves differently the second
/// time gets nowhere.
curl_socket_t open_public(void* to, curlsocktype /*purpose*/, curl_sockaddr* address) noexcept {
    if (!is_public_address(&address->addr)) {
        static_cast<Transfer*>(to)->is_refused = true;
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
    CURL* easy, const HttpRequest& request, const HeaderList& headers, Transfer& transfer
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
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer.error.data());
    if (request.is_public_only) {
        curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &open_public);
        curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &transfer);
    }
    set_body(easy, request);
    set_tls(easy, request);
}

void initialise_libcurl() {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

}  // namespace

/// A handle with its open connections. One request at a time.
class HttpClient::Connection {
 public:
    Connection() : multi_(curl_multi_init()), easy_(curl_easy_init()) {
        if (!multi_ || !easy_)
            throw HttpError(HttpError::Kind::ConnectionFailed, "no memory is left");
    }

    HttpResponse perform(const HttpRequest& request) {
        Transfer transfer;
        transfer.body_bytes_max = request.response_bytes_max;
        const HeaderList headers = make_headers(request);
        set_options(easy_.get(), request, headers, transfer);
        const CURLcode code = run(request.stop);
        if (transfer.is_too_large) {
            throw HttpError(
                HttpError::Kind::ResponseTooLarge,
                fmt::format(
                    "the response has more than the {} bytes that max_response allows",
                    request.response_bytes_max
                )
            );
        }
        if (code == CURLE_ABORTED_BY_CALLBACK) {
            throw HttpError(HttpError::Kind::Stopped, "the step was stopped");
        }
        if (code != CURLE_OK && transfer.is_refused) {
            throw HttpError(
                HttpError::Kind::AddressRefused, "the host has a private or reserved address", false
            );
        }
        if (code != CURLE_OK) {
            const std::string_view details = transfer.error.data();
            throw HttpError(
                kind_of(code),
                std::string(details.empty() ? curl_easy_strerror(code) : details),
                was_connected(code)
            );
        }
        long status = 0;
        curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
        transfer.response.status = static_cast<int>(status);
        curl_off_t elapsed = 0;
        curl_easy_getinfo(easy_.get(), CURLINFO_TOTAL_TIME_T, &elapsed);
        transfer.response.elapsed = Duration(elapsed);
        return std::move(transfer.response);
    }

 private:
    /// The transfer is inside the multi handle while this lives.
    class Attachment {
     public:
        Attachment(CURLM* multi, CURL* easy) : multi_(multi), easy_(easy) {
            curl_multi_add_handle(multi_, easy_);
        }

        Attachment(const Attachment&) = delete;
        Attachment& operator=(const Attachment&) = delete;

        ~Attachment() { curl_multi_remove_handle(multi_, easy_); }

     private:
        CURLM* multi_;
        CURL* easy_;
    };

    CURLcode run(const std::stop_token& stop) {
        const Attachment attachment(multi_.get(), easy_.get());
        const std::stop_callback wake(stop, [this]() noexcept { curl_multi_wakeup(multi_.get()); });
        constexpr int kPollMillisecondsMax = 60'000;
        int running = 1;
        while (!stop.stop_requested()) {
            if (curl_multi_perform(multi_.get(), &running) != CURLM_OK) return CURLE_FAILED_INIT;
            if (running == 0) return result();
            curl_multi_poll(multi_.get(), nullptr, 0, kPollMillisecondsMax, nullptr);
        }
        return CURLE_ABORTED_BY_CALLBACK;
    }

    CURLcode result() {
        int left = 0;
        while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
            if (message->msg == CURLMSG_DONE) return message->data.result;
        }
        return CURLE_FAILED_INIT;
    }

    std::unique_ptr<CURLM, CurlDeleter> multi_;
    std::unique_ptr<CURL, CurlDeleter> easy_;
};

class HttpClient::Pool {
 public:
    std::unique_ptr<Connection> take() {
        const Lock lock(mutex_);
        if (free_.empty()) return nullptr;
        auto connection = std::move(free_.back());
        free_.pop_back();
        return connection;
    }

    void give_back(std::unique_ptr<Connection> connection) {
        constexpr std::size_t kFreeMax = 16;
        const Lock lock(mutex_);
        if (free_.size() < kFreeMax) free_.push_back(std::move(connection));
    }

 private:
    Mutex mutex_;
    std::vector<std::unique_ptr<Connection>> free_ EBB_GUARDED_BY(mutex_);
};

HttpClient::HttpClient() {
    initialise_libcurl();
    pool_ = std::make_unique<Pool>();
}

HttpClient::~HttpClient() = default;

HttpResponse HttpClient::perform(const HttpRequest& request) {
    std::unique_ptr<Connection> connection = pool_->take();
    if (!connection) connection = std::make_unique<Connection>();
    HttpResponse response = connection->perform(request);
    // After an error the handle is dropped with its connections: whatever went wrong does not reach
    // the next request.
    pool_->give_back(std::move(connection));
    return response;
}

std::optional<UrlParts> parse_url(const std::string& url) {
    const UrlHandle handle = open_url(url);
    if (!handle) return std::nullopt;
    return UrlParts{
        .scheme = to_lower(url_part(handle, CURLUPART_SCHEME)),
        .host = to_lower(url_part(handle, CURLUPART_HOST)),
        .port = url_part(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT),
        .path = url_part(handle, CURLUPART_PATH),
    };
}

std::optional<std::string> resolve_url(const std::string& base, const std::string& location) {
    const UrlHandle handle = open_url(base);
    if (!handle) return std::nullopt;
    const CURLUcode code =
        curl_url_set(handle.get(), CURLUPART_URL, location.c_str(), CURLU_NON_SUPPORT_SCHEME);
    if (code != CURLUE_OK) return std::nullopt;
    return url_part(handle, CURLUPART_URL);
}

std::string public_url(const std::string& url) {
    const UrlHandle handle = open_url(url);
    if (!handle) return "(an invalid URL)";
    for (const CURLUPart part :
         {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS, CURLUPART_QUERY, CURLUPART_FRAGMENT
         }) {
        curl_url_set(handle.get(), part, nullptr, 0);
    }
    return url_part(handle, CURLUPART_URL);
}

}  // namespace ebb
