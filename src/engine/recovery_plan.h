#pragma once

#include <cstdint>
#include <optional>

#include <ebb/engine.h>

#include "core/kernel/event.h"

namespace ebb::engine {

/// What the request, a RecoverRequested, would lead to: the kernel plays it, and nothing is
/// written.
RecoveryPlan plan_recovery(
    Engine::Core& core,
    const InstanceId& id,
    const Event& request,
    std::optional<std::int64_t> expected_revision
);

}  // namespace ebb::engine
