#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "server/api/service.h"
#include "server/http/http.h"

// Server-sent events.

namespace ebb::server {

struct SseEvent {
    std::string_view event;
    std::string_view id{};
    std::string_view data{};  ///< JSON text
};

/// One event as it stands in the stream.
std::string format_sse(const SseEvent& event);

/// Begins the response and sends how soon a client may connect again.
std::shared_ptr<http::Stream> open_stream(const http::Responder& respond);

/// Writes events and keeps the connection alive.
class SseWriter {
 public:
    static constexpr Duration kPing = std::chrono::seconds(15);

    explicit SseWriter(std::shared_ptr<http::Stream> stream) : stream_(std::move(stream)) {}

    /// False: the stream is closed, or the client is too slow.
    bool send(const SseEvent& event) { return send_text(format_sse(event)); }

    /// The same with events that are already formatted.
    bool send_text(std::string text) { return stream_->send(std::move(text)); }

    bool is_closed() const { return stream_->is_closed(); }

    /// A comment now and then, so that proxies do not take the stream for dead.
    bool keep_alive(TimePoint now);
    /// Tells the client that it was too slow, and ends. Always false.
    bool lag();
    /// Ends the stream. Always false.
    bool finish();

 private:
    std::shared_ptr<http::Stream> stream_;
    TimePoint last_ping_{};
};

/// Whose stream it is.
class StreamLogin {
 public:
    StreamLogin(Access& access, Principal principal)
        : access_(access), principal_(std::move(principal)) {}

    const Principal& principal() const { return principal_; }

    /// False: the login is over, or its grants have changed, so the client begins again. Looks at
    /// most once a second.
    bool holds(TimePoint now);

 private:
    Access& access_;
    const Principal principal_;
    TimePoint checked_at_{};
};

void add_topic_routes(Routes& routes, Service& service);

}  // namespace ebb::server
