// Goal: two runs of one workflow_id share no idempotency key, and a run keeps its keys as long as
// it lives, in every text. Method: real engines whose handlers note the keys.

#include <set>

#include <ebb/builder.h>

#include "unit/stateless/stateless_world.h"

namespace ebb::test {
namespace {

using stateless::Engine;

class RunId : public ::testing::Test {
 protected:
    RunId() : engine_(handlers_) {
        const auto note = [this](const Payload& input, const StepContext& context) {
            keys_.push_back(context.idempotency_key);
            if (context.compensates) forward_.push_back(context.compensates->idempotency_key);
            return input;
        };
        handlers_.add_raw("pay", note);
        handlers_.add_raw("refund", note);
        handlers_.add_raw("ship", [this](const Payload&, const StepContext& context) -> Payload {
            keys_.push_back(context.idempotency_key);
            throw PermanentError("no");
        });
        WorkflowBuilder builder("order");
        builder.step("pay").compensate("refund");
        builder.step("ship");
        engine_.add(builder.build());
    }

    std::vector<std::string> keys_of(Snapshot snapshot) {
        keys_.clear();
        forward_.clear();
        engine_.execute(std::move(snapshot));
        return keys_;
    }

    HandlerRegistry handlers_;
    Engine engine_;
    std::vector<std::string> keys_;
    std::vector<std::string> forward_;
};

TEST_F(RunId, two_runs_of_one_workflow_id_share_no_key) {
    std::set<std::string> all;
    for (int run = 0; run < 2; ++run) {
        const std::vector<std::string> keys =
            keys_of(engine_.start("order", {}, {.workflow_id = "order-17"}));
        ASSERT_EQ(keys.size(), 3U);
        all.insert(keys.begin(), keys.end());
        EXPECT_EQ(forward_, std::vector<std::string>{keys.front()})
            << "a compensation gets the key of its step";
    }
    EXPECT_EQ(all.size(), 6U);
}

TEST_F(RunId, a_run_has_its_keys_in_every_text) {
    const Snapshot snapshot = engine_.start("order", {}, {.workflow_id = "order-17"});
    EXPECT_EQ(json_of(snapshot).at("runId"), snapshot.run_id());
    EXPECT_EQ(json_of(snapshot).at("formatVersion"), 2);
    const Snapshot read = engine_.parse(snapshot.to_json());
    EXPECT_EQ(read.run_id(), snapshot.run_id());
    EXPECT_EQ(read.to_json(), snapshot.to_json());
    Json json = json_of(snapshot);
    json["state"]["unknown"] = 1;  // so that it is read the slow way
    EXPECT_EQ(engine_.parse(json.dump()).run_id(), snapshot.run_id());
    EXPECT_EQ(keys_of(read), keys_of(snapshot));
    EXPECT_TRUE(keys_.front().starts_with(snapshot.run_id()));
}

TEST_F(RunId, an_id_that_ebb_makes_is_that_of_the_run) {
    const Snapshot snapshot = engine_.start("order");
    EXPECT_EQ(snapshot.run_id(), snapshot.workflow_id());
}

TEST_F(RunId, can_be_given) {
    const auto run = InstanceId::parse("01900000-0000-7000-8000-000000000001");
    const stateless::StartOptions options{
        .workflow_id = "order-17", .run_id = run, .now = TimePoint{}
    };
    const Snapshot snapshot = engine_.start("order", {}, options);
    EXPECT_EQ(snapshot.run_id(), run->to_string());
    EXPECT_EQ(engine_.start("order", {}, options).to_json(), snapshot.to_json());
}

TEST_F(RunId, is_not_needed_to_read_a_snapshot_of_before) {
    Json json = json_of(engine_.start("order", {}, {.workflow_id = "order-17"}));
    json.erase("runId");
    json["formatVersion"] = 1;
    const Snapshot old = engine_.parse(json.dump());
    EXPECT_EQ(old.run_id(), "");
    const std::string text = old.to_json();
    EXPECT_EQ(engine_.parse(text).to_json(), text);
    EXPECT_FALSE(Json::parse(text).contains("runId"));
    EXPECT_EQ(keys_of(old).front(), old.instance().to_string() + ":1")
        << "a step that was called before keeps its key";
}

}  // namespace
}  // namespace ebb::test
