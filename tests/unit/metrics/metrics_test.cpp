// What the metrics count, without a server.

#include <sstream>
#include <thread>

#include <gmock/gmock.h>

#include <ebb/ebb.h>
#include <ebb/metrics.h>

#include "support/flow.h"

namespace ebb::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

struct MetricsWorld : ::testing::Test {
    ManualClock clock{TimePoint(std::chrono::hours(24 * 365 * 50))};
    StorePtr store = open_memory_store({.clock = &clock});
    HandlerRegistry handlers;
    MetricsOptions options{.clock = &clock};
    std::shared_ptr<Metrics> metrics;
    StorePtr measured;
    std::unique_ptr<Engine> engine;

    void begin() {
        metrics = make_metrics(options);
        measured = metrics->measure(*store);
        engine = std::make_unique<Engine>(
            *measured, handlers, EngineOptions{.worker_id = "w", .clock = &clock}
        );
        metrics->watch(*engine);
        metrics->watch_store(*engine);
    }

    void register_step(const std::string& workflow, const std::string& step) {
        engine->register_workflow(WorkflowBuilder(workflow).step(step).build());
    }

    void run(const std::string& workflow) {
        engine->start(workflow);
        engine->poll();
    }
};

TEST(Metrics, name_their_kinds) {
    std::ostringstream out;
    out << Metric::Kind::Counter << ' ' << Metric::Kind::Gauge;
    EXPECT_EQ(out.str(), "counter gauge");
}

TEST_F(MetricsWorld, a_call_is_measured_from_when_it_was_due) {
    handlers.add("work", [this] { clock.advance(2s); });
    begin();
    register_step("order", "work");
    engine->start("order");
    clock.advance(40s);
    engine->poll();
    const std::string text = metrics->text();
    EXPECT_THAT(text, HasSubstr("ebb_schedule_to_start_seconds_sum{queue=\"default\"} 40\n"));
    EXPECT_THAT(
        text, HasSubstr("ebb_step_duration_seconds_sum{step=\"work\",workflow=\"order\"} 2\n")
    );
    EXPECT_THAT(
        text,
        HasSubstr("ebb_instance_duration_seconds_sum{status=\"completed\",workflow=\"order\"} 42\n")
    );
}

TEST_F(MetricsWorld, names_beyond_the_limit_are_counted_as_other) {
    options.workflows_max = 2;
    handlers.add("work", [] {});
    begin();
    for (const char* name : {"a", "b", "c", "d"}) {
        register_step(name, "work");
        run(name);
        run(name);
    }
    const std::string text = metrics->text();
    EXPECT_THAT(text, HasSubstr("ebb_instances_started_total{workflow=\"b\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("ebb_instances_started_total{workflow=\"other\"} 4\n"));
    EXPECT_THAT(text, Not(HasSubstr("workflow=\"c\"")));
    EXPECT_THAT(text, HasSubstr("ebb_metric_values_dropped_total{label=\"workflow\"} 2\n"));
    EXPECT_THAT(
        text,
        HasSubstr(
            "ebb_step_attempts_total{outcome=\"completed\",step=\"work\",workflow=\"other\"} 4\n"
        )
    );
}

TEST_F(MetricsWorld, steps_beyond_the_limit_are_counted_as_other) {
    options.steps_max = 1;
    for (const char* name : {"one", "two", "three"}) handlers.add(name, [] {});
    begin();
    engine->register_workflow(WorkflowBuilder("order").step("one").step("two").step("three").build()
    );
    run("order");
    const std::string text = metrics->text();
    EXPECT_THAT(
        text,
        HasSubstr(
            "ebb_step_attempts_total{outcome=\"completed\",step=\"one\",workflow=\"order\"} 1\n"
        )
    );
    EXPECT_THAT(
        text, HasSubstr("ebb_step_duration_seconds_count{step=\"other\",workflow=\"order\"} 2\n")
    );
}

TEST_F(MetricsWorld, the_store_is_read_rarely_however_often_someone_asks) {
    handlers.add("work", [] {});
    begin();
    engine->register_workflow(WorkflowBuilder("asked").decision("approve").build());
    run("asked");
    EXPECT_THAT(
        metrics->text(), HasSubstr("ebb_instances{workflow=\"asked\",status=\"running\"} 1\n")
    );
    run("asked");
    clock.advance(14s);
    EXPECT_THAT(
        metrics->text(), HasSubstr("ebb_instances{workflow=\"asked\",status=\"running\"} 1\n")
    );
    clock.advance(1s);
    const std::string text = metrics->text();
    EXPECT_THAT(text, HasSubstr("ebb_instances{workflow=\"asked\",status=\"running\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("ebb_decisions_waiting{workflow=\"asked\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("ebb_decision_age_seconds_max{workflow=\"asked\"} 15\n"));
}

TEST_F(MetricsWorld, a_source_that_fails_leaves_the_others) {
    begin();
    metrics->add([]() -> std::vector<Metric> { throw std::runtime_error("no"); });
    metrics->add([] {
        return std::vector<Metric>{
            {.name = "shop_carts",
             .help = "Open \"carts\".",
             .values = {{.labels = {{"kind", "a\"b\\c\nd"}}, .value = 3}}}
        };
    });
    EXPECT_THAT(metrics->text(), HasSubstr("shop_carts{kind=\"a\\\"b\\\\c\\nd\"} 3\n"));
}

TEST_F(MetricsWorld, a_request_is_counted_by_its_route) {
    begin();
    for (const int status : {200, 200, 503}) {
        metrics->note({.method = "GET", .route = "/x/{id}", .status = status, .took = 3ms});
    }
    const std::string text = metrics->text();
    EXPECT_THAT(
        text,
        HasSubstr("http_server_request_duration_seconds_count{http_request_method=\"GET\","
                  "http_response_status_code=\"200\",http_route=\"/x/{id}\"} 2\n")
    );
    EXPECT_THAT(text, HasSubstr("{error_type=\"503\",http_request_method=\"GET\""));
}

TEST_F(MetricsWorld, they_may_be_read_while_an_engine_works) {
    handlers.add("work", [] {});
    begin();
    register_step("order", "work");
    std::jthread reader([this](const std::stop_token& stop) {
        while (!stop.stop_requested()) metrics->text();
    });
    engine->run();
    std::vector<InstanceId> ids;
    for (int i = 0; i < 200; ++i) ids.push_back(engine->start("order").id);
    for (const InstanceId& id : ids) engine->wait(id);
    reader.request_stop();
    reader.join();
    EXPECT_TRUE(engine->drain(10s));
    EXPECT_THAT(
        metrics->text(),
        HasSubstr("ebb_instances_finished_total{status=\"completed\",workflow=\"order\"} 200\n")
    );
}

}  // namespace
}  // namespace ebb::test
