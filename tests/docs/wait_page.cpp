// The C++ of docs/how-to/wait.md.

#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ebb/ebb.h>

namespace {

//! [open]
std::vector<std::string> open_decisions(ebb::Engine& engine) {
    std::vector<std::string> open;
    for (const auto& order : engine.list({.statuses = {ebb::InstanceStatus::Running}})) {
        for (const ebb::WaitingFor& wait : engine.show(order.id).waiting_for) {
            if (wait.kind == "decision") open.push_back(order.key + ": " + wait.sentence);
        }
    }
    return open;
}

//! [open]

//! [decide]
/// `user` is the signed-in user. The caller has checked that this user is a boss.
void answer(ebb::Engine& engine, const std::string& order, const std::string& user, bool is_good) {
    using Verdict = ebb::PersonalDecision::Verdict;
    const auto id = engine.find_key("order", order);
    if (!id) throw std::runtime_error("there is no order " + order);
    const Verdict verdict = is_good ? Verdict::Confirm : Verdict::Reject;
    engine.decide(*id, {.verdict = verdict, .by = user, .role = "boss"});
}

//! [decide]

TEST(WaitPage, people_decide_by_the_key_of_the_order) {
    const ebb::StorePtr store = ebb::open_memory_store();
    ebb::HandlerRegistry handlers;
    handlers.add("ship", [] {});
    ebb::Engine engine(*store, handlers);
    engine.register_workflow(
        ebb::WorkflowBuilder("order").decision("approve").roles({"boss"}).step("ship").build()
    );
    for (const char* key : {"good", "bad"}) engine.start("order", ebb::Payload(), {.key = key});
    engine.poll();
    EXPECT_EQ(open_decisions(engine).size(), 2U);
    answer(engine, "good", "eve", true);
    answer(engine, "bad", "eve", false);
    EXPECT_EQ(
        engine.wait(*engine.find_key("order", "good")).status, ebb::InstanceStatus::Completed
    );
    EXPECT_EQ(engine.wait(*engine.find_key("order", "bad")).status, ebb::InstanceStatus::Failed);
    EXPECT_TRUE(open_decisions(engine).empty());
    EXPECT_THROW(answer(engine, "none", "eve", true), std::runtime_error);
}

}  // namespace
