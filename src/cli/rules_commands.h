#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/session.h"

// `ebb rules`: what is special about workflows with rules.

namespace ebb::cli {

struct RulesOptions {
    std::string action{};
    /// Files, or NAME@VERSION of the database; view, install, uninstall: a workflow; import-wed: a
    /// URL.
    std::vector<std::string> subjects{};
    std::vector<std::string> starts{};  ///< check: inputs that instances start with, as JSON
    std::int64_t explored = 0;          ///< check: states of the exploration; 0 = none
    std::int64_t states = 1'000'000;    ///< check: of the search
    bool is_strict = false;             ///< check: warnings count
    std::string format{};               ///< `text` or `json`; empty = as --json says
    std::int64_t limit = 1'000;         ///< diff: live instances that are examined
    std::string name{};                 ///< import-wed, wsql: of the workflow; empty = as found
    std::string schema = "public";      ///< import-wed: where the tables are
    bool creates = false;               ///< import-wed: into --db, with instances
    std::string dialect = "ebb";        ///< install: or `wed`
    std::string role{};                 ///< install: that gets rights; empty = none
    bool is_confirmed = false;          ///< uninstall: do it
};

int handle_rules(Session& session, const RulesOptions& options);

int check_rules_file(Session& session, const RulesOptions& options);
int compare_rules(Session& session, const RulesOptions& options);
int import_wed(Session& session, const RulesOptions& options);
int install_rules(Session& session, const RulesOptions& options);
int uninstall_rules(Session& session, const RulesOptions& options);
int convert_wsql(Session& session, const RulesOptions& options);

}  // namespace ebb::cli
