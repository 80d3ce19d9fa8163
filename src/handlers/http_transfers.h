#pragma once

#include <exception>
#include <functional>
#include <memory>

#include "handlers/http_client.h"

namespace ebb {

/// Makes HTTP requests as HttpClient does, all of them in one thread, which begins with the first
/// request: no thread waits for an answer. Keeps connections open for the next requests.
/// Thread-safe.
class HttpTransfers {
 public:
    /// How a request has ended: with a response, unless `error` is an HttpError.
    using Done = std::function<void(HttpResponse response, const std::exception_ptr& error)>;

    HttpTransfers();
    /// Stops what is under way.
    ~HttpTransfers();
    HttpTransfers(const HttpTransfers&) = delete;
    HttpTransfers& operator=(const HttpTransfers&) = delete;

    /// Begins a request and returns. `done` is called once, by the thread of the transfers: while
    /// it works, all other requests wait. It throws nothing.
    void begin(HttpRequest request, Done done);

 private:
    class Loop;

    std::unique_ptr<Loop> loop_;
};

}  // namespace ebb
