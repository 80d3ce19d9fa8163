// The C++ of docs/how-to/wait.md.

#include <chrono>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ebb/ebb.h>
#include <ebb/testing.h>

using namespace std::chrono_literals;

namespace {

//! [builder]
ebb::Definition loan_workflow() {
    return ebb::WorkflowBuilder("loan")
        .decision("board")
        .roles({"board"})
        .quorum(2)
        .deadline(72h, ebb::HumanDecision::OnDeadline::Reject)
        .signal("account")
        .deadline(24h * 30, ebb::Signal::OnDeadline::Continue)
        .delay("cooling_off", 24h)
        .step("pay")
        .build();
}

//! [builder]

//! [result]
struct ApprovedLoan {
    std::int64_t amount = 0;
    ebb::DecisionResult decision;
};
EBB_FIELDS(ApprovedLoan, amount, decision)

std::string pay(const ApprovedLoan& loan) {
    std::ostringstream out;
    out << "paid " << loan.amount << ", " << loan.decision.verdict << " by";
    for (const std::string& person : loan.decision.by) out << ' ' << person;
    return out.str();
}

//! [result]

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

TEST(WaitPage, a_handler_reads_who_decided) {
    ebb::testing::World world(
        ebb::WorkflowBuilder("loan").decision("board").quorum(2).step("pay").build()
    );
    world.handlers().add("pay", pay);
    const auto loan = world.start("loan", ebb::Payload::text(R"({"amount": 7})"));
    loan.decide({.by = "ann"}).decide({.by = "bob", .comment = "fine"});
    EXPECT_EQ(loan.output<std::string>(), "paid 7, confirmed by ann bob");
}

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

TEST(WaitPage, deadlines_have_the_outcomes_that_the_builder_names) {
    ebb::testing::World world(loan_workflow());
    world.start("loan").after(72h).expect(ebb::InstanceStatus::Failed);
    const auto loan = world.start("loan");
    loan.decide({.by = "ann", .role = "board"}).decide({.by = "bob", .role = "board"});
    loan.expect_waiting("account").after(24h * 30).expect_waiting("cooling_off");
    loan.after(24h).expect(ebb::InstanceStatus::Completed).expect_calls("pay");
}

}  // namespace
