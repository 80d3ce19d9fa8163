// The C++ of the reference pages and of docs/how-to/diagrams.md, compiled and called.

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <ebb/diagram.h>
#include <ebb/ebb.h>
#include <ebb/handlers.h>

namespace {

ebb::Definition order_workflow() {
    //! [builder]
    using namespace std::chrono_literals;

    const ebb::Definition order =
        ebb::WorkflowBuilder("order", 2)
            .deadline(24h * 7)
            .step("reserve", {.compensate = "release"})
            .step("charge")
            .compensate("refund")
            .max_attempts(5)
            .condition(
                "big",
                "workflow.input.amount > 100",
                [](ebb::BlockBuilder& then) {
                    then.decision("approve").roles({"boss"}).deadline(
                        48h, ebb::HumanDecision::OnDeadline::Reject
                    );
                }
            )
            .parallel(
                "ship",
                {
                    {"parcel", [](ebb::BlockBuilder& branch) { branch.step("pack").step("send"); }},
                    {"letter", [](ebb::BlockBuilder& branch) { branch.step("print").step("post"); }
                    },
                }
            )
            .step("confirm")
            .build();
    //! [builder]
    return order;
}

TEST(ReferencePage, the_builders_example_is_valid) {
    EXPECT_TRUE(ebb::validate(order_workflow()).empty());
}

/// The functions of the table below the example, as they are written there.
TEST(ReferencePage, the_functions_of_the_builder_are_as_the_table_says) {
    using namespace std::chrono_literals;
    const auto parcel = [](ebb::BlockBuilder& block) { block.step("parcel"); };
    const auto letter = [](ebb::BlockBuilder& block) { block.step("letter"); };
    const auto freight = [](ebb::BlockBuilder& block) { block.step("freight"); };
    const auto nodes = [](ebb::BlockBuilder& block) {
        block.step("draft").step("check").step("publish");
    };
    const ebb::Definition all =
        ebb::WorkflowBuilder("all")
            .step("charge", {.compensate = "refund"})
            .handler("pay")
            .input(R"({"id": "${ input.id }"})")
            .max_attempts(5)
            .backoff({.initial = 2s})
            .timeout(10s)
            .condition("big", "input.amount > 100", [](auto& block) { block.step("big_step"); })
            .switch_on("size", {{"input.kg > 30", freight}, {"input.kg > 2", parcel}}, letter)
            .parallel(
                "ship",
                {{"parcel", [](auto& block) { block.step("pack"); }},
                 {"letter", [](auto& block) { block.step("print"); }}}
            )
            .join_any()
            .keep_losers()
            .loop_while("more", "input.left > 0", [](auto& block) { block.step("turn"); })
            .max_iterations(10)
            .loop_until("done", "input.left == 0", [](auto& block) { block.step("other_turn"); })
            .delay("wait", 24h)
            .delay("wait_for", "${ input.after }")
            .delay_until("wait_until", "${ input.date }")
            .decision("approve")
            .roles({"boss"})
            .quorum(2)
            .deadline(48h)
            .on_reject([](auto& block) {
                block.fail("refused", "The board refused ${ workflow.input.amount }.");
            })
            .signal("paid")
            .schema(ebb::Payload::text(R"({"type": "object"})"))
            .deadline(24h, ebb::Signal::OnDeadline::Continue)
            .savepoint("saved")
            .resume(2)
            .graph("review", nodes)
            .edge("draft", "check")
            .edge("check", "long", "publish")
            .edge("check", "draft")
            .build();
    EXPECT_TRUE(ebb::validate(all).empty());
}

TEST(ReferencePage, registers_the_handlers_of_a_definition) {
    const ebb::Definition definition = ebb::parse_definition_json(
        R"({"workflow": "touch", "handlers": {"touch": {"exec": ["touch"]}}, "steps": ["touch"]})"
    );
    //! [handlers]
    ebb::HandlerRegistry registry;
    const std::filesystem::path directory = "/etc/orders";  // what relative paths are meant from
    ebb::register_definition_handlers(registry, definition, directory);
    //! [handlers]
    EXPECT_NE(registry.find("touch"), nullptr);
}

TEST(DiagramsPage, draws_a_definition) {
    const ebb::Definition definition = order_workflow();
    //! [svg]
    const std::string svg = ebb::to_svg(definition);
    //! [svg]
    EXPECT_TRUE(svg.starts_with("<svg"));
}

TEST(DiagramsPage, marks_an_instance) {
    const ebb::Definition definition = ebb::WorkflowBuilder("pay").step("charge").build();
    const auto store = ebb::open_memory_store();
    ebb::HandlerRegistry handlers;
    handlers.add("charge", [](int) -> int { throw ebb::PermanentError("no_money", "empty"); });
    ebb::Engine engine(*store, handlers);
    engine.register_workflow(definition);
    const ebb::InstanceId id = engine.start("pay", ebb::Payload::text("1")).id;
    engine.wait(id, std::chrono::seconds(1));
    //! [marks]
    ebb::DiagramOptions options;
    options.marks = ebb::marks_of(engine.show(id));
    const std::string text = ebb::to_text(definition, options);
    //! [marks]
    EXPECT_NE(text.find("no_money"), std::string::npos) << text;
}

}  // namespace
