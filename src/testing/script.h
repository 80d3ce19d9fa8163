#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <ebb/testing.h>

namespace ebb::testing::detail {

/// What one call does.
struct ScriptedCall {
    Handler handler;
    Duration takes{0};
    bool dies = false;
};

struct ScriptState {
    std::vector<ScriptedCall> calls;
    std::size_t next = 0;
    ManualClock* clock = nullptr;
    std::function<void()> die;  ///< ends the process of the worker

    bool is_empty() const { return calls.empty(); }

    /// Does what comes next, and stays at the last.
    Payload call(const Payload& input, const StepContext& context);
};

}  // namespace ebb::testing::detail
