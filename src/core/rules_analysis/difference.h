#pragma once

#include <string>
#include <vector>

#include <ebb/definition.h>

#include "core/rules/program.h"

// What a newer version of a workflow with rules means to the instances of an older one.

namespace ebb::rules_analysis {

/// One thing that differs.
struct RulesChange {
    std::string kind{};     ///< `attribute`, `trigger`, `final`, `exception`, `invariant`
    std::string name{};     ///< in the newer version, or else in the older one
    std::string change{};   ///< `added`, `removed`, `renamed`, `type`, `default`, `disabled`,
                            ///< `enabled`, `newly_true`, `newly_false`, `maybe`
    std::string message{};  ///< a whole sentence
    std::string example{};  ///< attribute values for which it differs; empty = none is needed
};

struct RulesDifference {
    std::vector<RulesChange> changes{};
    /// Instances continue on the newer version (`evolution: follow`).
    bool follows = false;
    /// What keeps every instance from following, as whole sentences.
    std::vector<std::string> obstacles{};
};

/// Both are valid definitions with rules.
RulesDifference compare(const Definition& before, const Definition& after);

/// What a live instance of the older version would do with the conditions of the newer one.
struct LiveChange {
    std::vector<std::string> fires{};      ///< triggers that are true and not pending
    std::vector<std::string> no_longer{};  ///< triggers that were true and are not any more
    std::vector<std::string> violated{};   ///< invariants that are false: writes are refused
    std::string final_condition{};         ///< it would end
    std::string exception{};               ///< it would be in this exception
    std::string left_exception{};          ///< it is in this exception, and would no longer be
    std::string fault{};                   ///< why it stays on its version

    /// Also if it stays on its version.
    bool is_empty() const {
        return fires.empty() && no_longer.empty() && violated.empty() && final_condition.empty() &&
               exception.empty() && left_exception.empty();
    }
};

/// `attributes`: all of the instance, as one JSON object. `pending`: the names of its transitions.
LiveChange examine_live(
    const rules::Program& before,
    const rules::Program& after,
    const Payload& attributes,
    const std::vector<std::string>& pending
);

}  // namespace ebb::rules_analysis
