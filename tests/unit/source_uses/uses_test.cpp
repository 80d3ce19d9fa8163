// Builders in the code of other tests, as the scan reads them and as the compiler builds them. This
// program has the tests of those files; the linker leads their calls of `build()` to a function
// that keeps the result. At the end, every workflow that the scan calls exact was built so.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>

#include <gtest/gtest.h>

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

/// Compares when all tests have run.
class Comparison : public ::testing::Environment {
 public:
    void TearDown() override {
        // Some tests alone do not build all workflows.
        if (::testing::GTEST_FLAG(filter) != "*") return;
        std::size_t total = 0;
        std::size_t exact = 0;
        std::size_t invalid = 0;
        for (const std::string& name : scanned_files()) {
            const std::string text = read(name);
            EXPECT_FALSE(text.empty()) << name;
            for (const source::CppWorkflow& workflow : source::scan_workflows(text)) {
                ++total;
                if (!workflow.is_exact()) continue;
                if (!source::check_cpp(workflow, text, name).empty()) {
                    // `build()` has thrown, so there is nothing to compare it with.
                    ++invalid;
                    continue;
                }
                ++exact;
                const std::vector<Definition>& all = built().definitions;
                EXPECT_NE(std::find(all.begin(), all.end(), workflow.definition), all.end())
                    << name << ": the compiler does not build\n"
                    << definition_to_json(workflow.definition);
            }
        }
        std::cout << "uses of builders: " << total
                  << ", scanned exactly and compiled the same: " << exact << " ("
                  << (total == 0 ? 0 : exact * 100 / total) << " %), invalid: " << invalid
                  << ", compiled workflows: " << built().definitions.size() << '\n';
        EXPECT_GE(total, 30U);
        EXPECT_GE((exact + invalid) * 100, total * 85);
    }
};

const auto* const kComparison = ::testing::AddGlobalTestEnvironment(new Comparison);

}  // namespace
}  // namespace ebb::test

// BlockBuilder::build() of the library, and what the linker calls in its place. A member function
// that returns a class is called as a function of its object.
extern "C" {
ebb::Definition __real__ZNK3ebb12BlockBuilder5buildEv(const ebb::BlockBuilder* builder);
ebb::Definition __wrap__ZNK3ebb12BlockBuilder5buildEv(const ebb::BlockBuilder* builder);

ebb::Definition __wrap__ZNK3ebb12BlockBuilder5buildEv(const ebb::BlockBuilder* builder) {
    ebb::Definition definition = __real__ZNK3ebb12BlockBuilder5buildEv(builder);
    ebb::test::keep(definition);
    return definition;
}
}
