// Starting instances: what is checked, what a key means, and who gets the first task.

#include <ebb/builder.h>

#include "engine_world.h"
#include "support/store_counting.h"
#include "support/store_faulty.h"

namespace ebb::test {
namespace {

using testing::CountingStore;
using testing::Fault;
using testing::FaultyStore;
using testing::StoreVerb;

ErrorCode code_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.code();
    }
    ADD_FAILURE() << "nothing was thrown";
    return ErrorCode::Internal;
}

struct Start : ::testing::Test {
    EngineWorld world;
    std::unique_ptr<Engine> engine;

    void SetUp() override {
        world.record({"a"});
        engine = world.engine();
        engine->register_workflow(workflow({step("a")}));
    }
};

TEST_F(Start, refuses_an_unknown_workflow_and_an_unknown_version) {
    EXPECT_EQ(code_of([&] { engine->start("nope"); }), ErrorCode::WorkflowNotFound);
    EXPECT_EQ(
        code_of([&] { engine->start("test", Payload::text("1"), {.version = 9}); }),
        ErrorCode::WorkflowNotFound
    );
}

TEST_F(Start, refuses_an_input_that_is_not_json_or_too_large) {
    EXPECT_EQ(
        code_of([&] { engine->start("test", Payload::text("{")); }), ErrorCode::InvalidPayload
    );
    EngineOptions options = world.options("w2");
    options.payload_bytes_max = 64;
    options.error_bytes_max = 64;
    Engine strict(*world.store, world.handlers, options);
    EXPECT_NO_THROW(strict.start("test", Payload::text('"' + std::string(62, 'x') + '"')));
    EXPECT_EQ(
        code_of([&] { strict.start("test", Payload::text('"' + std::string(63, 'x') + '"')); }),
        ErrorCode::PayloadTooLarge
    );
}

TEST_F(Start, refuses_an_input_that_the_definition_does_not_allow) {
    engine->register_workflow(
        WorkflowBuilder("strict").input_schema(R"({"required":["id"]})").step("a").build()
    );
    EXPECT_EQ(
        code_of([&] { engine->start("strict", Payload::text("{}")); }), ErrorCode::InvalidPayload
    );
    const std::vector<Payload> inputs{R"({"id":1})", "{}"};
    EXPECT_EQ(code_of([&] { engine->start_all("strict", inputs); }), ErrorCode::InvalidPayload);
    EXPECT_TRUE(engine->list({.workflow = "strict"}).empty()) << "all or none";
    EXPECT_NO_THROW(engine->start("strict", Payload::text(R"({"id":1})")));
}

TEST_F(Start, says_that_the_instance_of_a_known_key_has_another_input_or_version) {
    const auto first = engine->start("test", Payload::text(R"({"a":1,"b":2})"), {.key = "k"});
    EXPECT_TRUE(first.is_new && first.has_same_input && first.has_same_version);
    const auto again = engine->start("test", Payload::text(R"({"b":2,"a":1})"), {.key = "k"});
    EXPECT_FALSE(again.is_new);
    EXPECT_TRUE(again.has_same_input && again.has_same_version);
    EXPECT_FALSE(engine->start("test", Payload::text("7"), {.key = "k"}).has_same_input);

    engine->register_workflow(WorkflowBuilder("test", 2).step("a").build());
    const auto newer = engine->start("test", Payload::text(R"({"a":1,"b":2})"), {.key = "k"});
    EXPECT_EQ(newer.id, first.id);
    EXPECT_TRUE(newer.has_same_input);
    EXPECT_FALSE(newer.has_same_version);
}

TEST_F(Start, refuses_a_signal_that_does_not_conform_and_loses_nothing) {
    engine->register_workflow(
        WorkflowBuilder("parcel")
            .signal("delivered")
            .schema(R"({"type":"object","properties":{"by":{"type":"string"}}})")
            .build()
    );
    const InstanceId id = engine->start("parcel").id;
    world.run(*engine);
    const auto before = engine->find(id);
    try {
        engine->signal(id, "delivered", Payload::text(R"({"by":7})"));
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidPayload);
        EXPECT_THAT(error.what(), ::testing::HasSubstr("/by"));
    }
    EXPECT_EQ(engine->find(id)->revision, before->revision);
    engine->signal(id, "delivered", Payload::text(R"({"by":"ann"})"));
    world.run(*engine);
    EXPECT_EQ(engine->find(id)->status, InstanceStatus::Completed);
}

TEST_F(Start, refuses_options_that_cannot_be_right) {
    EXPECT_NO_THROW(engine->start("test", Payload::text("1"), {.priority = -100}));
    EXPECT_EQ(
        code_of([&] { engine->start("test", Payload::text("1"), {.priority = 101}); }),
        ErrorCode::InvalidArgument
    );
    EXPECT_NO_THROW(engine->start("test", Payload::text("1"), {.key = std::string(256, 'k')}));
    EXPECT_EQ(
        code_of([&] { engine->start("test", Payload::text("1"), {.key = std::string(257, 'k')}); }),
        ErrorCode::LimitExceeded
    );
    const std::vector<Payload> two(2, "1");
    EXPECT_EQ(
        code_of([&] { engine->start_all("test", two, {.key = "k"}); }), ErrorCode::InvalidArgument
    );
}

TEST_F(Start, of_many_at_once_has_bounds) {
    const std::vector<Payload> too_many(10'001, "1");
    EXPECT_EQ(code_of([&] { engine->start_all("test", too_many); }), ErrorCode::LimitExceeded);
    // 64 pieces of 1 MiB are allowed, a byte more is not.
    std::vector<Payload> pieces(64, '"' + std::string((1 << 20) - 2, 'x') + '"');
    EXPECT_EQ(engine->start_all("test", pieces).size(), 64U);
    pieces.emplace_back("1");
    EXPECT_EQ(code_of([&] { engine->start_all("test", pieces); }), ErrorCode::LimitExceeded);
}

TEST_F(Start, twice_with_one_key_is_the_same_instance) {
    const StartedInstance first = engine->start("test", Payload::text("1"), {.key = "order-1"});
    const StartedInstance second = engine->start("test", Payload::text("2"), {.key = "order-1"});
    EXPECT_TRUE(first.is_new);
    EXPECT_FALSE(second.is_new);
    EXPECT_EQ(first.id, second.id);
    EXPECT_EQ(engine->find_key("test", "order-1"), first.id);
    engine->poll();
    EXPECT_EQ(world.calls_text(), "a");
    EXPECT_EQ(engine->start("test", Payload::text("1"), {.key = "order-1"}).id, first.id)
        << "and afterwards";
}

TEST_F(Start, many_at_once_get_one_id_each_in_order) {
    const std::vector<Payload> inputs = {"1", "2", "3"};
    const auto started = engine->start_all("test", inputs);
    ASSERT_EQ(started.size(), 3U);
    engine->poll();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        EXPECT_EQ(engine->wait(started[i].id, 0s).output, inputs[i]);
    }
    EXPECT_TRUE(engine->start_all("test", {}).empty());
}

TEST_F(Start, of_a_client_leaves_the_task_to_a_worker) {
    const HandlerRegistry none;
    Engine client(*world.store, none, world.options("client"));
    const InstanceId id = client.start("test").id;
    EXPECT_EQ(status(client, id), "running");
    engine->poll();
    EXPECT_EQ(status(client, id), "completed");
}

TEST_F(Start, of_a_workflow_that_calls_nothing_is_completed_at_once) {
    Definition empty = workflow({savepoint("here")});
    empty.name = "empty";
    engine->register_workflow(empty);
    const InstanceId id = engine->start("empty", Payload::text("5")).id;
    EXPECT_EQ(engine->wait(id, 0s).output, "5");
    EXPECT_EQ(engine->counters().finished, 1U);
}

TEST_F(Start, takes_the_newest_version_also_when_another_process_registers_it) {
    engine->start("test");
    const auto other = world.engine("w2");
    Definition next = workflow({step("a"), step("a2", {.is_compensated = false})});
    next.version = 2;
    other->register_workflow(next);
    world.clock.advance(100ms);
    const InstanceId id = engine->start("test").id;
    EXPECT_EQ(engine->find(id)->version, 2);
    EXPECT_EQ(
        engine->find(engine->start("test", Payload::text("1"), {.version = 1}).id)->version, 1
    );
}

TEST_F(Start, whose_answer_is_lost_is_repeated_and_creates_one_instance) {
    FaultyStore faulty(*world.memory);
    world.store = &faulty;
    const auto shaky = world.engine("w2");
    shaky->poll();
    faulty.plan({.kind = Fault::Kind::InDoubt, .nth = 1, .verb = StoreVerb::Start});
    const InstanceId id = shaky->start("test").id;
    EXPECT_TRUE(faulty.is_exhausted());
    EXPECT_EQ(engine->list().size(), 1U);
    shaky->poll();
    EXPECT_EQ(status(*shaky, id), "completed");
    EXPECT_EQ(world.calls_text(), "a");
}

TEST_F(Start, says_so_when_the_store_is_down) {
    FaultyStore faulty(*world.memory);
    world.store = &faulty;
    const auto shaky = world.engine("w2");
    faulty.plan({.kind = Fault::Kind::Unavailable, .nth = 1, .verb = StoreVerb::Start});
    EXPECT_EQ(code_of([&] { shaky->start("test"); }), ErrorCode::StoreUnavailable);
    EXPECT_TRUE(engine->list().empty());
}

TEST_F(Start, refuses_engine_options_that_cannot_be_right) {
    const auto make = [&](auto change) {
        return code_of([&] {
            EngineOptions options = world.options();
            change(options);
            Engine(*world.store, world.handlers, options);
        });
    };
    EXPECT_EQ(make([](EngineOptions& o) { o.lease = 0s; }), ErrorCode::InvalidArgument);
    const Duration least = EngineOptions::kLeaseMin;
    const Duration most = EngineOptions::kLeaseMax;
    const Duration tick = std::chrono::microseconds(1);
    EXPECT_EQ(make([=](EngineOptions& o) { o.lease = least - tick; }), ErrorCode::InvalidArgument);
    EXPECT_EQ(make([=](EngineOptions& o) { o.lease = most + tick; }), ErrorCode::InvalidArgument);
    EXPECT_NO_THROW(Engine(*world.store, world.handlers, {.lease = least}));
    EXPECT_NO_THROW(Engine(*world.store, world.handlers, {.lease = most}));
    EXPECT_EQ(make([](EngineOptions& o) { o.queues = {""}; }), ErrorCode::InvalidArgument);
    EXPECT_EQ(make([](EngineOptions& o) { o.queues = {"a", "b c"}; }), ErrorCode::InvalidArgument);
    EXPECT_EQ(make([](EngineOptions& o) { o.threads = -1; }), ErrorCode::InvalidArgument);
    EXPECT_EQ(make([](EngineOptions& o) { o.in_flight_max = 0; }), ErrorCode::InvalidArgument);
    EXPECT_EQ(make([](EngineOptions& o) { o.claim_batch_max = 0; }), ErrorCode::InvalidArgument);
    EXPECT_EQ(make([](EngineOptions& o) { o.claim_bytes_max = 0; }), ErrorCode::InvalidArgument);
    EXPECT_EQ(
        make([](EngineOptions& o) { o.claim_bytes_max = std::size_t{1} << 40; }),
        ErrorCode::InvalidArgument
    );
    EXPECT_EQ(make([](EngineOptions& o) { o.poll_max = 1us; }), ErrorCode::InvalidArgument);
    EXPECT_EQ(
        make([](EngineOptions& o) { o.payload_bytes_max = (8 << 20) + 1; }),
        ErrorCode::InvalidArgument
    );
}

}  // namespace
}  // namespace ebb::test
