// What a C++ program meets first: one clock, values, and what the engine says of itself.

#include <limits>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ebb/ebb.h>
#include <ebb/format.h>
#include <ebb/rehearsal.h>
#include <ebb/stored_run.h>

namespace ebb::test {
namespace {

using namespace std::chrono_literals;

TEST(FrontDoor, the_engine_goes_by_the_clock_of_its_store) {
    for (const int year : {1990, 2026, 2090}) {
        ManualClock clock(TimePoint(std::chrono::sys_days(std::chrono::year(year) / 3 / 1)));
        const StorePtr store = open_memory_store({.clock = &clock});
        HandlerRegistry handlers;
        handlers.add("a", [] { return 1; });
        Engine engine(*store, handlers);
        engine.register_workflow(WorkflowBuilder("w").deadline(1h).step("a").build());
        EXPECT_EQ(engine.wait<int>(engine.start("w").id, 0s), 1) << year;
    }
}

TEST(FrontDoor, refuses_a_clock_that_is_not_the_stores) {
    ManualClock clock(TimePoint(std::chrono::hours(1)));
    const StorePtr store = open_memory_store();
    const HandlerRegistry handlers;
    try {
        Engine engine(*store, handlers, {.clock = &clock});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
        EXPECT_NE(
            std::string(error.what()).find("open_memory_store({.clock = &clock})"),
            std::string::npos
        );
    }
    const SystemClock system;
    EXPECT_NO_THROW(Engine(*store, handlers, {.clock = &system}));
}

TEST(FrontDoor, lists_what_exists_and_what_is_missing) {
    const StorePtr store = open_memory_store();
    HandlerRegistry handlers;
    handlers.add("a", [](int value) { return value + 1; });
    Engine engine(*store, handlers);
    const auto first = engine.register_workflow(WorkflowBuilder("w").step("a").build());
    EXPECT_TRUE(first.unserved_handlers.empty());
    const auto second = engine.register_workflow(
        WorkflowBuilder("v").step("b", {.compensate = "undo"}).step("a").build()
    );
    EXPECT_EQ(second.unserved_handlers, (std::vector<std::string>{"b", "undo"}));
    ASSERT_EQ(engine.workflows().size(), 2U);
    EXPECT_EQ(engine.workflows()[1].name, "w");
    EXPECT_EQ(engine.wait<int>(engine.start("w", 6).id, 1s), 7);
    EXPECT_EQ(
        engine.stats(),
        (std::vector<InstanceCount>{
            {.workflow = "w", .status = InstanceStatus::Completed, .count = 1}
        })
    );
}

TEST(FrontDoor, ids_and_statuses_print_format_and_parse) {
    const auto id = InstanceId::parse("0193b7c2-0000-7000-8000-000000000001").value();
    std::ostringstream out;
    out << id << ' ' << InstanceStatus::DeadLetter;
    EXPECT_EQ(out.str(), "0193b7c2-0000-7000-8000-000000000001 dead_letter");
    EXPECT_EQ(fmt::format("{} {:>9}", id, InstanceStatus::Failed), id.to_string() + "    failed");
    EXPECT_EQ(Payload::of(id).as<InstanceId>(), id);
    EXPECT_EQ(Payload::of(InstanceStatus::Paused), R"("paused")");
    EXPECT_THROW(static_cast<void>(Payload::of("x").as<InstanceId>()), Error);
    EXPECT_EQ(parse_status("moved"), InstanceStatus::Moved);
}

template <typename Enum>
void expect_name(Enum value, const std::string& name) {
    std::ostringstream out;
    out << value;
    EXPECT_EQ(out.str(), name);
    EXPECT_EQ(fmt::format("{:>1}", value), name);
}

TEST(FrontDoor, every_enum_with_a_name_prints_and_formats) {
    expect_name(StepStatus::CompensationFailed, "compensation_failed");
    expect_name(ErrorCode::NotWaiting, "not_waiting");
    expect_name(Diagnostic::Severity::Warning, "warning");
    expect_name(LogLevel::Info, "info");
    expect_name(LabelType::Bool, "bool");
    expect_name(TraceEntry::Kind::ByHandler, "handler");
    expect_name(RehearsedOutcome::Kind::FailForGood, "fail_for_good");
    expect_name(CompensatedStep::Outcome::Unknown, "unknown");
    expect_name(PersonalDecision::Verdict::Reject, "reject");
    expect_name(DecisionResult::Verdict::Rejected, "rejected");
    expect_name(stateless::SnapshotStatus::Active, "active");
    expect_name(stateless::SaveResult::Kind::NotFound, "not_found");
    expect_name(stateless::StoredRun::Kind::Lost, "lost");
    expect_name(Definition::OnError::DeadLetter, "dead_letter");
    expect_name(Backoff::Strategy::Linear, "linear");
    expect_name(Parallel::Losers::Keep, "keep");
    expect_name(HumanDecision::OnDeadline::Confirm, "confirm");
    expect_name(Signal::OnDeadline::Continue, "continue");
    expect_name(Savepoint::OnRollback::Resume, "resume");
    expect_name(NodeGraph::Unmatched::Complete, "complete");
    expect_name(AttributeType::Document, "json");
    expect_name(Trigger::Mode::Once, "once");
    expect_name(Rules::OnException::Handle, "handle");
    expect_name(Rules::OnIdle::Wait, "wait");
    expect_name(Rules::FinalWhilePending::Stop, "stop");
    expect_name(Rules::ExternalWrites::None, "none");
    expect_name(Rules::Evolution::Follow, "follow");
}

TEST(FrontDoor, braces_mean_no_options) {
    const StorePtr store = open_memory_store();
    HandlerRegistry handlers;
    Engine engine(*store, handlers);
    engine.register_workflow(WorkflowBuilder("w").signal("go").signal("on").build());
    const InstanceId id = engine.start("w", {}, {}).id;
    engine.poll();
    EXPECT_TRUE(engine.pause(id, {}));
    EXPECT_TRUE(engine.resume(id, {}));
    EXPECT_TRUE(engine.pause(id, {"ann"}));
    EXPECT_TRUE(engine.resume(id, "ann"));
    engine.signal(id, "go", {}, {});
    engine.signal(id, "go", 1, "repeated");
    engine.signal(id, "go", Payload::text("1"), std::string("repeated"));
    engine.signal(id, "go", 1, {.request_id = "repeated"});
    EXPECT_TRUE(engine.cancel(id, {}));
    EXPECT_FALSE(engine.cancel(id, std::string("ann"), "again"));
    EXPECT_EQ(engine.find(id)->status, InstanceStatus::Cancelled);
    int received = 0;
    for (const HistoryEntry& entry : engine.history(id))
        received += entry.type == "signal_received";
    EXPECT_EQ(received, 2) << "one of the request id, and one without";
}

TEST(FrontDoor, a_json_that_has_a_number_that_json_does_not_have_is_refused) {
    const StorePtr store = open_memory_store();
    HandlerRegistry handlers;
    handlers.add("a", [](const Json&) {
        return Json{{"sums", {1.5, std::numeric_limits<double>::quiet_NaN()}}};
    });
    Engine engine(*store, handlers);
    engine.register_workflow(WorkflowBuilder("w").step("a").build());
    const double infinity = std::numeric_limits<double>::infinity();
    try {
        engine.start("w", Json{{"a", {{"b", -infinity}}}});
        ADD_FAILURE() << "it was started";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidPayload);
        EXPECT_STREQ(
            error.what(),
            "The value cannot be written as JSON: \"/a/b\" is an infinity, which JSON does not "
            "have."
        );
    }
    EXPECT_THROW(static_cast<void>(Payload(nlohmann::ordered_json(infinity))), Error);
    const Result result = engine.wait(engine.start("w").id, 0s);
    EXPECT_EQ(result.status, InstanceStatus::Failed);
    const Json failure = result.error.as<Json>();
    EXPECT_EQ(failure.at("code"), "invalid_output");
    EXPECT_NE(
        failure.at("message").get<std::string>().find("\"/sums/1\" is NaN"), std::string::npos
    ) << failure;
}

TEST(FrontDoor, a_worker_id_is_one_word) {
    const StorePtr store = open_memory_store();
    const HandlerRegistry handlers;
    for (const char* good : {"shop-1", "k\u00f6ln:7/a"}) {
        EXPECT_EQ(Engine(*store, handlers, {.worker_id = good}).worker_id(), good);
    }
    for (const std::string& bad :
         {std::string("my worker"), std::string("a\n"), std::string("a\xff"), std::string(201, 'a')
         }) {
        try {
            Engine(*store, handlers, {.worker_id = bad});
            ADD_FAILURE() << bad;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
            EXPECT_NE(
                std::string(error.what())
                    .find("The engine option worker_id must be at most 200 bytes of UTF-8 text "
                          "without spaces and control characters, not \""),
                std::string::npos
            ) << error.what();
        }
    }
}

TEST(FrontDoor, defaults_are_for_all_steps_that_do_not_say_otherwise) {
    const Definition definition =
        WorkflowBuilder("w")
            .defaults({.attempts = {.max_attempts = 7, .timeout = 5s}, .queue = "slow"})
            .step("a", {.compensate = "undo"})
            .step("b", {.attempts = {.max_attempts = 2}, .queue = "q"})
            .step("c", {.non_idempotent = true})
            .step("d", {.attempts = {.max_attempts = 3, .timeout = 0s}})
            .compensate("undo", {.max_attempts = 3})
            .build();
    const auto step = [&](std::size_t i) { return std::get<Step>(definition.steps.at(i).kind); };
    EXPECT_EQ(step(0).attempts.max_attempts, 7);
    EXPECT_EQ(step(0).attempts.timeout, 5s);
    EXPECT_EQ(step(0).compensate->attempts.max_attempts, 7);
    EXPECT_EQ(step(0).queue, "slow");
    EXPECT_EQ(step(1).attempts.max_attempts, 2);
    EXPECT_EQ(step(1).attempts.timeout, 5s);
    EXPECT_EQ(step(1).queue, "q");
    EXPECT_EQ(step(2).attempts.max_attempts, 1);
    // A value that is also Ebb's own default is a step's own value if it is given.
    EXPECT_EQ(step(3).attempts.max_attempts, 3);
    EXPECT_EQ(step(3).attempts.timeout, 0s);
    EXPECT_EQ(step(3).compensate->attempts.max_attempts, 3);
    EXPECT_EQ(step(3).compensate->attempts.timeout, 5s);
}

TEST(FrontDoor, a_steps_metadata_is_for_its_handler_and_its_templates) {
    const StorePtr store = open_memory_store();
    HandlerRegistry handlers;
    handlers.add("a", [](const Json& input, const StepContext& context) {
        return Json{{"input", input}, {"team", context.metadata.as<Json>().at("team")}};
    });
    Engine engine(*store, handlers);
    engine.register_workflow(
        WorkflowBuilder("w")
            .step("a", {.input = R"("${ metadata.team }")", .metadata = R"({"team":"ops"})"})
            .build()
    );
    const Json output = engine.wait<Json>(engine.start("w").id, 1s);
    EXPECT_EQ(output, (Json{{"input", "ops"}, {"team", "ops"}}));
}

}  // namespace
}  // namespace ebb::test
