#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ebb/id.h>
#include <ebb/status.h>
#include <ebb/time.h>
#include <ebb/triage.h>

#include "core/kernel/effects.h"

// Rows beside the instances, by which waits and failures are found without a look at every
// instance. They are written in the commit that causes them, and only there.

namespace ebb {

/// One wait, with what its instance's own row says.
struct WaitRow {
    InstanceId instance;
    TokenId token = 0;
    int version = 1;
    std::string key;
    InstanceStatus status = InstanceStatus::Running;
    Wait wait;

    bool operator==(const WaitRow&) const = default;
};

/// As DecisionQuery, of one kind of waits.
struct WaitQuery {
    Wait::Kind kind = Wait::Kind::Decision;
    DecisionQuery which{};
};

/// An instance that may have other side rows than it should.
struct SideRowSuspect {
    InstanceId instance;
    std::string workflow;
    int version = 1;
    std::string state;
    std::string rows;  ///< those that it has, as side_rows_text()

    bool operator==(const SideRowSuspect&) const = default;
};

struct SideRowPage {
    std::vector<SideRowSuspect> suspects;
    InstanceId last;  ///< to go on behind; zero at the end
    bool is_end = true;
};

struct SideRowRepair {
    InstanceId instance;
    std::int64_t revision = 0;
    Effects effects;  ///< all that it must have
};

/// What must agree between the rows of an instance and its state: of each wait
/// `TOKEN:VISIT:CONFIRMED:ROLE;` by token and role, then of a failure `STATUS:EVENT`.
std::string side_rows_text(const Effects& effects);

/// Of the statuses that a failure may have: the one that is asked for; none = both.
std::optional<InstanceStatus> only_status(const std::vector<InstanceStatus>& statuses);

/// Throws InvalidArgument for what is beyond a limit, and for a status that no failure has.
void check_query(const DecisionQuery& query);
void check_query(const FailureQuery& query);
void check_query(const FailureGroupQuery& query);

}  // namespace ebb
