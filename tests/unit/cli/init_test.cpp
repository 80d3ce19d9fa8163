// What `ebb init` writes. tests/install builds the C++ project.

#include <filesystem>

#include <gmock/gmock.h>

#include "cli_world.h"

namespace ebb::cli::testing {
namespace {

using ::testing::HasSubstr;

TEST(CliInit, the_workflow_in_yaml_runs_and_can_fail) {
    CliWorld world;
    const std::string folder = world.path("shop");
    const Outcome outcome = world.run({"init", folder, "--yaml"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("ebb dev shop.yaml"));
    const std::string file = folder + "/shop.yaml";
    EXPECT_EQ(world.run({"validate", "-q", file}).code, 0);
    const Outcome good = world.run({"run", "-q", file, "-i", R"({"item":"lamp","amount":120})"});
    EXPECT_EQ(good.code, 0) << good.err;
    EXPECT_EQ(Json::parse(good.out)["item"], "lamp");
    const Outcome bad = world.run({"run", file, "-i", R"({"item":"yacht","amount":90000})"});
    EXPECT_EQ(bad.code, 1);
    EXPECT_THAT(bad.err, HasSubstr("the card was declined"));
    EXPECT_THAT(bad.err, HasSubstr("↩ release"));
}

TEST(CliInit, overwrites_nothing) {
    CliWorld world;
    const std::string folder = world.path("shop");
    EXPECT_EQ(world.run({"init", folder}).code, 0);
    std::filesystem::remove(folder + "/workflow.h");
    const Outcome again = world.run({"init", folder});
    EXPECT_EQ(again.code, 2);
    EXPECT_THAT(again.err, HasSubstr("CMakeLists.txt\" exists"));
    EXPECT_FALSE(std::filesystem::exists(folder + "/workflow.h"));
}

TEST(CliInit, an_empty_folder_name_is_refused) {
    CliWorld world;
    const Outcome outcome = world.run({"init", "", "--yaml"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("FOLDER: it is empty; name a folder, or leave it out"));
}

TEST(CliInit, a_repository_that_has_a_gitignore_keeps_it) {
    CliWorld world;
    const std::string ignore = world.file(".gitignore", "*.o\n");
    const std::string folder = world.path("");
    const Outcome outcome = world.run({"init", folder, "--name", "shop", "--yaml"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(
        outcome.err, HasSubstr(".gitignore, which exists; git should ignore: /build/ /.ebb/")
    );
    EXPECT_TRUE(std::filesystem::exists(folder + "/shop.yaml"));
    EXPECT_EQ(std::filesystem::file_size(ignore), 4U);
}

TEST(CliInit, a_folder_that_cannot_be_made_is_an_error_with_its_name) {
    CliWorld world;
    const std::string folder = world.file("file", "") + "/shop";
    const Outcome outcome = world.run({"init", folder});
    EXPECT_EQ(outcome.code, 74);
    EXPECT_THAT(outcome.err, HasSubstr("The folder \"" + folder + "\" cannot be created"));
}

TEST(CliInit, takes_a_name_that_a_workflow_may_have) {
    CliWorld world;
    const Json json =
        Json::parse(world.run({"init", world.path("my shop"), "--yaml", "--json"}).out);
    EXPECT_EQ(json["name"], "my_shop");
    EXPECT_EQ(json["files"].size(), 2U);
    const Outcome wrong = world.run({"init", world.path("x"), "--name", "a b"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_THAT(wrong.err, HasSubstr("\"a b\" is not a valid workflow name; write \"a_b\"."));
    EXPECT_FALSE(std::filesystem::exists(world.path("x")));
}

}  // namespace
}  // namespace ebb::cli::testing
