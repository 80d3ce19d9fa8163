#include "server/live/sse.h"

#include <fmt/format.h>

namespace ebb::server {

std::string format_sse(const SseEvent& event) {
    std::string text = fmt::format("event: {}\n", event.event);
    if (!event.id.empty()) text += fmt::format("id: {}\n", event.id);
    // A JSON text may have line feeds between its tokens; each line of data needs its own prefix.
    std::string_view data = event.data;
    while (true) {
        const std::size_t end = std::min(data.find_first_of("\r\n"), data.size());
        text += "data: ";
        text += data.substr(0, end);
        text += '\n';
        if (end == data.size()) break;
        const bool is_pair = data.substr(end, 2) == "\r\n";
        data.remove_prefix(end + (is_pair ? 2 : 1));
    }
    text += '\n';
    return text;
}

std::shared_ptr<http::Stream> open_stream(const http::Responder& respond) {
    http::Response head;
    head.set("Content-Type", "text/event-stream");
    head.set("Cache-Control", "no-store");
    head.set("X-Accel-Buffering", "no");
    auto stream = respond.stream(std::move(head));
    stream->send("retry: 2000\n\n");
    return stream;
}

bool StreamLogin::holds(TimePoint now) {
    constexpr Duration kEvery = std::chrono::seconds(1);
    if (checked_at_ != TimePoint{} && now >= checked_at_ && now - checked_at_ < kEvery) return true;
    checked_at_ = now;
    return access_.current(principal_) == principal_;
}

bool SseWriter::keep_alive(TimePoint now) {
    if (last_ping_ == TimePoint{}) last_ping_ = now;
    if (now - last_ping_ < kPing) return true;
    last_ping_ = now;
    return stream_->send(": ping\n\n");
}

bool SseWriter::lag() {
    // There is no room for more than what is waiting to be written; the end itself needs none.
    stream_->send("event: lagged\ndata: {}\n\n");
    return finish();
}

bool SseWriter::finish() {
    stream_->close();
    return false;
}

}  // namespace ebb::server
