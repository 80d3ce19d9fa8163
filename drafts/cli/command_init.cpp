// `ebb init`: the first files of a project.

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/text.h"
#include "core/model/document.h"

namespace ebb::cli {

namespace {

struct Skeleton {
    const char* path;
    const char* text;
};

constexpr const char* kWorkflow = R"(# Run it:            ebb run @NAME@.yaml -i '{"name": "world"}'
# While you edit:    ebb dev @NAME@.yaml -i '{"name": "world"}'
workflow: @NAME@

handlers:
  # A handler is a program that reads its input as JSON from stdin and writes its output to stdout.
  greet: {exec: [sh, -c, 'sed "s/.*/{\"greeting\": \"Hello\"}/"']}
  take_back: {exec: ['true']}
  ship: {exec: [cat]}

steps:
  - step: greet
    compensate: take_back     # runs if a later step fails
  - step: ship
    max_attempts: 5
)";

constexpr const char* kCmake = R"(cmake_minimum_required(VERSION 3.25)
project(@NAME@ LANGUAGES CXX)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)

find_package(ebb REQUIRED COMPONENTS sqlite)
find_package(nlohmann_json REQUIRED)
find_package(GTest REQUIRED)

add_library(workflow STATIC workflow.cpp)
target_link_libraries(workflow PUBLIC ebb::ebb nlohmann_json::nlohmann_json)

add_executable(@NAME@ main.cpp)
target_link_libraries(@NAME@ PRIVATE workflow ebb::sqlite)

enable_testing()
add_executable(workflow_test workflow_test.cpp)
target_link_libraries(workflow_test PRIVATE workflow GTest::gtest_main)
add_test(NAME workflow_test COMMAND workflow_test)
)";

constexpr const char* kHeader = R"(#pragma once

#include <ebb/ebb.h>

/// The steps and what undoes them.
ebb::Definition make_workflow();

/// The functions that the steps call, by name.
ebb::HandlerRegistry make_handlers();
)";

constexpr const char* kSource = R"(#include "workflow.h"

#include <string>

#include <nlohmann/json.hpp>

ebb::Definition make_workflow() {
    return ebb::WorkflowBuilder("@NAME@")
        .step("reserve")
        .compensate("release")  // runs if a later step fails
        .step("ship")
        .max_attempts(3)
        .build();
}

ebb::HandlerRegistry make_handlers() {
    ebb::HandlerRegistry handlers;
    handlers.add("reserve", [](const std::string& item) { return "reserved " + item; });
    handlers.add("release", [](const ebb::Json&) {});
    handlers.add("ship", [](const std::string& reservation) { return "shipped: " + reservation; });
    return handlers;
}
)";

constexpr const char* kMain = R"(#include <cstdio>

#include "workflow.h"

int main() {
    const ebb::StorePtr store = ebb::open_sqlite_store({.path = "@NAME@.db"});
    const ebb::HandlerRegistry handlers = make_handlers();
    ebb::Engine engine(*store, handlers);
    engine.register_workflow(make_workflow());
    engine.run();

    // The input is JSON: here a string.
    const auto started = engine.start("@NAME@", R"json("lamp")json");
    const ebb::Result result = engine.wait(started.id);
    std::puts(result.output.c_str());
    return result.output.empty() ? 1 : 0;
}
)";

constexpr const char* kTest = R"(#include <gtest/gtest.h>

#include "workflow.h"

// In memory, in the thread of the test: wait() does what is due.
TEST(Workflow, ships_what_it_has_reserved) {
    const ebb::StorePtr store = ebb::open_memory_store();
    const ebb::HandlerRegistry handlers = make_handlers();
    ebb::Engine engine(*store, handlers);
    engine.register_workflow(make_workflow());

    const auto started = engine.start("@NAME@", R"json("lamp")json");
    const ebb::Result result = engine.wait(started.id);

    EXPECT_TRUE(result.is_finished);
    EXPECT_EQ(result.output, R"json("shipped: reserved lamp")json");
}
)";

constexpr const char* kIgnore = R"(/build/
/.ebb/
*.db
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

std::string name_for(const std::filesystem::path& folder, const std::string& wanted) {
    if (!wanted.empty()) return wanted;
    const std::string stem = std::filesystem::absolute(folder).lexically_normal().filename().string();
    const std::string own = stem.empty() ? std::filesystem::current_path().filename().string() : stem;
    return model::name_of(own);
}

}  // namespace

int make_project(Session& session, const InitOptions& options) {
    const std::filesystem::path folder = options.folder.empty() ? "." : options.folder;
    const std::string name = name_for(folder, options.name);
    std::vector<std::pair<std::string, const char*>> files;
    if (options.is_yaml) {
        files = {{name + ".yaml", kWorkflow}, {".gitignore", kIgnore}};
    } else {
        files = {
            {"CMakeLists.txt", kCmake},
            {"workflow.h", kHeader},
            {"workflow.cpp", kSource},
            {"main.cpp", kMain},
            {"workflow_test.cpp", kTest},
            {".gitignore", kIgnore},
        };
    }
    // Nothing is written if anything is in the way.
    for (const auto& [path, text] : files) {
        if (!std::filesystem::exists(folder / path)) continue;
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("\"{}\" exists; `ebb init` overwrites nothing.", (folder / path).string())
        );
    }
    std::filesystem::create_directories(folder);
    nlohmann::ordered_json written = nlohmann::ordered_json::array();
    for (const auto& [path, text] : files) {
        write_file((folder / path).string(), filled(text, name));
        written.push_back((folder / path).string());
        session.note(fmt::format("Wrote {}\n", (folder / path).string()));
    }
    if (session.options().is_json) session.print_json({{"name", name}, {"files", written}});
    const std::string there =
        options.folder.empty() ? "" : fmt::format("cd {} && ", shell_word(options.folder));
    session.note(
        options.is_yaml ? fmt::format("Next: {}ebb dev {}.yaml -i '{{\"name\": \"world\"}}'\n", there, name)
                        : fmt::format(
                              "Next: {}cmake -B build && cmake --build build && ctest --test-dir build\n",
                              there
                          )
    );
    return kOk;
}

}  // namespace ebb::cli
