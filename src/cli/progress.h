#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "cli/context.h"

namespace ebb::cli {

/// Turns the history events of running instances into lines. `observe` may be called from any
/// thread; `print` only from the terminal's.
class Progress {
 public:
    enum class Format { Lines, Json, None };

    Progress(Terminal& terminal, Format format) : terminal_(terminal), format_(format) {}

    void observe(const InstanceSummary& instance, std::span<const HistoryEntry> events);
    /// Writes what has come since the last call. `names_instance` puts the instance's id before
    /// each line.
    void print(bool names_instance);

 private:
    struct Line {
        InstanceId instance;
        HistoryEntry entry;
    };

    Terminal& terminal_;
    const Format format_;
    std::mutex mutex_;
    std::vector<Line> lines_;
};

}  // namespace ebb::cli
