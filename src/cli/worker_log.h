#pragma once

#include <span>

#include <ebb/engine.h>

#include "cli/session.h"
#include "cli/watched_handlers.h"
#include "support/log.h"

namespace ebb::cli {

/// The log of `ebb worker` and `ebb serve`. For each event: one line of logfmt on stderr; on a
/// terminal, a shorter line that is wrapped at the terminal's width; with --json, one line of JSON
/// on stdout. Thread-safe.
class WorkerLog : public LogSink {
 public:
    WorkerLog(Session& session, LogLevel lowest) : session_(session), lowest_(lowest) {}

    bool is_enabled(LogLevel level) const noexcept override { return level >= lowest_; }

    void write(
        LogLevel level, std::string_view event, std::span<const LogField> fields
    ) noexcept override;

    /// A handler is called: for --verbose.
    void write(const CallStarted& call) noexcept;
    /// What has happened to an instance.
    void write(const InstanceSummary& instance, std::span<const HistoryEntry> events) noexcept;

 private:
    Session& session_;
    LogLevel lowest_;
};

}  // namespace ebb::cli
