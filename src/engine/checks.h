#pragma once

#include <exception>
#include <string>

#include "core/kernel/program.h"
#include "core/kernel/state.h"
#include "support/log.h"

namespace ebb::engine {

/// Throws Error with InvalidArgument: a worker's id is printed in tables, logs and histories, and
/// typed in commands.
void check_worker_id(const std::string& id);

/// Whether this build checks everything that it can: builds for tests do. Others check a sample.
bool checks_always();

/// Throws Error with Internal when `state`, which is about to be written, is not one that the
/// kernel could go on from: a corrupt state must never reach the store. Where checks_always, the
/// process ends instead.
void check_state(const InstanceState& state, const Program& program);

/// Ends the process at once: something that was taken from others is neither done nor kept, so
/// tasks would be stuck under valid leases and callers would wait for nothing. What matters is in
/// the store, and the next process continues from there.
[[noreturn]] void end_process(
    const Log& log, const char* what_must_hold, const std::exception& error
);

}  // namespace ebb::engine
