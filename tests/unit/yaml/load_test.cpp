// Files are read by their extension, and what cannot be read says so. Method: files in a temporary
// directory.

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <ebb/yaml.h>

#include "support/os_file.h"

namespace ebb::test {
namespace {

class Load : public ::testing::Test {
 protected:
    TempDirectory directory_;

    std::filesystem::path file(std::string_view name, std::string_view content) {
        return directory_.add(name, content);
    }

    static ErrorCode code_of(const std::filesystem::path& path) {
        try {
            load_definition(path);
        } catch (const Error& error) {
            return error.code();
        }
        return ErrorCode::Internal;
    }
};

TEST_F(Load, reads_yaml_and_json_by_the_extension) {
    const Definition yaml = load_definition(file("a.yaml", "workflow: w\nsteps: [a]\n"));
    EXPECT_EQ(yaml.name, "w");
    EXPECT_EQ(load_definition(file("a.yml", "workflow: w\nsteps: [a]\n")), yaml);
    EXPECT_EQ(load_definition(file("a.json", R"({"workflow": "w", "steps": ["a"]})")), yaml);
}

TEST_F(Load, names_the_file_in_every_problem) {
    for (const auto& path :
         {file("b.yaml", "workflow: w\nsteps: [1]\n"),
          file("b.json", R"({"workflow": "w", "steps": [1]})"),
          file("c.yaml", "a: [\n"),
          file("c.json", "[")}) {
        try {
            load_definition(path);
            FAIL() << path;
        } catch (const DefinitionError& error) {
            EXPECT_EQ(error.diagnostics().at(0).file, path.string());
            EXPECT_THAT(error.what(), ::testing::HasSubstr("\n  " + path.string() + ":"));
        }
    }
}

TEST_F(Load, refuses_what_it_cannot_read) {
    EXPECT_EQ(code_of(file("a.txt", "workflow: w")), ErrorCode::InvalidArgument);
    const std::filesystem::path missing = directory_.path() / "missing.yaml";
    try {
        load_definition(missing);
        FAIL() << "was read";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
        EXPECT_EQ(error.what(), "The file \"" + missing.string() + "\" does not exist.");
    }
    std::filesystem::create_directory(directory_.path() / "directory.yaml");
    EXPECT_EQ(code_of(directory_.path() / "directory.yaml"), ErrorCode::InvalidArgument);
}

TEST_F(Load, does_not_read_more_than_a_definition_may_have) {
    const std::string text = "a: " + std::string(DefinitionLimits::kDefinitionBytesMax, 'x');
    EXPECT_EQ(code_of(file("large.yaml", text)), ErrorCode::InvalidDefinition);
}

}  // namespace
}  // namespace ebb::test
