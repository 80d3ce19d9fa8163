#include "cli/project_files.h"

#include <string_view>
#include <utility>

namespace ebb::cli {

namespace {

constexpr const char* kYaml =
    R"(# Run it:          ebb run @NAME@.yaml -i '{"item": "lamp", "amount": 120}'
# While you edit:  ebb dev @NAME@.yaml -i '{"item": "lamp", "amount": 120}'
# To see it fail and undo what it did, use an amount above 1000.
workflow: @NAME@

handlers:
  # A handler is a program. It reads its input as JSON from stdin and writes its output to stdout.
  reserve: {exec: [cat]}
  release: {exec: ['true']}
  charge:
    exec: [sh, -c, 'echo "the card was declined" >&2; exit 65']

steps:
  - step: reserve
    compensate: release     # runs if a later step fails
  - condition: is_too_much
    when: input.amount > 1000
    then:
      - step: charge
        max_attempts: 1
)";

constexpr const char* kCMake = R"(cmake_minimum_required(VERSION 3.25)
project(@NAME@ LANGUAGES CXX)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)

find_package(ebb REQUIRED COMPONENTS sqlite testing)
find_package(GTest REQUIRED)

# The workflow and its handlers, for the program and for the test.
add_library(workflow STATIC workflow.cpp)
target_link_libraries(workflow PUBLIC ebb::ebb)

add_executable(app main.cpp)
target_link_libraries(app PRIVATE workflow ebb::sqlite)

enable_testing()
add_executable(workflow_test workflow_test.cpp)
target_link_libraries(workflow_test PRIVATE workflow ebb::testing GTest::gtest_main)
add_test(NAME workflow_test COMMAND workflow_test)
)";

constexpr const char* kHeader = R"(#pragma once

#include <string>

#include <ebb/ebb.h>

// EBB_FIELDS makes a struct an input or an output: a JSON object with these members.
struct Order {
    std::string item;
    int amount = 0;
};
EBB_FIELDS(Order, item, amount)

struct Receipt {
    std::string text;
};
EBB_FIELDS(Receipt, text)

/// The steps, and what undoes them.
ebb::Definition make_workflow();

/// The functions that the steps call. A step calls the handler with its own name.
void add_handlers(ebb::HandlerRegistry& handlers);
)";

constexpr const char* kSource = R"(#include "workflow.h"

ebb::Definition make_workflow() {
    return ebb::WorkflowBuilder("@NAME@")
        .step("reserve", {.compensate = "release"})  // "release" runs if a later step fails
        .step("charge")
        .max_attempts(3)
        .build();
}

void add_handlers(ebb::HandlerRegistry& handlers) {
    handlers.add("reserve", [](const Order& order) { return order; });
    handlers.add("release", [] {});
    handlers.add("charge", [](const Order& order) {
        // No retry helps here, so the workflow fails immediately and releases the item.
        if (order.amount > 1000) throw ebb::PermanentError("the card was declined");
        return Receipt{"paid " + std::to_string(order.amount) + " for a " + order.item};
    });
}
)";

constexpr const char* kMain = R"(#include <charconv>
#include <iostream>
#include <string_view>

#include "workflow.h"

// Usage: app [AMOUNT]
int main(int argc, char** argv) {
    Order order{"lamp", 120};
    if (argc > 1) {
        const std::string_view text = argv[1];
        const char* const end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, order.amount);
        if (error != std::errc() || rest != end) {
            std::cerr << "The amount \"" << text << "\" is not a whole number.\n";
            return 2;
        }
    }

    const ebb::StorePtr store = ebb::open_sqlite_store({.path = "@NAME@.db"});
    ebb::HandlerRegistry handlers;
    add_handlers(handlers);
    ebb::Engine engine(*store, handlers);
    // A step whose handler no worker has would wait, because its worker may start later.
    for (const auto& handler : engine.register_workflow(make_workflow()).unserved_handlers) {
        std::cerr << "no worker has the handler " << handler << "\n";
    }
    engine.run();

    const auto started = engine.start("@NAME@", order);
    try {
        std::cout << engine.wait<Receipt>(started.id).text << "\n";
    } catch (const ebb::NotCompleted& failure) {
        std::cerr << failure.what() << "\n";
        return 1;
    }
}
)";

constexpr const char* kTest = R"(#include "workflow.h"

#include <ebb/testing.h>
)"
                              "#include <"
                              R"(gtest/gtest.h>

TEST(Workflow, charges_what_it_has_reserved) {
    ebb::testing::World world(make_workflow());
    add_handlers(world.handlers());
    const auto instance = world.start("@NAME@", Order{"lamp", 120}).to_end();
    instance.expect_calls("reserve charge");
    EXPECT_EQ(instance.output<Receipt>().text, "paid 120 for a lamp");
}

TEST(Workflow, releases_the_item_if_the_card_is_declined) {
    ebb::testing::World world(make_workflow());
    add_handlers(world.handlers());
    world.start("@NAME@", Order{"yacht", 90000})
        .to_end()
        .expect(ebb::InstanceStatus::Failed)
        .expect_compensated({"reserve"});
}

TEST(Workflow, tries_again_if_the_bank_does_not_answer) {
    ebb::testing::World world(make_workflow());
    add_handlers(world.handlers());
    world.on("charge").fails("the bank does not answer").returns(Receipt{"paid"});
    const auto instance = world.start("@NAME@", Order{"lamp", 120}).to_end();
    instance.expect(ebb::InstanceStatus::Completed).expect_calls("reserve charge! charge");
}
)";

constexpr const char* kIgnore = R"(/build/
/.ebb/
*.db
*.db-hints
*.db-shm
*.db-wal
)";

std::string filled(std::string text, const std::string& name) {
    constexpr std::string_view kPlace = "@NAME@";
    for (std::size_t at = 0; (at = text.find(kPlace, at)) != std::string::npos;) {
        text.replace(at, kPlace.size(), name);
        at += name.size();
    }
    return text;
}

}  // namespace

std::vector<ProjectFile> cpp_project(const std::string& workflow) {
    return {
        {"CMakeLists.txt", filled(kCMake, workflow)},
        {"workflow.h", filled(kHeader, workflow)},
        {"workflow.cpp", filled(kSource, workflow)},
        {"main.cpp", filled(kMain, workflow)},
        {"workflow_test.cpp", filled(kTest, workflow)},
        {".gitignore", kIgnore},
    };
}

std::vector<ProjectFile> yaml_project(const std::string& workflow) {
    return {{workflow + ".yaml", filled(kYaml, workflow)}, {".gitignore", kIgnore}};
}

}  // namespace ebb::cli
