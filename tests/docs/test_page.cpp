// The C++ of docs/how-to/test.md: it is a test itself.

#include <map>
#include <string>

#include <gtest/gtest.h>

//! [include]
#include <ebb/ebb.h>
#include <ebb/testing.h>

//! [include]

namespace {

//! [workflow]
using namespace std::chrono_literals;

ebb::Definition invoice_workflow() {
    return ebb::WorkflowBuilder("invoice")
        .step("send", {.compensate = "credit"})
        .delay("due", 24h * 30)
        .step("collect")
        .max_attempts(4)
        .backoff({.initial = 1h, .max = 24h})
        .build();
}

//! [workflow]

//! [tests]
TEST(Invoice, is_collected_after_thirty_days) {
    ebb::testing::World world(invoice_workflow());
    auto invoice = world.start("invoice", ebb::Payload::of("ann"));
    invoice.expect_calls("send").expect_waiting("due");
    invoice.after(24h * 30).expect(ebb::InstanceStatus::Completed).expect_calls("send collect");
}

TEST(Invoice, survives_a_bank_that_is_closed) {
    ebb::testing::World world(invoice_workflow());
    world.on("collect").fails("the bank is closed").times(3).returns(4200);
    auto invoice = world.start("invoice", ebb::Payload::of("ann")).to_end();
    invoice.expect_calls("send collect! collect! collect! collect");
    EXPECT_EQ(invoice.output<int>(), 4200);
}

TEST(Invoice, is_credited_if_it_cannot_be_collected) {
    ebb::testing::World world(invoice_workflow());
    world.on("collect").fails_for_good("no such account", "no_account");
    world.start("invoice", ebb::Payload::of("ann"))
        .to_end()
        .expect(ebb::InstanceStatus::Failed)
        .expect_compensated({"send"});
}

//! [tests]

//! [real]
TEST(Invoice, calls_the_real_handlers) {
    std::string sent_to;
    ebb::testing::World world(invoice_workflow());
    world.handlers().add("send", [&](const std::string& customer) { sent_to = customer; });
    world.start("invoice", ebb::Payload::of("ann"));
    EXPECT_EQ(sent_to, "ann");
}

//! [real]

//! [crash]
TEST(Invoice, collects_once_wherever_the_process_dies) {
    ebb::testing::crash_everywhere([](ebb::testing::World& world) {
        std::map<std::string, int> books;
        world.handlers().add("collect", [&](const ebb::StepContext& context) {
            books.try_emplace(context.idempotency_key, 4200);
        });
        world.add(invoice_workflow());
        world.start("invoice", ebb::Payload::of("ann")).to_end();
        return books.size();
    });
}

//! [crash]

}  // namespace
