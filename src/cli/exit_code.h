#pragma once

#include <string>
#include <string_view>

#include <ebb/error.h>
#include <ebb/status.h>

namespace ebb::cli {

/// The exit codes of the command (docs/reference/cli.md).
enum ExitCode : int {
    kOk = 0,
    kEndedBadly = 1,  ///< the workflow ended as failed, cancelled or aborted
    kUsage = 2,       ///< wrong options, an invalid definition, a bad payload
    kNotFound = 3,
    kRefused = 4,  ///< not possible in this state, not allowed, or in conflict
    kStore = 5,    ///< the database is unavailable, full, locked, damaged, of another version, or
                   ///< denies it
    kTimeout = 6,
    kInternal = 70,
    kOutput = 74,  ///< the output cannot be written
    kInterrupted = 130,
    kOutputClosed = 141,
};

ExitCode exit_code_of(ErrorCode code);

/// 128 + the signal's number, as in shells.
int exit_code_of_signal(int signal);

/// The exit code for a workflow's end: 0 if `status` is completed, else 1.
int exit_code_of_status(InstanceStatus status);

/// What to do about an error of this kind, as half a sentence; empty if the error says enough.
std::string hint_of(ErrorCode code, std::string_view message = {});

}  // namespace ebb::cli
