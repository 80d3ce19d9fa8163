// Goal: events of instances reach the outbox in the commit that causes them, and each becomes one
// delivery, also if the process dies between any two writes. Method: a memory store whose calls can
// fail, and a handler that stands in for the endpoint.

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "engine/bulk.h"
#include "engine/system_workflows.h"
#include "engine/webhook.h"
#include "engine_world.h"
#include "support/store_faulty.h"
#include "support/uuid.h"

namespace ebb::test {
namespace {

using ::testing::ElementsAre;
using testing::FaultyStore;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::StoreVerb;

Definition named(const std::string& name, Block steps) {
    Definition definition = workflow(std::move(steps));
    definition.name = name;
    return definition;
}

struct NoticesTest : ::testing::Test {
    PredictableIds ids{1};
    EngineWorld world;
    std::unique_ptr<Engine> engine;
    std::vector<Json> delivered;
    bool accepts = true;

    void SetUp() override {
        world.record({"a"});
        world.handlers.add_raw("fails", [](const Payload&, const StepContext&) -> Payload {
            throw PermanentError("no funds");
        });
        world.handlers.add_raw(
            std::string(engine::kDeliverHandler),
            [this](const Payload& input, const StepContext&) -> Payload {
                if (!accepts) throw std::runtime_error("the endpoint is away");
                delivered.push_back(Json::parse(input));
                return "null";
            }
        );
    }

    void begin() {
        engine = world.engine();
        engine->register_workflow(workflow({step("a")}));
        engine->poll();
    }

    void subscribe(const std::string& name, Json settings = Json::object()) {
        settings["url"] = "https://example.com/hook";
        engine::put_webhook(*world.store, engine::read_webhook(name, settings));
    }

    /// Enough heartbeats to learn of a subscription, and to relay and deliver.
    void pass(int polls = 4) {
        for (int i = 0; i < polls; ++i) {
            world.clock.advance(1s);
            engine->poll();
        }
    }

    std::vector<std::string> types() const {
        std::vector<std::string> found;
        for (const Json& each : delivered) found.push_back(each.at("type").get<std::string>());
        return found;
    }
};

TEST_F(NoticesTest, without_a_subscription_nothing_is_written_and_nothing_asked) {
    begin();
    engine->start("test", Payload::text("1"));
    pass();
    EXPECT_THAT(world.store->list({.has_system = true}), SizeIs(1));
    EXPECT_EQ(world.store->find_workflow(engine::kWebhookWorkflow, std::nullopt), std::nullopt);
}

TEST_F(NoticesTest, each_event_is_delivered_once_with_what_it_is_about) {
    begin();
    subscribe("all");
    pass();
    const InstanceId id = engine->start("test", Payload::text("1"), {.key = "k"}).id;
    pass();
    EXPECT_THAT(types(), ElementsAre("instance.started", "instance.completed"));
    const Json& completed = delivered.at(1);
    EXPECT_EQ(completed.at("subscription"), "all");
    EXPECT_EQ(completed.at("data").at("instance"), id.to_string());
    EXPECT_EQ(completed.at("data").at("workflow"), "test");
    EXPECT_EQ(completed.at("data").at("key"), "k");
    EXPECT_EQ(completed.at("data").at("status"), "completed");
    EXPECT_NE(delivered.at(0).at("id"), completed.at("id"));
    EXPECT_THAT(world.store->outbox({"all"}, 10), IsEmpty());
    // Deliveries are instances as others, only that lists leave them out.
    EXPECT_THAT(engine->list({}), SizeIs(1));
    EXPECT_THAT(world.store->list({.has_system = true}), SizeIs(3));
}

TEST_F(NoticesTest, a_subscription_chooses_events_and_workflows) {
    begin();
    subscribe("ends", Json{{"events", {"instance.completed"}}});
    subscribe("others", Json{{"workflows", {"other.*"}}});
    pass();
    engine->start("test", Payload::text("1"));
    pass();
    EXPECT_THAT(types(), ElementsAre("instance.completed"));
}

TEST_F(NoticesTest, a_failure_says_what_failed_and_why) {
    begin();
    engine->register_workflow(named("sad", {step("fails", {.is_compensated = false})}));
    subscribe("all", Json{{"events", {"instance.failed", "step.failed"}}});
    pass();
    engine->start("sad", Payload::text("1"));
    pass();
    ASSERT_THAT(types(), ElementsAre("step.failed", "instance.failed"));
    for (const Json& each : delivered) {
        EXPECT_EQ(each.at("data").at("step"), "fails");
        EXPECT_EQ(each.at("data").at("error").at("message"), "no funds");
        EXPECT_EQ(each.at("data").at("status"), "failed");
    }
}

TEST_F(NoticesTest, a_process_that_dies_between_the_relay_and_the_removal_delivers_once) {
    FaultyStore faulty(*world.memory);
    world.store = &faulty;
    begin();
    subscribe("all", Json{{"events", {"instance.completed"}}});
    pass();
    for (int nth = 1; nth <= 3; ++nth) {
        faulty.plan(
            {.kind = testing::Fault::Kind::Unavailable, .nth = nth, .verb = StoreVerb::ChangeOutbox}
        );
    }
    engine->start("test", Payload::text("1"));
    pass(8);
    EXPECT_TRUE(faulty.is_exhausted());
    EXPECT_THAT(types(), ElementsAre("instance.completed"));
    EXPECT_THAT(world.store->outbox({"all"}, 10), IsEmpty());
    engine.reset();  // it uses the store
}

TEST_F(NoticesTest, what_cannot_be_delivered_is_tried_again) {
    begin();
    subscribe("all", Json{{"events", {"instance.completed"}}});
    pass();
    accepts = false;
    engine->start("test", Payload::text("1"));
    pass();
    EXPECT_THAT(types(), IsEmpty());
    accepts = true;
    for (int i = 0; i < 10 && delivered.empty(); ++i) {
        world.clock.advance(1s);
        engine->poll();
    }
    EXPECT_THAT(types(), ElementsAre("instance.completed"));
}

TEST_F(NoticesTest, notices_of_a_suspended_subscription_wait_until_it_works_again) {
    begin();
    subscribe("all", Json{{"events", {"instance.completed"}}});
    for (int i = 0; i < Subscription::kFailuresMax; ++i) {
        world.store->note_delivery({.subscription = "all", .now = world.clock.now()});
    }
    pass();
    engine->start("test", Payload::text("1"));
    pass();
    EXPECT_THAT(types(), IsEmpty());
    EXPECT_THAT(world.store->outbox({"all"}, 10), SizeIs(1));
    world.store->note_delivery(
        {.subscription = "all", .has_succeeded = true, .now = world.clock.now() + 1s}
    );
    pass();
    EXPECT_THAT(types(), ElementsAre("instance.completed"));
}

TEST_F(NoticesTest, names_of_system_workflows_and_handlers_are_refused) {
    begin();
    const auto refusal = [&](const Definition& definition) -> std::string {
        try {
            engine->register_workflow(definition);
        } catch (const std::exception& error) {
            return error.what();
        }
        return {};
    };
    EXPECT_THAT(refusal(named("ebb:webhook", {step("a")})), HasSubstr("Ebb's own"));
    EXPECT_THAT(refusal(named("ebb:mine", {step("a")})), HasSubstr("ebb:mine"));
    EXPECT_THAT(
        refusal(named("mine", {step("ebb:deliver", {.is_compensated = false})})),
        HasSubstr("ebb:deliver")
    );
    EXPECT_THROW(engine->start("ebb:webhook", Payload::text("1")), Error);
}

TEST_F(NoticesTest, an_engine_that_only_starts_and_steers_knows_the_subscriptions_too) {
    begin();
    subscribe("all", Json{{"events", {"instance.started"}}});
    const auto client = world.engine("client");
    client->start("test", Payload::text("1"));
    pass();
    EXPECT_THAT(types(), ElementsAre("instance.started"));
}

TEST_F(NoticesTest, of_a_bulk_operation_only_its_end_is_reported) {
    engine::add_bulk_handler(world.handlers, *world.store, [this]() -> Engine& { return *engine; });
    begin();
    subscribe("all", Json{{"events", {"bulk.*", "step.*", "instance.*"}}});
    pass();
    const engine::BulkJob job{
        .before = lowest_id_of(world.clock.now()), .at = world.clock.now(), .by = "ann"
    };
    const InstanceId bulk = engine::start_bulk(*world.store, job).id;
    pass();
    ASSERT_THAT(types(), ElementsAre("bulk.finished"));
    EXPECT_EQ(delivered.at(0).at("data").at("instance"), bulk.to_string());
    EXPECT_EQ(delivered.at(0).at("data").at("status"), "completed");
}

TEST_F(NoticesTest, a_ping_needs_no_event) {
    begin();
    subscribe("all");
    pass();
    engine::ping_webhook(*world.store, "all");
    pass();
    EXPECT_THAT(types(), ElementsAre("ping"));
}

TEST_F(NoticesTest, a_decision_is_overdue_when_its_deadline_has_passed_whatever_that_leads_to) {
    begin();
    using OnDeadline = HumanDecision::OnDeadline;
    const std::vector<std::pair<std::string, OnDeadline>> kinds = {
        {"confirms", OnDeadline::Confirm},
        {"rejects", OnDeadline::Reject},
        {"fails", OnDeadline::Fail}
    };
    for (const auto& [name, kind] : kinds) {
        HumanDecision decision;
        decision.deadline = 1h;
        decision.on_deadline = kind;
        engine->register_workflow(named(name, {node("ask", decision)}));
    }
    subscribe("all", Json{{"events", {"decision.overdue", "step.failed"}}});
    pass();
    std::map<std::string, InstanceId> started;
    for (const auto& [name, kind] : kinds) started.emplace(name, engine->start(name).id);
    // A person was in time here.
    const InstanceId decided = engine->start("confirms").id;
    engine->decide(decided, {.by = "ann"});
    pass();
    EXPECT_THAT(types(), IsEmpty());
    world.clock.advance(1h);
    pass();
    std::map<std::string, int> overdue;
    for (const Json& each : delivered) {
        if (each.at("type") != "decision.overdue") continue;
        const Json& data = each.at("data");
        const std::string name = data.at("workflow").get<std::string>();
        ++overdue[name];
        EXPECT_EQ(data.at("instance"), started.at(name).to_string());
        EXPECT_EQ(data.at("step"), "ask");
    }
    EXPECT_EQ(overdue, (std::map<std::string, int>{{"confirms", 1}, {"fails", 1}, {"rejects", 1}}));
    // The same event of the history is reported as a failure, too.
    std::set<std::string> numbers;
    for (const Json& each : delivered) numbers.insert(each.at("id").get<std::string>());
    EXPECT_EQ(numbers.size(), delivered.size());
    EXPECT_GT(delivered.size(), 3U) << "nothing has failed";
}

TEST_F(NoticesTest, a_worker_that_dies_is_reported_once_and_one_that_signs_off_is_not) {
    begin();
    subscribe("all", Json{{"events", {"worker.*"}}});
    const auto dead = world.engine("dead");
    const auto leaver = world.engine("leaver");
    const auto third = world.engine("third");
    dead->poll();
    leaver->poll();
    third->poll();
    leaver->drain(0s);
    for (int second = 0; second < 30; ++second) {
        world.clock.advance(1s);
        engine->poll();
        third->poll();
    }
    ASSERT_THAT(types(), ElementsAre("worker.lost"));
    EXPECT_EQ(delivered.at(0).at("data"), (Json{{"worker", "dead"}}));
}

TEST_F(NoticesTest, a_queue_without_a_worker_for_its_tasks_is_reported_once) {
    begin();
    subscribe("all", Json{{"events", {"queue.blocked"}}});
    subscribe("orders", Json{{"events", {"queue.blocked"}}, {"workflows", {"order*"}}});
    const auto other = world.engine("other");
    engine->register_workflow(named("lonely", {step("nobody_has_it")}));
    pass();
    engine->start("lonely");
    const auto spend = [&](int seconds) {
        for (int second = 0; second < seconds; ++second) {
            world.clock.advance(1s);
            engine->poll();
            other->poll();
        }
    };
    spend(30);
    EXPECT_THAT(types(), IsEmpty()) << "workers may just have been started again";
    spend(120);
    ASSERT_THAT(types(), ElementsAre("queue.blocked"));
    EXPECT_EQ(delivered.at(0).at("subscription"), "all") << "it is about no workflow";
    EXPECT_EQ(delivered.at(0).at("data").at("handler"), "nobody_has_it");
    EXPECT_EQ(delivered.at(0).at("data").at("tasks"), 1);
}

TEST(Webhook, settings_are_checked_and_secrets_are_not_shown) {
    const auto refusal = [](const std::string& name, const Json& settings) -> std::string {
        try {
            engine::read_webhook(name, settings);
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    };
    const std::string url = "https://example.com/";
    EXPECT_EQ(refusal("ok", Json{{"url", url}}), "");
    EXPECT_THAT(refusal("a b", Json{{"url", url}}), HasSubstr("letters"));
    EXPECT_THAT(refusal("x", Json{{"url", "ftp://example.com"}}), HasSubstr("url:"));
    EXPECT_THAT(refusal("x", Json{{"url", "https://u:p@example.com"}}), HasSubstr("password"));
    EXPECT_THAT(refusal("x", Json{{"url", url}, {"events", {"nope"}}}), HasSubstr("instance.*"));
    EXPECT_THAT(refusal("x", Json{{"url", url}, {"secret", "short"}}), HasSubstr("whsec_"));
    EXPECT_THAT(refusal("x", Json{{"url", url}, {"surprise", 1}}), HasSubstr("surprise"));
    EXPECT_THAT(refusal("x", Json{{"url", url}, {"format", "fax"}}), HasSubstr("cloudevents"));
    engine::Webhook webhook = engine::read_webhook("x", Json{{"url", url}});
    webhook.secret = engine::make_webhook_secret();
    const Subscription kept = engine::subscription_of(webhook, TimePoint(1s));
    EXPECT_EQ(engine::parse_webhook(kept), webhook);
    EXPECT_EQ(engine::webhook_json(kept).dump().find("whsec_"), std::string::npos);
}

}  // namespace
}  // namespace ebb::test
