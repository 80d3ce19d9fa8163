#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/session.h"

// `ebb rules`: what is special about workflows with rules.

namespace ebb::cli {

struct RulesOptions {
    std::string action{};                 ///< `check` or `diff`
    std::vector<std::string> subjects{};  ///< files, or NAME@VERSION of the database
    std::vector<std::string> starts{};    ///< check: inputs that instances start with, as JSON
    std::int64_t explored = 0;            ///< check: states of the exploration; 0 = none
    std::int64_t states = 1'000'000;      ///< check: of the search
    bool is_strict = false;               ///< check: warnings count
    std::string format{};                 ///< `text` or `json`; empty = as --json says
    std::int64_t limit = 1'000;           ///< diff: live instances that are examined
};

int handle_rules(Session& session, const RulesOptions& options);

int check_rules_file(Session& session, const RulesOptions& options);
int compare_rules(Session& session, const RulesOptions& options);

}  // namespace ebb::cli
