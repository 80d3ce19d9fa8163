#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <ebb/log.h>

#include "support/clock.h"

namespace ebb {

/// A cheap handle to a sink for those who log. Without a sink it drops everything.
class Log {
 public:
    Log() = default;

    explicit Log(std::shared_ptr<LogSink> sink) : sink_(std::move(sink)) {}

    bool is_enabled(LogLevel level) const noexcept { return sink_ && sink_->is_enabled(level); }

    void debug(std::string_view event, std::initializer_list<LogField> fields = {}) const noexcept {
        write(LogLevel::Debug, event, fields);
    }

    void info(std::string_view event, std::initializer_list<LogField> fields = {}) const noexcept {
        write(LogLevel::Info, event, fields);
    }

    void warning(std::string_view event, std::initializer_list<LogField> fields = {})
        const noexcept {
        write(LogLevel::Warning, event, fields);
    }

    void error(std::string_view event, std::initializer_list<LogField> fields = {}) const noexcept {
        write(LogLevel::Error, event, fields);
    }

    void write(LogLevel level, std::string_view event, std::span<const LogField> fields)
        const noexcept {
        if (is_enabled(level)) sink_->write(level, event, fields);
    }

 private:
    void write(LogLevel level, std::string_view event, std::initializer_list<LogField> fields)
        const noexcept {
        write(level, event, std::span<const LogField>(fields.begin(), fields.size()));
    }

    std::shared_ptr<LogSink> sink_;
};

/// The greatest length of one line of logfmt, its newline included. What is longer is cut and ends
/// in `...`.
inline constexpr std::size_t kLogLineBytesMax = std::size_t{16} << 10;

/// A value as it is in a line of logfmt: quoted if necessary, without control characters.
std::string logfmt_value(std::string_view value);

/// One line without its newline: `time=2026-11-21T05:10:00Z level=info event=lease_lost
/// instance=... step="pay now"`. Values are quoted where they must be; control characters are
/// escaped, invalid UTF-8 replaced, so that a value cannot forge a line.
std::string format_logfmt(
    TimePoint now, LogLevel level, std::string_view event, std::span<const LogField> fields
);

}  // namespace ebb
