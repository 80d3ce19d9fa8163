#pragma once

#include "cli/interrupts.h"

namespace ebb::cli {

/// While it exists, SIGUSR1 asks for a report of this process's state, and rings `interrupts`. At
/// most one at a time.
class StateSignal {
 public:
    explicit StateSignal(Interrupts& interrupts);
    StateSignal(const StateSignal&) = delete;
    StateSignal& operator=(const StateSignal&) = delete;
    ~StateSignal();

    /// Whether the signal has come since the last call.
    static bool take();
};

}  // namespace ebb::cli
