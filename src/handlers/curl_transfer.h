#pragma once

// Makes CURL and CURLM types of their own instead of void.
#define CURL_STRICTER
#include <array>
#include <cstddef>
#include <memory>

#include <curl/curl.h>

#include "handlers/http_client.h"

// What is the same for every HTTP request by libcurl, with or without a thread that waits for it.

namespace ebb::curl {

struct Deleter {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }

    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }

    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

using EasyHandle = std::unique_ptr<CURL, Deleter>;
using MultiHandle = std::unique_ptr<CURLM, Deleter>;
using HeaderList = std::unique_ptr<curl_slist, Deleter>;

/// Call it before anything else. Thread-safe.
void initialize();

/// One request by a handle. The handle, the request and this object must stay where they are until
/// libcurl is done with the request.
class Transfer {
 public:
    Transfer(CURL* easy, const HttpRequest& request);
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    /// The response, if `code` says that there is one. Throws HttpError.
    HttpResponse take_response(CURLcode code);

    /// What libcurl writes into.
    struct Incoming {
        HttpResponse response;
        std::size_t body_bytes_max = 0;
        bool is_too_large = false;
        /// HttpRequest::may_reach
        const std::function<bool(const std::string&)>* may_reach = nullptr;
        std::string refused{};  ///< the address that was
        std::array<char, CURL_ERROR_SIZE> error{};
    };

 private:
    CURL* easy_;
    HeaderList headers_;
    Incoming incoming_;
};

}  // namespace ebb::curl
