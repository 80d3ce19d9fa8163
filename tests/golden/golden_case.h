#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <ebb/definition.h>
#include <ebb/engine.h>
#include <ebb/store.h>

#include "support/clock.h"

namespace ebb::golden {

/// One golden workflow: a definition (NAME.yaml), a script of what its handlers and the outside
/// world do (NAME.script.json), and the history that follows (NAME.expected.txt). docs/TESTING.md
/// describes the script.
struct Case {
    std::string name;
    Definition definition;
    Json script;
    std::filesystem::path expected_file;
};

/// All cases of a folder, by name. Throws when one is not complete.
std::vector<Case> load_cases(const std::filesystem::path& folder);

/// Runs a case over a store under virtual time, in one thread, and tells what happened: one line
/// per history event, then the calls, the steps' statuses and the outcome.
std::string play(const Case& test_case, Store& store, ManualClock& clock);

}  // namespace ebb::golden
