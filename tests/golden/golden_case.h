#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <ebb/definition.h>
#include <ebb/handler.h>
#include <ebb/json.h>

namespace ebb::golden {

/// One golden workflow: a definition (NAME.yaml), a script of what its handlers and the outside
/// world do (NAME.script.json), and the history that follows (NAME.expected.txt). docs/TESTING.md
/// describes the script.
struct Case {
    std::string name;
    Definition definition;
    Json script;
    std::vector<Definition> versions{};  ///< later ones, for the action `evolve`
    std::filesystem::path expected_file;
};

/// Where the golden workflows are.
std::filesystem::path workflows_folder();

/// Those with rules.
std::filesystem::path rules_folder();

/// All cases of a folder, by name. Throws when one is not complete.
std::vector<Case> load_cases(const std::filesystem::path& folder);

/// Those with steps, then those with rules.
std::vector<Case> all_cases();

/// The handlers that a definition calls, compensations included.
std::vector<std::string> handlers_of(const Definition& definition);

/// What a scripted outcome says besides its output: `"pause"`, or `"next"` with a handle.
void tell_choice(const Json& outcome, const StepContext& context);

}  // namespace ebb::golden
