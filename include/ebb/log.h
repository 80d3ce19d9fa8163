#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <ebb/print.h>

namespace ebb {

class Clock;

enum class LogLevel { Debug, Info, Warning, Error };

/// `debug`, `info`, `warning`, `error`.
std::string_view to_string(LogLevel level);

/// One key and its value as text. The key is snake_case.
struct LogField {
    LogField(std::string_view field_key, std::string_view text) : key(field_key), value(text) {}

    template <class Number>
        requires(std::is_arithmetic_v<Number>)
    LogField(std::string_view field_key, Number number) : key(field_key), value(to_value(number)) {}

    std::string_view key;
    std::string value;

 private:
    template <class Number>
    static std::string to_value(Number number) {
        if constexpr (std::same_as<Number, bool>)
            return number ? "true" : "false";
        else
            return std::to_string(number);
    }
};

/// The destination of log events. Without one, the library does not log. Implementations are called
/// from any thread and must not throw; `event` and `fields` live only until `write` returns.
class LogSink {
 public:
    virtual ~LogSink() = default;

    /// False: events of this level are dropped, so callers do not have to create them.
    virtual bool is_enabled(LogLevel level) const noexcept = 0;

    /// `event` is a stable snake_case name, such as `lease_lost`.
    virtual void write(
        LogLevel level, std::string_view event, std::span<const LogField> fields
    ) noexcept = 0;
};

/// Writes every event of at least `lowest` to stderr as logfmt, each line with one write so that
/// lines of several threads and processes do not mix. `clock` must outlive the sink.
std::shared_ptr<LogSink> make_stderr_log(const Clock& clock, LogLevel lowest = LogLevel::Info);
/// The same with the clock of the system: `EngineOptions::log` takes it.
std::shared_ptr<LogSink> make_stderr_log(LogLevel lowest = LogLevel::Info);

}  // namespace ebb
