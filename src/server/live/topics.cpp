// The live stream of one browser: everything that it watches, by topics.

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "call/event_view.h"
#include "engine/view.h"
#include "server/api/listing.h"
#include "server/api/payloads.h"
#include "server/live/hub.h"
#include "server/live/sse.h"
#include "support/clock.h"
#include "support/sha256.h"
#include "view/instance_json.h"
#include "view/worker_json.h"

namespace ebb::server {

namespace {

using view::Json;

constexpr std::size_t kTopicsMax = 50;
constexpr int kPageEvents = 200;
constexpr std::int64_t kSeqMax = std::int64_t{1} << 53;

/// What a browser sees of one topic.
class Topic {
 public:
    explicit Topic(std::size_t number) : number_(number) {}

    virtual ~Topic() = default;

    virtual bool concerns(const InstanceSummary& /*instance*/) const { return true; }

    /// Sends what is new. False: the client is too slow.
    virtual bool update(SseWriter& writer) = 0;

    /// The position, for Last-Event-ID; 0 = it begins again.
    virtual std::int64_t position() const { return 0; }

 protected:
    Json message() const { return {{"topic", number_}}; }

 private:
    std::size_t number_;
};

class InstanceTopic : public Topic {
 public:
    InstanceTopic(
        std::size_t number,
        Service& service,
        const InstanceId& id,
        std::int64_t after,
        PayloadView payloads
    )
        : Topic(number),
          service_(service),
          id_(id),
          after_(after),
          payloads_(std::move(payloads)) {}

    bool concerns(const InstanceSummary& instance) const override { return instance.id == id_; }

    bool update(SseWriter& writer) override {
        const auto row = service_.reads.load(id_);
        if (!row || row->revision == revision_) return true;
        if (!send_history(writer)) return false;
        Json json = message();
        json["instance"] = view::summary_json(engine::to_summary(*row));
        const bool has_ended = row->finished_at != TimePoint{};
        const bool is_sent =
            writer.send({.event = has_ended ? "end" : "instance", .data = json.dump()});
        if (is_sent) revision_ = row->revision;
        return is_sent;
    }

    std::int64_t position() const override { return after_; }

 private:
    bool send_history(SseWriter& writer) {
        while (true) {
            const auto events =
                service_.reads.history({.instance = id_, .after = after_, .limit = kPageEvents});
            if (events.empty()) return true;
            PayloadDocument document(payloads_);
            Json items = Json::array();
            for (const HistoryEvent& event : events) {
                items.push_back(document.event(to_entry(event)));
            }
            Json json = message();
            json["instance"] = id_.to_string();
            json["events"] = std::move(items);
            if (!writer.send({.event = "history", .data = document.text(json)})) return false;
            after_ = events.back().seq;
        }
    }

    Service& service_;
    InstanceId id_;
    std::int64_t after_;
    PayloadView payloads_;
    std::int64_t revision_ = -1;
};

/// A topic whose state is sent whole when it has changed.
class StateTopic : public Topic {
 public:
    /// `make` yields the state; `event` is what it is sent as, `changed` without any data.
    StateTopic(std::size_t number, std::string_view event, std::function<Json()> make)
        : Topic(number), event_(event), make_(std::move(make)) {}

    bool update(SseWriter& writer) override {
        Json state = make_();
        const std::string text = state.dump(-1, ' ', false, Json::error_handler_t::replace);
        const std::string hash = sha256_hex(text);
        if (hash == sent_) return true;
        Json json = message();
        if (event_ == "list") json["items"] = std::move(state);
        if (!writer.send({.event = event_, .data = json.dump()})) return false;
        sent_ = hash;
        return true;
    }

 private:
    std::string_view event_;
    std::function<Json()> make_;
    std::string sent_;
};

/// Makes topics of what a client asks for.
class TopicMaker {
 public:
    TopicMaker(
        Service& service, const Principal& principal, std::map<std::size_t, std::int64_t> resumed
    )
        : service_(service), principal_(principal), resumed_(std::move(resumed)) {}

    /// Throws Problem.
    std::unique_ptr<Topic> make(std::size_t number, const std::string& text) {
        if (text.starts_with("instance:")) return make_instance(number, text.substr(9));
        if (text.starts_with("list:")) {
            require("instances.read");
            auto listing = std::make_shared<std::string>(text.substr(5));
            list_page(service_, principal_, *listing);
            return std::make_unique<StateTopic>(
                number,
                "list",
                [service = &service_, principal = principal_, listing] {
                    return list_page(*service, principal, *listing);
                }
            );
        }
        return make_state(number, text);
    }

 private:
    void require(Permission permission, Reach reach = Reach::Project) const {
        const bool is_here = reach == Reach::Project;
        if (is_here ? principal_.may(permission) : principal_.may_everywhere(permission)) return;
        throw Problem("not_allowed", fmt::format("You lack the permission {}.", permission));
    }

    std::unique_ptr<Topic> make_instance(std::size_t number, const std::string& text) {
        require("instances.read");
        const std::size_t at = std::min(text.find('@'), text.size());
        const InstanceId id = resolve(service_, principal_, text.substr(0, at));
        std::int64_t after = 0;
        if (at < text.size()) {
            Query query("seq=" + text.substr(at + 1));
            after = query.integer("seq", 0, kSeqMax).value_or(0);
        }
        const auto row = service_.reads.load(id);
        if (!row) throw Problem("instance_not_found", "There is no such instance.");
        if (const auto found = resumed_.find(number); found != resumed_.end()) {
            after = std::max(after, found->second);
        }
        return std::make_unique<InstanceTopic>(
            number,
            service_,
            id,
            after,
            payload_view(service_, principal_, {row->workflow, row->version})
        );
    }

    std::unique_ptr<Topic> make_state(std::size_t number, const std::string& text) {
        Service* service = &service_;
        std::function<Json()> state;
        if (text == "workers") {
            require("workers.read", Reach::Server);
            state = [service] {
                Json json = Json::array();
                for (const WorkerView& worker : service->reader.workers()) {
                    Json one = view::worker_json(worker);
                    // It moves on with every heartbeat.
                    one.erase("expires_at");
                    json.push_back(std::move(one));
                }
                return json;
            };
        } else if (text == "queues") {
            require("workers.read");
            state = [service, principal = principal_] {
                Json json = Json::array();
                for (const QueueView& queue : service->reader.queues()) {
                    if (!principal.may_with_queue("workers.read", queue.name)) continue;
                    json.push_back(view::queue_json(queue));
                }
                return json;
            };
        } else if (text == "stats" || text == "decisions" || text == "failures") {
            require(text == "decisions" ? "decisions.read" : "stats.read");
            state = [service, principal = principal_] {
                Json json = Json::object();
                for (const StatusCount& count : service->reads.count()) {
                    if (!principal.may_with("instances.read", count.workflow)) continue;
                    // A count is of one workflow.
                    Json& counts = json["counts"][count.workflow];
                    counts[std::string(to_string(count.status))] = count.count;
                }
                // What runs may reach a decision without any count changing.
                for (const InstanceRow& row : service->reads.list({.limit = 1})) {
                    json["newest"] = row.id.to_string();
                }
                json["commits"] = service->engine.counters().commits;
                return json;
            };
        } else {
            throw Problem(
                "invalid_argument",
                "A topic is instance:ID@SEQ, list:QUERY, workers, queues, stats, decisions or "
                "failures."
            );
        }
        return std::make_unique<StateTopic>(number, "changed", std::move(state));
    }

    Service& service_;
    const Principal& principal_;
    std::map<std::size_t, std::int64_t> resumed_;
};

class TopicStream : public Watcher {
 public:
    TopicStream(
        Access& access,
        const Principal& principal,
        std::vector<std::unique_ptr<Topic>> topics,
        std::shared_ptr<http::Stream> stream
    )
        : access_(access),
          principal_(principal),
          topics_(std::move(topics)),
          writer_(std::move(stream)) {}

    void hello(const Json& json) { writer_.send({.event = "hello", .data = json.dump()}); }

    bool note(const InstanceSummary& instance) override {
        return std::any_of(topics_.begin(), topics_.end(), [&](const auto& topic) {
            return topic && topic->concerns(instance);
        });
    }

    bool turn(TimePoint now) override {
        if (writer_.is_closed()) return false;
        try {
            // A login that is over, or whose grants have changed, begins again.
            if (access_.current(principal_) != principal_) return writer_.finish();
            for (const auto& topic : topics_) {
                if (topic && !topic->update(writer_)) return writer_.lag();
            }
            send_positions();
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
    /// `0:1842,3:20`: an event without data of its own sets the id that a client resumes from.
    void send_positions() {
        std::string positions;
        for (std::size_t number = 0; number < topics_.size(); ++number) {
            const std::int64_t at = topics_[number] ? topics_[number]->position() : 0;
            if (at == 0) continue;
            positions += fmt::format("{}{}:{}", positions.empty() ? "" : ",", number, at);
        }
        if (positions == positions_) return;
        if (writer_.send({.event = "position", .id = positions, .data = "{}"})) {
            positions_ = positions;
        }
    }

    Access& access_;
    const Principal principal_;
    std::vector<std::unique_ptr<Topic>> topics_;
    SseWriter writer_;
    std::string positions_;
    std::atomic<bool> is_draining_{false};
};

/// `0:1842,3:20`; what is not valid is left out, and those topics begin again.
std::map<std::size_t, std::int64_t> read_positions(std::string_view text) {
    std::map<std::size_t, std::int64_t> positions;
    Query query(fmt::format("at={}", text));
    for (const std::string& item : query.list("at")) {
        const std::size_t colon = item.find(':');
        if (colon == std::string::npos) continue;
        Query parts(fmt::format("n={}&s={}", item.substr(0, colon), item.substr(colon + 1)));
        const auto number = parts.integer("n", 0, kTopicsMax);
        const auto seq = parts.integer("s", 0, kSeqMax);
        if (number && seq) positions[static_cast<std::size_t>(*number)] = *seq;
    }
    return positions;
}

void stream_topics(Service& service, Call& call, const http::Responder& respond) {
    const std::vector<std::string> texts = call.query.all("topic");
    call.query.check_all_used();
    if (texts.empty() || texts.size() > kTopicsMax) {
        throw Problem("invalid_argument", fmt::format("Give 1 to {} topics.", kTopicsMax));
    }
    TopicMaker maker(service, call.principal, read_positions(call.request.header("Last-Event-ID")));
    Json answers = Json::array();
    std::vector<std::unique_ptr<Topic>> topics;
    for (std::size_t number = 0; number < texts.size(); ++number) {
        Json answer = {{"topic", texts[number]}, {"is_accepted", true}};
        std::unique_ptr<Topic> topic;
        try {
            topic = maker.make(number, texts[number]);
        } catch (const Problem& problem) {
            answer["is_accepted"] = false;
            answer["problem"] =
                Json::parse(problem_response(problem, call.request.path, call.request_id).body);
        }
        topics.push_back(std::move(topic));
        answers.push_back(std::move(answer));
    }
    auto stream = std::make_shared<TopicStream>(
        service.access, call.principal, std::move(topics), open_stream(respond)
    );
    stream->hello(
        {{"server_time", format_time(service.clock.now())}, {"topics", std::move(answers)}}
    );
    service.hub.add(std::move(stream));
}

}  // namespace

void add_topic_routes(Routes& routes, Service& service) {
    routes.push_back(
        {.method = "GET",
         .path = "/events",
         .operation = "streamTopics",
         .permission = "any",
         .async = [&service](
                      Call& call, const http::Responder& respond
                  ) { stream_topics(service, call, respond); },
         .reach = Reach::Project}
    );
}

}  // namespace ebb::server
