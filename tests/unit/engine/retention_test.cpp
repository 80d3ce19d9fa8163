// How long instances are kept: what operators may say, what workers delete by it, and what people
// delete at once.

#include <gmock/gmock.h>

#include <ebb/error.h>

#include "engine/sweeper.h"
#include "engine_world.h"
#include "support/store_counting.h"
#include "support/store_faulty.h"
#include "support/uuid.h"

namespace ebb::test {
namespace {

using testing::CountingStore;
using ::testing::ElementsAre;
using testing::FaultyStore;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::StoreVerb;

struct RetentionTest : ::testing::Test {
    EngineWorld world;
    std::unique_ptr<Engine> engine;

    void SetUp() override {
        world.record({"a"});
        engine = world.engine();
        engine->register_workflow(workflow({step("a")}));
        engine->poll();
    }

    InstanceId finished(const std::string& key = {}) {
        const InstanceId id = engine->start("test", Payload::text("1"), {.key = key}).id;
        engine->poll();
        EXPECT_EQ(status(*engine, id), "completed");
        return id;
    }

    /// Time passes, and the worker does what is due.
    void pass(Duration time, Duration step = 1min) {
        for (; time > Duration::zero(); time -= step) {
            world.clock.advance(std::min(time, step));
            engine->poll();
        }
    }

    std::string refusal(std::string_view name, const Retention& keep) {
        try {
            engine->set_retention(name, keep);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
            return error.what();
        }
        return {};
    }
};

TEST_F(RetentionTest, keeps_everything_forever_without_a_rule) {
    const InstanceId id = finished();
    pass(24h * 3'000, 24h);
    EXPECT_TRUE(engine->find(id).has_value());
    EXPECT_THAT(engine->retention(), IsEmpty());
}

TEST_F(RetentionTest, lets_a_worker_delete_what_has_been_kept_long_enough) {
    const InstanceId id = finished("k");
    engine->set_retention("*", {.completed = 1h, .failed = 24h});
    pass(59min);
    EXPECT_TRUE(engine->find(id).has_value());
    pass(10min);
    EXPECT_FALSE(engine->find(id).has_value());
    EXPECT_THROW(engine->show(id), Error);
    EXPECT_FALSE(engine->find_key("test", "k").has_value());
    EXPECT_TRUE(engine->start("test", Payload::text("1"), {.key = "k"}).is_new);
}

TEST_F(RetentionTest, lets_workers_look_rarely_and_one_at_a_time) {
    CountingStore counting(*world.memory);
    world.store = &counting;
    const auto first = world.engine("first");
    const auto second = world.engine("second");
    const auto poll_for = [&](int minutes) {
        counting.reset();
        for (int i = 0; i < minutes; ++i) {
            world.clock.advance(1min);
            first->poll();
            second->poll();
        }
    };
    poll_for(60);
    EXPECT_LE(counting.calls(StoreVerb::Sweep), 2 * 60);
    EXPECT_EQ(counting.calls(StoreVerb::Purge), 0);
    finished();
    engine->set_retention("*", {.completed = 10h});
    poll_for(2);
    EXPECT_EQ(counting.calls(StoreVerb::Purge), 1);
    poll_for(55);
    EXPECT_EQ(counting.calls(StoreVerb::Purge), 0) << "each pass waits for a tenth of the time";
    poll_for(10);
    EXPECT_EQ(counting.calls(StoreVerb::Purge), 1);
}

TEST_F(RetentionTest, continues_page_by_page_with_pauses) {
    std::vector<Payload> inputs(2'500, "1");
    engine->start_all("test", inputs);
    engine->poll();
    engine->set_retention("test", {.completed = 10s});
    CountingStore counting(*world.memory);
    world.store = &counting;
    const auto sweeping = world.engine("sweeper");
    world.clock.advance(2min);
    for (int pages = 1; pages <= 3; ++pages) {
        sweeping->poll();
        EXPECT_EQ(counting.calls(StoreVerb::Purge), pages);
        sweeping->poll();
        EXPECT_EQ(counting.calls(StoreVerb::Purge), pages) << "at once";
        world.clock.advance(20ms);
    }
    EXPECT_THAT(engine->list(), IsEmpty());
}

TEST_F(RetentionTest, begins_again_where_a_worker_has_stopped_sweeping) {
    std::vector<Payload> inputs(2'500, "1");
    engine->start_all("test", inputs);
    engine->poll();
    engine->set_retention("test", {.completed = 10s});
    FaultyStore faulty(*world.memory);
    world.store = &faulty;
    {
        const auto first = world.engine("first");
        faulty.plan({.kind = testing::Fault::Kind::Unavailable, .nth = 2, .verb = StoreVerb::Purge}
        );
        world.clock.advance(2min);
        first->poll();
        world.clock.advance(20ms);
        first->poll();
        EXPECT_TRUE(faulty.is_exhausted());
        EXPECT_EQ(first->counters().store_errors, 1U);
    }
    const auto second = world.engine("second");
    for (int i = 0; i < 200; ++i) {
        world.clock.advance(1s);
        second->poll();
    }
    EXPECT_THAT(engine->list(), IsEmpty());
}

TEST_F(RetentionTest, takes_names_and_times_at_their_bounds_and_refuses_others) {
    const std::string longest(DefinitionLimits::kNameBytesMax, 'x');
    EXPECT_EQ(refusal(longest, {.completed = Retention::kMin}), "");
    EXPECT_EQ(refusal("*", {.failed = Retention::kMax}), "");
    EXPECT_THAT(refusal(longest + "x", {}), HasSubstr("is not a valid name of a workflow"));
    for (const char* name : {"", "a b", "1a", "**"}) {
        EXPECT_THAT(refusal(name, {}), HasSubstr("1 to 128 letters")) << name;
    }
    EXPECT_THAT(
        refusal("test", {.completed = 0s}),
        HasSubstr("Instances that have completed cannot be kept for 0s: it goes from 10s to")
    );
    EXPECT_THAT(refusal("test", {.completed = Retention::kMin - 1us}), HasSubstr("10s"));
    EXPECT_THAT(refusal("test", {.failed = Retention::kMax + 1us}), HasSubstr("not completed"));
    EXPECT_THAT(refusal("test", {.failed = -1s}), HasSubstr("less than no time"));
    EXPECT_EQ(engine->retention().size(), 2U) << "what was refused has changed nothing";
}

TEST_F(RetentionTest, of_a_workflow_holds_before_that_of_all_others_until_it_is_cleared) {
    const InstanceId id = finished();
    engine->set_retention("*", {.completed = 1h});
    engine->set_retention("test", {});
    pass(3h);
    EXPECT_TRUE(engine->find(id).has_value());
    EXPECT_TRUE(engine->clear_retention("test"));
    EXPECT_FALSE(engine->clear_retention("test"));
    pass(3min);
    EXPECT_FALSE(engine->find(id).has_value());
}

TEST_F(RetentionTest, purges_at_once_what_is_older_than_asked) {
    const InstanceId old = finished();
    world.clock.advance(2h);
    const InstanceId young = finished();
    engine->set_retention("test", {});
    PurgeOptions options{.older_than = 1h, .only_counts = true};
    const PurgeReport counted = engine->purge(options);
    EXPECT_EQ(counted.instances, 1);
    EXPECT_THAT(counted.counts, ElementsAre(PurgeCount{"test", "completed", 1}));
    EXPECT_TRUE(engine->find(old).has_value());
    options.only_counts = false;
    EXPECT_EQ(engine->purge(options).counts, counted.counts);
    EXPECT_FALSE(engine->find(old).has_value());
    EXPECT_TRUE(engine->find(young).has_value());
    options.older_than = 0s;
    EXPECT_EQ(engine->purge(options).instances, 1);
}

TEST_F(RetentionTest, purges_at_once_by_what_is_set) {
    finished();
    engine->set_retention("*", {.completed = 1h});
    world.clock.advance(2h);
    EXPECT_EQ(engine->purge({.workflow = "test", .only_counts = true}).instances, 1);
    engine->set_retention("test", {.completed = 3h});
    EXPECT_EQ(engine->purge({.workflow = "test"}).instances, 0);
    EXPECT_EQ(engine->purge({}).instances, 0);
    engine->clear_retention("test");
    EXPECT_EQ(engine->purge({}).instances, 1);
}

TEST_F(RetentionTest, tells_how_far_a_purge_is_and_stops_it_when_asked) {
    engine->start_all("test", std::vector<Payload>(2'500, "1"));
    engine->poll();
    std::vector<std::int64_t> told;
    PurgeOptions options{.older_than = 0s};
    options.on_progress = [&](const PurgeReport& report) {
        told.push_back(report.instances);
        return told.size() < 2;
    };
    const PurgeReport stopped = engine->purge(options);
    EXPECT_THAT(told, ElementsAre(1'000, 2'000));
    EXPECT_FALSE(stopped.is_finished);
    EXPECT_EQ(stopped.instances, 2'000);
    const PurgeReport rest = engine->purge(options);
    EXPECT_TRUE(rest.is_finished);
    EXPECT_EQ(rest.instances, 500);
}

TEST_F(RetentionTest, refuses_to_purge_without_a_rule_or_an_age) {
    const auto why = [&](const PurgeOptions& options) -> std::string {
        try {
            engine->purge(options);
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    };
    EXPECT_THAT(why({}), HasSubstr("There is no retention rule"));
    engine->set_retention("other", {.completed = 1h});
    EXPECT_THAT(why({.workflow = "test"}), HasSubstr("There is no retention rule"));
    EXPECT_THAT(why({.workflow = "tset", .older_than = 1h}), HasSubstr("There is no workflow"));
    EXPECT_THAT(why({.workflow = "*", .older_than = 1h}), HasSubstr("all are purged"));
    EXPECT_THAT(why({.older_than = -1us}), HasSubstr("from 0s"));
    EXPECT_THAT(why({.older_than = Retention::kMax + 1us}), HasSubstr("from 0s"));
    EXPECT_EQ(why({.older_than = Retention::kMax}), "");
}

}  // namespace
}  // namespace ebb::test
