// The live stream of one browser: everything that it watches, by topics.

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "call/event_view.h"
#include "server/api/bulk.h"
#include "server/api/listing.h"
#include "server/api/payloads.h"
#include "server/live/hub.h"
#include "server/live/sse.h"
#include "support/clock.h"
#include "view/instance_json.h"
#include "view/worker_json.h"

namespace ebb::server {

namespace {

using view::Json;

constexpr std::size_t kTopicsMax = 50;
constexpr std::int64_t kSeqMax = std::int64_t{1} << 53;

/// What a browser sees of one topic.
class Topic {
 public:
    explicit Topic(std::size_t number) : number_(number) {}

    virtual ~Topic() = default;

    /// The instance that it is about; none if all may concern it.
    virtual std::optional<InstanceId> instance() const { return std::nullopt; }

    /// Sends what is new. False: the client is too slow.
    virtual bool update(SseWriter& writer, Feed& feed) = 0;

    /// The position, for Last-Event-ID; 0 = it begins again.
    virtual std::int64_t position() const { return 0; }

 protected:
    std::size_t number() const { return number_; }

    Json message() const { return {{"topic", number_}}; }

 private:
    std::size_t number_;
};

class InstanceTopic : public Topic {
 public:
    InstanceTopic(
        std::size_t number, const InstanceId& id, std::int64_t after, PayloadView payloads
    )
        : Topic(number),
          id_(id),
          after_(after),
          payloads_(std::move(payloads)),
          shown_(fmt::format("{}|{}|{}", number, id.to_string(), payloads_.key())) {}

    std::optional<InstanceId> instance() const override { return id_; }

    bool update(SseWriter& writer, Feed& feed) override {
        const std::optional<InstanceSummary> now = feed.instance(id_);
        if (!now || now->revision == revision_) return true;
        if (!send_history(writer, feed)) return false;
        Json json = message();
        json["instance"] = view::summary_json(*now);
        const bool has_ended = now->finished_at != TimePoint{};
        const bool is_sent =
            writer.send({.event = has_ended ? "end" : "instance", .data = json.dump()});
        if (is_sent) revision_ = now->revision;
        return is_sent;
    }

    std::int64_t position() const override { return after_; }

 private:
    bool send_history(SseWriter& writer, Feed& feed) {
        while (true) {
            const auto& events = feed.history(id_, after_);
            if (events.empty()) return true;
            const Seq last = events.back().seq;
            const auto make = [&] { return text_of(events); };
            const std::string& text = feed.text(fmt::format("{}|{}", shown_, after_), make);
            if (!writer.send_text(text)) return false;
            after_ = last;
        }
    }

    std::string text_of(const std::vector<HistoryEvent>& events) const {
        PayloadDocument document(payloads_);
        Json json = message();
        json["instance"] = id_.to_string();
        json["events"] = Json::array();
        for (const HistoryEvent& event : events) {
            json["events"].push_back(document.event(to_entry(event)));
        }
        return format_sse({.event = "history", .data = document.text(json)});
    }

    InstanceId id_;
    std::int64_t after_;
    PayloadView payloads_;
    const std::string shown_;  ///< the same for topics that show the same
    std::int64_t revision_ = -1;
};

/// A topic whose state is sent whole when it has changed. Streams that see the same state share it.
class StateTopic : public Topic {
 public:
    /// `make` yields the state; `event` is what it is sent as, `changed` without any data. `key` is
    /// the same for topics with the same state.
    StateTopic(
        std::size_t number, std::string_view event, std::string key, std::function<Json()> make
    )
        : Topic(number), event_(event), key_(std::move(key)), make_(std::move(make)) {}

    bool update(SseWriter& writer, Feed& feed) override {
        const Feed::State& state = feed.state(key_, [this] {
            return make_().dump(-1, ' ', false, Json::error_handler_t::replace);
        });
        if (state.version == sent_) return true;
        const std::string data =
            event_ == "list" ? fmt::format(R"({{"topic":{},"items":{}}})", number(), state.text)
                             : fmt::format(R"({{"topic":{}}})", number());
        if (!writer.send({.event = event_, .data = data})) return false;
        sent_ = state.version;
        return true;
    }

 private:
    std::string_view event_;
    std::string key_;
    std::function<Json()> make_;
    std::uint64_t sent_ = 0;
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
                shared_key(text, "instances.read"),
                [service = &service_, principal = principal_, listing] {
                    return list_page(*service, principal, *listing);
                }
            );
        }
        return make_state(number, text);
    }

 private:
    void require(Permission permission, Reach reach = Reach::Project) const {
        check_permission(principal_, permission, reach);
    }

    /// Who may see everything sees the same as all others who may.
    std::string shared_key(const std::string& topic, Permission permission) const {
        if (principal_.may_everywhere(permission)) return topic;
        const std::string groups = fmt::format("{}", fmt::join(principal_.groups, "\n"));
        return fmt::format("{}\n{}\n{}\n{}", topic, principal_.name, principal_.key, groups);
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
            id,
            after,
            payload_view(
                service_, principal_, {row->workflow, row->version}, is_own(principal_, *row)
            )
        );
    }

    std::unique_ptr<Topic> bulk_state(
        std::size_t number, const std::string& text, std::function<Json()> state
    ) const {
        return std::make_unique<StateTopic>(
            number, "changed", shared_key(text, "bulk"), std::move(state)
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
        } else if (text == "bulk") {
            require("bulk");
            return bulk_state(number, text, [service, principal = principal_] {
                Json json = Json::array();
                for (const InstanceSummary& bulk : visible_bulks(*service, principal).instances) {
                    json.push_back({bulk.id.to_string(), bulk.revision});
                }
                return json;
            });
        } else if (text.starts_with("bulk:")) {
            require("bulk");
            const InstanceId id = visible_bulk(service_, principal_, text.substr(5));
            return bulk_state(number, text, [service, id] {
                const auto bulk = service->reader.find(id);
                return bulk ? Json(bulk->revision) : Json();
            });
        } else {
            throw Problem(
                "invalid_argument",
                "A topic is instance:ID@SEQ, list:QUERY, workers, queues, stats, decisions, "
                "failures, bulk or bulk:ID."
            );
        }
        // Workers and queues are shown by one permission, counts by the other.
        const bool is_of_workers = text == "workers" || text == "queues";
        std::string key = shared_key(text, is_of_workers ? "workers.read" : "instances.read");
        return std::make_unique<StateTopic>(number, "changed", std::move(key), std::move(state));
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
        : login_(access, principal), topics_(std::move(topics)), writer_(std::move(stream)) {}

    void hello(const Json& json) { writer_.send({.event = "hello", .data = json.dump()}); }

    Interest interest() const override {
        Interest interest;
        for (const auto& topic : topics_) {
            if (!topic) continue;
            if (const auto id = topic->instance()) {
                interest.instances.push_back(*id);
            } else {
                interest.in_all = true;
            }
        }
        return interest;
    }

    bool turn(TimePoint now, Feed& feed) override {
        if (writer_.is_closed()) return false;
        try {
            if (!login_.holds(now)) return writer_.finish();
            for (const auto& topic : topics_) {
                if (topic && !topic->update(writer_, feed)) return writer_.lag();
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

    StreamLogin login_;
    std::vector<std::unique_ptr<Topic>> topics_;
    SseWriter writer_;
    std::string positions_;
    std::atomic<bool> is_draining_{false};
};

/// `0:1842,3:20`; what is not valid is left out, and those topics begin again.
std::map<std::size_t, std::int64_t> read_positions(std::string_view text) {
    std::map<std::size_t, std::int64_t> positions;
    if (text.empty()) return positions;
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
