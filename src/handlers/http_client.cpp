#include "handlers/http_client.h"

#include "handlers/curl_transfer.h"
#include "handlers/header.h"
#include "support/sync.h"

namespace ebb {

namespace {

struct UrlDeleter {
    void operator()(CURLU* url) const { curl_url_cleanup(url); }

    void operator()(char* text) const { curl_free(text); }
};

using UrlHandle = std::unique_ptr<CURLU, UrlDeleter>;

std::string url_part(const UrlHandle& url, CURLUPart part, unsigned flags = 0) {
    char* text = nullptr;
    if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK) return {};
    const std::unique_ptr<char, UrlDeleter> owner(text);
    return text;
}

/// Null if `text` is not a URL.
UrlHandle open_url(const std::string& text) {
    UrlHandle url(curl_url());
    constexpr unsigned kFlags = CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS;
    if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), kFlags) != CURLUE_OK) url.reset();
    return url;
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
        curl::Transfer transfer(easy_.get(), request);
        return transfer.take_response(run(request.stop));
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

    curl::MultiHandle multi_;
    curl::EasyHandle easy_;
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
    curl::initialize();
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
