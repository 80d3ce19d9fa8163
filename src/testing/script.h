#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <ebb/testing.h>

namespace ebb::testing::detail {

/// What one call does.
struct ScriptedCall {
    Handler handler;
    Duration takes{0};
};

struct ScriptState {
    std::vector<ScriptedCall> calls;
    std::size_t next = 0;
    ManualClock* clock = nullptr;

    bool is_empty() const { return calls.empty(); }

    /// Does what comes next, and stays at the last.
    Payload call(const Payload& input, const StepContext& context);
};

}  // namespace ebb::testing::detail
