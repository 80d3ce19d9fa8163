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

TEST_F(SpansTest, A_call_knows_the_span_that_its_attempt_will_have) {
    struct Tracing : Collected {
        std::string traceparent(const CallId& call) override { return traceparent_of(call, true); }
    };

    collected = std::make_shared<Tracing>();
    std::vector<std::string> given;
    handlers.add_raw("work", [&](const Payload&, const StepContext& context) {
        given.push_back(context.traceparent());
        clock.advance(2s);
        if (given.size() == 1) throw std::runtime_error("once");
        return Payload("1");
    });
    handlers.add_raw("undo", [&](const Payload&, const StepContext& context) {
        given.push_back(context.traceparent());
        return Payload("1");
    });

    const auto id =
        run(WorkflowBuilder("order").step("work").compensate("undo").fail("end").build());

    std::vector<std::string> sent;
    for (const Span& span : collected->spans) {
        const bool is_call =
            span.name.starts_with("attempt ") || span.name.starts_with("compensate ");
        if (is_call) sent.push_back("00-" + trace_id_of(id) + "-" + span.id + "-01");
    }
    EXPECT_THAT(given, SizeIs(3));
    EXPECT_EQ(given, sent);
}

TEST_F(SpansTest, A_call_has_no_trace_context_if_nothing_traces_it) {
    std::string given = "unknown";
    handlers.add_raw("work", [&](const Payload&, const StepContext& context) {
        given = context.traceparent();
        return Payload("1");
    });
    run(WorkflowBuilder("order").step("work").build());
    EXPECT_EQ(given, "");
}

TEST(RequestTrace, continues_the_trace_of_the_caller) {
    const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const RequestTrace sampled = request_trace("00-" + trace + "-00f067aa0ba902b7-01", 0);
    EXPECT_EQ(sampled.trace_id, trace);
    EXPECT_EQ(sampled.parent_id, "00f067aa0ba902b7");
    EXPECT_TRUE(sampled.is_sampled);
    EXPECT_THAT(sampled.span_id, SizeIs(16));
    EXPECT_FALSE(request_trace("00-" + trace + "-00f067aa0ba902b7-00", 1).is_sampled);
    EXPECT_EQ(request_trace("cc-" + trace + "-00f067aa0ba902b7-01-more", 1).trace_id, trace);
}

TEST(RequestTrace, begins_its_own_trace_without_a_valid_header) {
    const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const std::string zeros(32, '0');
    for (const std::string& header : {
             std::string(),
             std::string("nonsense"),
             "00-" + zeros + "-00f067aa0ba902b7-01",
             "00-" + trace + "-0000000000000000-01",
             "ff-" + trace + "-00f067aa0ba902b7-01",
             "00-" + trace + "-00F067AA0BA902B7-01",
             "00-" + trace + "-00f067aa0ba902b7-01-more",
             "00-" + trace + "-00f067aa0ba902b7-1",
             "00_" + trace + "-00f067aa0ba902b7-01",
         }) {
        const RequestTrace own = request_trace(header, 1);
        EXPECT_EQ(own.parent_id, "") << header;
        EXPECT_THAT(own.trace_id, SizeIs(32)) << header;
        EXPECT_NE(own.trace_id, trace) << header;
        EXPECT_TRUE(own.is_sampled);
        EXPECT_FALSE(request_trace(header, 0).is_sampled);
    }
}

TEST(RequestTrace, has_spans_by_the_conventions_for_http) {
    const RequestTrace trace = request_trace({}, 1);
    Span span = request_span(
        trace,
        {.method = "GET", .route = "/api/v1/instances/{id}", .scheme = "https", .status = 503}
    );
    EXPECT_EQ(span.name, "GET /api/v1/instances/{id}");
    EXPECT_EQ(span.id, trace.span_id);
    EXPECT_TRUE(span.is_error);
    const Json json = Json::parse(to_otlp(std::span(&span, 1), {}, "1"));
    const Json& sent = json["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    EXPECT_EQ(sent["kind"], 2);
    std::map<std::string, Json> attributes;
    for (const Json& each : sent["attributes"]) {
        attributes[each["key"].get<std::string>()] = *each["value"].begin();
    }
    EXPECT_EQ(attributes["http.request.method"], "GET");
    EXPECT_EQ(attributes["http.route"], "/api/v1/instances/{id}");
    EXPECT_EQ(attributes["http.response.status_code"], "503");
    EXPECT_EQ(attributes["url.scheme"], "https");
    EXPECT_EQ(attributes["error.type"], "503");
    EXPECT_FALSE(request_span(trace, {.method = "GET", .status = 404}).is_error);
}

TEST(RequestTrace, a_start_is_linked_to_the_trace_of_its_instance) {
    const RequestTrace trace = request_trace({}, 1);
    const InstanceId id = *InstanceId::parse("019e2b6c-1111-7222-8333-444455556666");
    const Span span = start_span(trace, "order", id);
    EXPECT_EQ(span.name, "start order");
    EXPECT_EQ(span.trace_id, trace.trace_id);
    EXPECT_EQ(span.parent_id, trace.span_id);
    const Json json = Json::parse(to_otlp(std::span(&span, 1), {}, "1"));
    const Json& sent = json["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    EXPECT_EQ(sent["kind"], 4);
    EXPECT_EQ(sent["links"][0]["traceId"], trace_id_of(id));
    EXPECT_NE(sent["spanId"], sent["links"][0]["spanId"]);
}

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

TEST_F(SpansTest, A_step_that_is_requeued_has_one_span_with_all_of_its_attempts) {
    bool is_broken = true;
    handlers.add("work", [&] {
        if (is_broken) throw PermanentError("broken");
    });
    const auto id =
        run(WorkflowBuilder("order").on_error(Definition::OnError::DeadLetter).step("work").build()
        );
    EXPECT_THAT(collected->names(), ElementsAre("attempt work")) << "the step has not ended";

    is_broken = false;
    Engine engine(*store, handlers, EngineOptions{.worker_id = "w", .clock = &clock});
    engine.add_observer(collected);
    engine.requeue(id);
    engine.poll();

    EXPECT_THAT(
        collected->names(),
        ElementsAre("attempt work", "attempt work", "step work", "workflow order")
    );
    const Span& step = collected->named("step work");
    EXPECT_EQ(collected->spans[0].parent_id, step.id);
    EXPECT_EQ(collected->spans[1].parent_id, step.id);
    EXPECT_EQ(step.start, collected->spans[0].start);
    EXPECT_FALSE(step.is_error);
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
