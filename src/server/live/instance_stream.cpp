// The live stream of one instance: its history as it grows.

#include <fmt/format.h>

#include "call/event_view.h"
#include "server/api/payloads.h"
#include "server/live/hub.h"
#include "server/live/sse.h"
#include "view/instance_json.h"

namespace ebb::server {

namespace {

constexpr std::int64_t kSeqMax = std::int64_t{1} << 53;

class InstanceStream : public Watcher {
 public:
    InstanceStream(
        Service& service,
        const Principal& principal,
        const InstanceId& id,
        std::int64_t after,
        PayloadView payloads,
        std::shared_ptr<http::Stream> stream
    )
        : login_(service.access, principal),
          id_(id),
          after_(after),
          payloads_(std::move(payloads)),
          shown_(fmt::format("{}|{}", id.to_string(), payloads_.key())),
          writer_(std::move(stream)) {}

    Interest interest() const override { return {.instances = {id_}}; }

    bool turn(TimePoint now, Feed& feed) override {
        if (writer_.is_closed()) return false;
        try {
            if (!login_.holds(now)) return writer_.finish();
            // First of all: what has ended now already has all its events.
            const std::optional<InstanceSummary> instance = feed.instance(id_);
            if (!instance) return writer_.finish();
            if (instance->revision != revision_ && !send_history(feed)) return writer_.lag();
            revision_ = instance->revision;
            if (instance->finished_at != TimePoint{}) {
                writer_.send({.event = "end", .data = view::summary_json(*instance).dump()});
                return writer_.finish();
            }
        } catch (const Error&) {
            // The database is away; the next turn continues where this one stopped.
        }
        if (is_draining_) {
            writer_.send({.event = "drain", .data = "{}"});
            return writer_.finish();
        }
        return writer_.keep_alive(now) || !writer_.is_closed();
    }

    void drain() override { is_draining_ = true; }

 private:
    /// False: the client is too slow.
    bool send_history(Feed& feed) {
        while (true) {
            const auto& events = feed.history(id_, after_);
            if (events.empty()) return true;
            const Seq last = events.back().seq;
            const bool is_page = static_cast<int>(events.size()) == Feed::kPageEvents;
            const auto make = [&] { return text_of(events); };
            if (!writer_.send_text(feed.text(fmt::format("{}|{}", shown_, after_), make))) {
                return false;
            }
            after_ = last;
            if (!is_page) return true;
        }
    }

    std::string text_of(const std::vector<HistoryEvent>& events) const {
        std::string text;
        for (const HistoryEvent& event : events) {
            PayloadDocument document(payloads_);
            const std::string data = document.text(document.event(to_entry(event)));
            text += format_sse({.event = "history", .id = std::to_string(event.seq), .data = data});
        }
        return text;
    }

    StreamLogin login_;
    InstanceId id_;
    std::int64_t after_;
    std::int64_t revision_ = -1;
    PayloadView payloads_;
    const std::string shown_;  ///< the same for streams that show the same
    SseWriter writer_;
    std::atomic<bool> is_draining_{false};
};

void stream_instance(Service& service, Call& call, const http::Responder& respond) {
    const InstanceId id = resolve(service, call);
    std::int64_t after = call.query.integer("after", 0, kSeqMax).value_or(0);
    PayloadView payloads = payload_view(service, call, id);
    call.query.check_all_used();
    if (const auto last = call.request.header("Last-Event-ID"); !last.empty()) {
        Query header(fmt::format("Last-Event-ID={}", last));
        after = header.integer("Last-Event-ID", 0, kSeqMax).value_or(0);
    }
    if (!service.reads.load(id)) {
        throw Problem(
            "instance_not_found", fmt::format("There is no instance {}.", id.to_string())
        );
    }
    service.hub.add(std::make_shared<InstanceStream>(
        service, call.principal, id, after, std::move(payloads), open_stream(respond)
    ));
}

}  // namespace

void add_live_routes(Routes& routes, Service& service) {
    routes.push_back(
        {.method = "GET",
         .path = "/instances/{id}/events",
         .operation = "streamInstance",
         .permission = "instances.read",
         .async = [&service](
                      Call& call, const http::Responder& respond
                  ) { stream_instance(service, call, respond); },
         .reach = Reach::Project}
    );
    add_topic_routes(routes, service);
}

}  // namespace ebb::server
