// `ebb diagram order.cpp`, `ebb validate order.cpp` and `ebb diff` with files of C++.

#include "cli_world.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

constexpr std::string_view kExact = R"cpp(#include <ebb/ebb.h>

                                          ebb::Definition order() {
                                              return ebb::WorkflowBuilder("order", 2)
                                                  .step("reserve")
                                                  .compensate("release")
                                                  .step("charge")
                                                  .build();
                                          }
)cpp";

constexpr std::string_view kTwo = R"cpp(
    auto a() {
        return ebb::WorkflowBuilder("one").step("x").build();
    }

    auto b(const std::string& name) {
        return ebb::WorkflowBuilder("two").step(name).build();
    }
)cpp";

TEST(CliCppFile, is_drawn) {
    CliWorld world;
    const Outcome outcome = world.run({"diagram", world.file("order.cpp", kExact)});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "order v2\n├─ ■ reserve  ↩ release\n└─ ■ charge\n");
}

TEST(CliCppFile, with_several_workflows_needs_a_name) {
    CliWorld world;
    const std::string file = world.file("two.cpp", kTwo);
    const Outcome refused = world.run({"diagram", file});
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("builds 2 workflows: one, two"), std::string::npos) << refused.err;
    const Outcome outcome = world.run({"diagram", file + "#two"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("‹name›"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("1 part is decided when the program runs"), std::string::npos);
    EXPECT_EQ(world.run({"diagram", file + "#three"}).code, 2);
}

TEST(CliCppFile, is_validated) {
    CliWorld world;
    const Outcome good = world.run({"validate", world.file("two.cpp", kTwo)});
    EXPECT_EQ(good.code, 0) << good.err;
    EXPECT_EQ(
        normal(world, good.out),
        "✓ <dir>/two.cpp: one v1 has no problem (exact)\n"
        "✓ <dir>/two.cpp: two v1 has no problem (1 part is decided when the program runs)\n"
    );
    const std::string file = world.file(
        "bad.cpp", "auto d = ebb::WorkflowBuilder(\"w\")\n    .step(\"a\").step(\"a\").build();\n"
    );
    const Outcome bad = world.run({"validate", file});
    EXPECT_EQ(bad.code, 2);
    EXPECT_NE(bad.err.find(file + ":2:"), std::string::npos) << bad.err;
    EXPECT_NE(bad.err.find("(duplicate_name)"), std::string::npos) << bad.err;
    EXPECT_NE(world.run({"validate", "-f", "github", file}).out.find("line=2"), std::string::npos);
}

TEST(CliCppFile, is_compared_if_it_is_exact) {
    CliWorld world;
    const std::string yaml = world.file(
        "order.yaml",
        "workflow: order\nversion: 2\nsteps:\n  - {step: reserve, compensate: release}\n  - "
        "charge\n"
    );
    EXPECT_EQ(world.run({"diff", yaml, world.file("order.cpp", kExact)}).code, 0);
    const Outcome refused = world.run({"diff", yaml, world.file("two.cpp", kTwo) + "#two"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("cannot be compared"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace ebb::cli::testing
