// The examples of docs/reference/definition.md are what they claim to be: each YAML block is a
// valid workflow, or a list of nodes of one, and conforms to the published schema.

#include <fstream>
#include <sstream>

#include <ebb/yaml.h>

#include "ebb_test_dirs.h"
#include "unit/yaml/conformance.h"
#include "yaml/yaml_document.h"

namespace ebb::test {
namespace {

struct Example {
    std::size_t line = 0;
    std::string yaml;
};

std::vector<Example> examples() {
    std::ifstream reference(EBB_SOURCE_DIR "/docs/reference/definition.md");
    std::vector<Example> found;
    bool is_inside = false;
    std::size_t number = 0;
    for (std::string line; std::getline(reference, line);) {
        ++number;
        if (line == "```yaml") {
            is_inside = true;
            found.push_back({number, {}});
        } else if (line.starts_with("```")) {
            is_inside = false;
        } else if (is_inside) {
            found.back().yaml += line + "\n";
        }
    }
    return found;
}

TEST(Reference, its_examples_are_valid) {
    EXPECT_GT(examples().size(), 12u);
    for (const Example& example : examples()) {
        const bool is_list = example.yaml.starts_with("- ");
        const std::string yaml = (is_list ? "workflow: example\nsteps:\n" : "") + example.yaml;
        EXPECT_NO_THROW(parse_definition_yaml(yaml)) << "line " << example.line << "\n" << yaml;
        const Json json = yaml::parse_yaml_document(yaml, "").to_json();
        EXPECT_EQ(violations_of_schema(json), "") << "line " << example.line;
    }
}

}  // namespace
}  // namespace ebb::test
