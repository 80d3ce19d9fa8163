#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/http.h"

namespace ebb::server {

/// What is not the API: the UI's files and its page, and the pages about problems. `base_path` has
/// a slash at both ends. Throws Problem.
http::Response page_response(
    const http::Request& request, std::string_view path, const std::string& base_path
);

/// Hands an answer on that comes later, from any thread.
class Relay : public http::Responder::Sink {
 public:
    /// A stream keeps `kept` for as long as it lives, and its head gets `stream_headers`.
    Relay(
        std::function<void(http::Response)> send,
        http::Responder respond,
        std::shared_ptr<const void> kept,
        std::vector<http::Header> stream_headers = {}
    )
        : send_(std::move(send)),
          respond_(std::move(respond)),
          kept_(std::move(kept)),
          stream_headers_(std::move(stream_headers)) {}

    void respond(http::Response response) override { send_(std::move(response)); }

    std::shared_ptr<http::Stream> stream(http::Response head) override;

    bool is_gone() const override { return respond_.is_gone(); }

 private:
    std::function<void(http::Response)> send_;
    http::Responder respond_;
    std::shared_ptr<const void> kept_;
    std::vector<http::Header> stream_headers_;
};

}  // namespace ebb::server
