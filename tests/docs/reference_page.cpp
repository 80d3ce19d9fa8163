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
