#pragma once

#include <span>

#include <ebb/engine.h>

#include "cli/session.h"
#include "cli/watched_handlers.h"
#include "support/log.h"

namespace ebb::cli {

/// The log of `ebb worker`: one line for each event, as logfmt on stderr, or as JSON lines on
/// stdout with --json. Thread-safe.
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
