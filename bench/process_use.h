#pragma once

#include <sys/types.h>

namespace ebb::bench {

/// Seconds of the processor that a process and its ended children have used.
double cpu_seconds_of(pid_t pid);

/// Seconds that its threads have run, in nanoseconds' resolution; without those that have ended.
double running_seconds_of(pid_t pid);

/// What a process has in memory.
double resident_bytes_of(pid_t pid);

}  // namespace ebb::bench
