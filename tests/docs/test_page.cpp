// The C++ of docs/how-to/test.md: it is a test itself.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ebb/ebb.h>

namespace {

using namespace std::chrono_literals;

//! [workflow]
ebb::Definition invoice_workflow() {
    return ebb::WorkflowBuilder("invoice")
        .step("send")
        .compensate("credit")
        .delay("due", 24h * 30)
        .step("collect")
        .max_attempts(4)
        .backoff({.initial = 1h, .max = 24h})
        .build();
}

//! [workflow]

//! [world]
class InvoiceTest : public testing::Test {
 protected:
    InvoiceTest() {
        handlers_.add("send", [this](const std::string& to) { calls_.push_back("send " + to); });
        handlers_.add("collect", [this](const std::string& to) {
            calls_.push_back("collect " + to);
            if (--failures_ >= 0) throw std::runtime_error("the bank is closed");
        });
        handlers_.add("credit", [this](const ebb::Json&) { calls_.push_back("credit"); });
        engine_.register_workflow(invoice_workflow());
    }

    /// Does what is due, then moves the clock to what is due next, until nothing is.
    void run_until_idle() {
        engine_.poll();
        while (engine_.next_due() != ebb::kNever) {
            clock_.set(std::max(clock_.now(), engine_.next_due()));
            engine_.poll();
        }
    }

    ebb::ManualClock clock_{ebb::TimePoint(std::chrono::sys_days(2026y / 1 / 31))};
    ebb::StorePtr store_ = ebb::open_memory_store({.clock = &clock_});
    ebb::HandlerRegistry handlers_;
    ebb::Engine engine_{*store_, handlers_};
    std::vector<std::string> calls_;
    int failures_ = 0;
};

//! [world]

//! [tests]
TEST_F(InvoiceTest, collects_after_thirty_days) {
    const auto id = engine_.start("invoice", "\"ann\"").id;
    const ebb::TimePoint sent = clock_.now();
    run_until_idle();
    EXPECT_EQ(engine_.find(id)->status, "completed");
    EXPECT_EQ(clock_.now() - sent, 24h * 30);
    EXPECT_EQ(calls_, (std::vector<std::string>{"send ann", "collect ann"}));
}

TEST_F(InvoiceTest, survives_a_bank_that_is_closed) {
    failures_ = 3;
    const auto id = engine_.start("invoice", "\"ann\"").id;
    run_until_idle();
    EXPECT_EQ(engine_.find(id)->status, "completed");
}

TEST_F(InvoiceTest, credits_what_cannot_be_collected) {
    failures_ = 4;
    const auto id = engine_.start("invoice", "\"ann\"").id;
    run_until_idle();
    EXPECT_EQ(engine_.find(id)->status, "failed");
    EXPECT_EQ(calls_.back(), "credit");
}

//! [tests]

}  // namespace
