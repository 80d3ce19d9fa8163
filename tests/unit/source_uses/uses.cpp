// Builders in the code of a test program, as the scan reads them and as the compiler builds them.
// The program is linked with this file; the linker leads its calls of `build()` to a function that
// keeps the result. When its tests have run, each workflow that the scan calls exact is looked for
// among those that were built. total.py judges the numbers of all programs.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ebb/builder.h>

#include "ebb_test_dirs.h"
#include "source/cpp_workflow.h"

namespace ebb::test {
namespace {

struct Built {
    std::mutex mutex;
    std::vector<Definition> definitions;
};

Built& built() {
    static Built all;
    return all;
}

void keep(const Definition& definition) {
    const std::lock_guard lock(built().mutex);
    std::vector<Definition>& all = built().definitions;
    if (std::find(all.begin(), all.end(), definition) == all.end()) all.push_back(definition);
}

std::string read(const std::string& name) {
    std::ifstream file(std::filesystem::path(EBB_SOURCE_DIR) / "tests" / name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<std::string> scanned_files() {
    std::vector<std::string> names;
    std::istringstream list(EBB_SCANNED_FILES);
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
    return names;
}

/// How much of a workflow in code is known.
enum class Use {
    Partial,  ///< the scan says itself that it does not know all of it
    Invalid,  ///< `build()` throws, so there is nothing to compare it with
    Exact,    ///< the compiler builds the same
    Unbuilt,  ///< no test builds it, or the compiler builds another
};

Use judge(const source::CppWorkflow& workflow, const std::string& text, const std::string& name) {
    if (!workflow.is_exact()) return Use::Partial;
    if (!source::check_cpp(workflow, text, name).empty()) return Use::Invalid;
    const std::vector<Definition>& all = built().definitions;
    const bool is_built = std::find(all.begin(), all.end(), workflow.definition) != all.end();
    return is_built ? Use::Exact : Use::Unbuilt;
}

/// Compares when all tests have run, and writes the numbers for total.py.
class Comparison : public ::testing::Environment {
 public:
    void TearDown() override {
        // Some tests alone do not build all workflows.
        if (::testing::GTEST_FLAG(filter) != "*") return;
        std::map<Use, int> counts;
        for (const std::string& name : scanned_files()) {
            const std::string text = read(name);
            EXPECT_FALSE(text.empty()) << name;
            for (const source::CppWorkflow& workflow : source::scan_workflows(text)) {
                const Use use = judge(workflow, text, name);
                ++counts[use];
                if (use != Use::Unbuilt) continue;
                std::cout << name << ": the compiler does not build\n"
                          << definition_to_json(workflow.definition) << '\n';
            }
        }
        const std::filesystem::path path(EBB_USES_FILE);
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << path.filename().string() << " exact " << counts[Use::Exact]
                            << " invalid " << counts[Use::Invalid] << " partial "
                            << counts[Use::Partial] << " unbuilt " << counts[Use::Unbuilt] << '\n';
    }
};

const auto* const kComparison = ::testing::AddGlobalTestEnvironment(new Comparison);

}  // namespace
}  // namespace ebb::test

// BlockBuilder::build() of the library, and what the linker calls in its place. A member function
// that returns a class is called as a function of its object.
ebb::Definition real_build(const ebb::BlockBuilder* builder
) asm("__real__ZNK3ebb12BlockBuilder5buildEv");
ebb::Definition wrapped_build(const ebb::BlockBuilder* builder
) asm("__wrap__ZNK3ebb12BlockBuilder5buildEv");

ebb::Definition wrapped_build(const ebb::BlockBuilder* builder) {
    ebb::Definition definition = real_build(builder);
    ebb::test::keep(definition);
    return definition;
}
