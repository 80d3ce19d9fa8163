#pragma once

#include <ebb/triage.h>

#include "view/payload_json.h"

// What needs a person.

namespace ebb::view {

Json decision_json(const AwaitedDecision& decision);
Json failure_group_json(const FailureGroup& group);
Json failed_instance_json(const FailedInstance& failed);

}  // namespace ebb::view
