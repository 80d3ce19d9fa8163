// Goal: the spans of an instance form one tree with the right times, whichever process makes them.
// Method: a real engine with a manual clock, and an observer that collects spans instead of sending
// them.

#include "plugins/telemetry/spans.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <ebb/ebb.h>

namespace ebb::telemetry {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Collected : public Observer {
 public:
    void on_committed(const InstanceSummary& instance, std::span<const HistoryEntry> events)
        override {
        for (Span& span : maker_.make(instance, events)) spans.push_back(std::move(span));
    }

    const Span& named(const std::string& name) const {
        for (const Span& span : spans) {
            if (span.name == name) return span;
        }
        throw std::runtime_error("there is no span " + name);
    }

    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const Span& span : spans) names.push_back(span.name);
        return names;
    }

    std::vector<Span> spans;

 private:
    SpanMaker maker_;
};

struct SpansTest : ::testing::Test {
    ManualClock clock{TimePoint(std::chrono::hours(24 * 365 * 50))};
    StorePtr store = open_memory_store({.clock = &clock});
    HandlerRegistry handlers;
    std::shared_ptr<Collected> collected = std::make_shared<Collected>();

    InstanceId run(const Definition& definition) {
        Engine engine(*store, handlers, EngineOptions{.worker_id = "w", .clock = &clock});
        engine.add_observer(collected);
        engine.register_workflow(definition);
        const auto id = engine.start(definition.name).id;
        for (int i = 0; i < 20; ++i) {
            engine.poll();
            clock.advance(10s);
        }
        return id;
    }
};

TEST_F(SpansTest, A_step_has_its_attempt_below_it_and_the_instance_above_it) {
    handlers.add("work", [this] { clock.advance(2s); });

    const auto id = run(WorkflowBuilder("order").step("work").build());

    EXPECT_THAT(collected->names(), ElementsAre("attempt work", "step work", "workflow order"));
    const Span& root = collected->named("workflow order");
    const Span& step = collected->named("step work");
    const Span& attempt = collected->named("attempt work");
    EXPECT_EQ(root.trace_id, trace_id_of(id));
    EXPECT_THAT(root.trace_id, SizeIs(32));
    EXPECT_THAT(root.id, SizeIs(16));
    EXPECT_EQ(root.parent_id, "");
    EXPECT_EQ(step.parent_id, root.id);
    EXPECT_EQ(attempt.parent_id, step.id);
    EXPECT_EQ(attempt.end - attempt.start, 2s);
    EXPECT_EQ(step.start, attempt.start);
    EXPECT_FALSE(root.is_error);
}

TEST_F(SpansTest, A_step_that_is_tried_again_begins_with_its_first_attempt) {
    int calls = 0;
    handlers.add("work", [&] {
        if (++calls < 3) throw std::runtime_error("not yet");
    });

    run(WorkflowBuilder("order").step("work").max_attempts(3).build());

    EXPECT_THAT(
        collected->names(),
        ElementsAre("attempt work", "attempt work", "attempt work", "step work", "workflow order")
    );
    EXPECT_TRUE(collected->spans[0].is_error);
    EXPECT_EQ(collected->spans[0].message, "not yet");
    EXPECT_NE(collected->spans[0].id, collected->spans[1].id);
    EXPECT_EQ(collected->named("step work").start, collected->spans[0].start);
    EXPECT_FALSE(collected->named("step work").is_error);
}

TEST_F(SpansTest, Compensations_are_spans_of_the_instance_and_its_failure_is_an_error) {
    handlers.add("book", [] {});
    handlers.add("cancel", [] {});
    handlers.add("pay", [] { throw PermanentError("no money"); });

    run(WorkflowBuilder("trip").step("book").compensate("cancel").step("pay").build());

    const Span& root = collected->named("workflow trip");
    const Span& undo = collected->named("compensate book");
    EXPECT_TRUE(root.is_error);
    EXPECT_EQ(undo.parent_id, root.id);
    EXPECT_FALSE(undo.is_error);
    EXPECT_TRUE(collected->named("step pay").is_error);
}

TEST_F(SpansTest, The_payloads_of_steps_are_not_sent) {
    handlers.add("work", [] { return std::string("s3cret-output"); });

    run(WorkflowBuilder("order").step("work").build());

    EXPECT_EQ(to_otlp(collected->spans, {}, "1").find("s3cret-output"), std::string::npos);
}

TEST(Sampling, takes_the_given_share_and_the_same_instances_everywhere) {
    EXPECT_TRUE(is_sampled(*InstanceId::parse("018f0000-0000-7000-8000-000000000000"), 1));
    EXPECT_TRUE(is_sampled(*InstanceId::parse("018f0000-0000-7000-8080-000000000000"), 0.5));
    EXPECT_FALSE(is_sampled(*InstanceId::parse("018f0000-0000-7000-807f-ffffffffffff"), 0.5));
    EXPECT_FALSE(is_sampled(*InstanceId::parse("018f0000-0000-7000-80ff-ffffffffffff"), 0));
}

TEST(Otlp, has_the_shape_that_collectors_read) {
    const Span span{
        .trace_id = "0123",
        .id = "45",
        .parent_id = "",
        .name = "workflow a",
        .start = TimePoint(1'000'001us),
        .end = TimePoint(2'000'000us),
        .attributes = {{"ebb.workflow.version", std::int64_t{3}}},
        .is_error = true,
        .message = "it \"broke\"",
    };

    const auto json = nlohmann::json::parse(to_otlp({&span, 1}, {{"service.name", "shop"}}, "1.2"));

    const auto& resource = json["resourceSpans"][0];
    EXPECT_EQ(resource["resource"]["attributes"][0]["key"], "service.name");
    EXPECT_EQ(resource["resource"]["attributes"][0]["value"]["stringValue"], "shop");
    EXPECT_EQ(resource["scopeSpans"][0]["scope"]["version"], "1.2");
    const auto& sent = resource["scopeSpans"][0]["spans"][0];
    EXPECT_EQ(sent["startTimeUnixNano"], "1000001000");
    EXPECT_EQ(sent["endTimeUnixNano"], "2000000000");
    EXPECT_EQ(sent["attributes"][0]["value"]["intValue"], "3");
    EXPECT_EQ(sent["status"]["code"], 2);
    EXPECT_EQ(sent["status"]["message"], "it \"broke\"");
    EXPECT_FALSE(sent.contains("parentSpanId"));
}

}  // namespace
}  // namespace ebb::telemetry
