#include "golden_case.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <ebb/yaml.h>

#include "core/kernel/program.h"
#include "ebb_test_dirs.h"

namespace ebb::golden {

namespace {

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path.string());
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::filesystem::path scripted(std::filesystem::path file) {
    return file.replace_extension(".script.json");
}

std::vector<Definition> versions_of(const Json& script) {
    std::vector<Definition> versions;
    for (const Json& version : script.value("versions", Json::array())) {
        versions.push_back(definition_from_json(version));
    }
    return versions;
}

}  // namespace

std::filesystem::path workflows_folder() {
    return std::filesystem::path(EBB_SOURCE_DIR) / "tests/golden/workflows";
}

std::filesystem::path rules_folder() {
    return std::filesystem::path(EBB_SOURCE_DIR) / "tests/golden/rules";
}

std::vector<Case> load_cases(const std::filesystem::path& folder) {
    std::vector<Case> cases;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::filesystem::path file = entry.path();
        if (file.extension() != ".yaml") continue;
        std::filesystem::path expected = file;
        Json script = Json::parse(read_file(scripted(file)));
        cases.push_back(
            {.name = file.stem(),
             .definition = parse_definition_yaml(read_file(file), file.filename().string()),
             .script = script,
             .versions = versions_of(script),
             .expected_file = expected.replace_extension(".expected.txt")}
        );
    }
    std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) {
        return a.name < b.name;
    });
    return cases;
}

std::vector<Case> all_cases() {
    std::vector<Case> cases = load_cases(workflows_folder());
    for (Case& test_case : load_cases(rules_folder())) cases.push_back(std::move(test_case));
    return cases;
}

std::vector<std::string> handlers_of(const Definition& definition) {
    return Program::compile(definition)->handlers();
}

void tell_choice(const Json& outcome, const StepContext& context) {
    if (outcome == "pause") context.pause();
    if (outcome.is_object() && outcome.contains("next")) {
        context.leave_by(outcome.at("next").get<std::string>());
    }
}

}  // namespace ebb::golden
