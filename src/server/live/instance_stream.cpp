// The live stream of one instance: its history as it grows.

#include <fmt/format.h>

#include "call/event_view.h"
#include "engine/view.h"
#include "server/api/payloads.h"
#include "server/live/hub.h"
#include "server/live/sse.h"
#include "view/instance_json.h"

namespace ebb::server {

namespace {

constexpr int kPageEvents = 200;
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
        : service_(service),
          principal_(principal),
          id_(id),
          after_(after),
          payloads_(std::move(payloads)),
          writer_(std::move(stream)) {}

    bool note(const InstanceSummary& instance) override { return instance.id == id_; }

    bool turn(TimePoint now) override {
        if (writer_.is_closed()) return false;
        try {
            // A login that is over, or whose grants have changed, begins again.
            if (service_.access.current(principal_) != principal_) return writer_.finish();
            // The row first: what it says has ended has all its events already.
            const auto row = service_.reads.load(id_);
            if (!send_history()) return writer_.lag();
            if (!row || row->finished_at != TimePoint{}) {
                if (row) {
                    writer_.send(
                        {.event = "end", .data = view::summary_json(engine::to_summary(*row)).dump()
                        }
                    );
                }
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
    bool send_history() {
        while (true) {
            const auto events =
                service_.reads.history({.instance = id_, .after = after_, .limit = kPageEvents});
            for (const HistoryEvent& event : events) {
                PayloadDocument document(payloads_);
                const std::string data = document.text(document.event(to_entry(event)));
                const bool is_sent =
                    writer_.send({.event = "history", .id = std::to_string(event.seq), .data = data}
                    );
                if (!is_sent) return false;
                after_ = event.seq;
            }
            if (static_cast<int>(events.size()) < kPageEvents) return true;
        }
    }

    Service& service_;
    const Principal principal_;
    InstanceId id_;
    std::int64_t after_;
    PayloadView payloads_;
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
