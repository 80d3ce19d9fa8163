// Goal: an endpoint that does not answer holds up neither the deliveries to another endpoint nor
// other work. Method: an engine with one thread, and real endpoints of which one keeps its answers
// back until the test lets it go.

#include "plugins/webhooks/deliver.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ebb/builder.h>
#include <ebb/engine.h>

#include "engine/webhook.h"
#include "support/clock.h"
#include "support/http_server.h"

namespace ebb::webhooks {
namespace {

using namespace std::chrono_literals;
using testing::HttpServer;

/// Counts what arrives.
class Endpoint {
 public:
    explicit Endpoint(bool is_open)
        : is_open_(is_open), server_([this](const HttpServer::Request&) { return answer(); }) {}

    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;

    ~Endpoint() { open(); }

    std::string url() const { return server_.url("/"); }

    void open() {
        const std::lock_guard lock(mutex_);
        is_open_ = true;
        changed_.notify_all();
    }

    /// How many have arrived, when they are `wanted` or none has come for some time.
    int arrived(int wanted) {
        std::unique_lock lock(mutex_);
        // Less than the timeout of a delivery.
        changed_.wait_for(lock, 10s, [&] { return arrived_ >= wanted; });
        return arrived_;
    }

 private:
    std::string answer() {
        std::unique_lock lock(mutex_);
        ++arrived_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return is_open_; });
        return HttpServer::respond(200, "{}");
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_;
    int arrived_ = 0;
    HttpServer server_;
};

TEST(Deliveries, to_an_endpoint_that_does_not_answer_hold_up_no_other) {
    constexpr int kEvents = 6;
    Endpoint dead(false);
    Endpoint ops(true);
    const StorePtr store = open_memory_store();
    for (const auto& [name, endpoint] : {std::pair{"dead", &dead}, std::pair{"ops", &ops}}) {
        const nlohmann::json settings{
            {"url", endpoint->url()}, {"events", {"instance.started"}}, {"workflows", {"waiting"}}
        };
        engine::put_webhook(*store, engine::read_webhook(name, settings));
    }
    const SystemClock clock;
    HandlerRegistry handlers;
    add_deliver_handler(handlers, *store, clock, {.allows_private = true});
    std::atomic<int> calls{0};
    handlers.add("count", [&] { ++calls; });
    Engine engine(*store, handlers, {.threads = 1});
    engine.register_workflow(WorkflowBuilder("waiting").signal("go").build());
    engine.register_workflow(WorkflowBuilder("counting").step("count").build());
    engine.run();

    const std::vector<Payload> inputs(kEvents, Payload::text("{}"));
    engine.start_all("waiting", inputs);
    EXPECT_EQ(dead.arrived(kEvents), kEvents) << "they run at the same time";
    EXPECT_EQ(ops.arrived(kEvents), kEvents);
    const InstanceId counting = engine.start("counting", Payload::text("{}")).id;
    EXPECT_EQ(engine.wait(counting, 10s).status, InstanceStatus::Completed);
    EXPECT_EQ(calls, 1);

    dead.open();
    EXPECT_TRUE(engine.drain(10s)) << "all of them end";
}

}  // namespace
}  // namespace ebb::webhooks
