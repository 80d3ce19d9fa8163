#pragma once

#include <string>
#include <vector>

#include "core/kernel/history.h"
#include "core/kernel/program.h"
#include "core/kernel/state.h"
#include "core/rules/values.h"

// Instances that continue on another version of their rules (docs/reference/rules.md#evolution).

namespace ebb {

/// The value of an attribute as one of another type, which it has in a newer version, or why it
/// cannot be one.
rules::Coerced converted(AttributeType type, const Payload& value);

/// Do the instances of this version continue on a newer one?
bool is_followed(const Program& program);

/// What keeps every instance of `from` from following to `to`, as whole sentences; empty = nothing.
std::vector<std::string> obstacles_between(const Program& from, const Program& to);

struct RulesMigration {
    /// Why the instance stays on its version for now, as a whole sentence; empty = it follows.
    std::string obstacle;
    InstanceState state;
    HistoryEvent event;  ///< `migrated`, as `state` counts it
};

/// `state`, one of `from`, as one of `to`. A pure function: the same arguments give the same
/// answer. No condition is asked: the next write asks all of them.
RulesMigration migrate(
    const Program& from, const Program& to, const InstanceState& state, TimePoint now
);

}  // namespace ebb
