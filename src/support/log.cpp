#include "support/log.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <unistd.h>

#include "support/json.h"
#include "support/terminal.h"

namespace ebb {

std::string_view to_string(LogLevel level) {
    switch (level) {
        case LogLevel::Debug:
            return "debug";
        case LogLevel::Info:
            return "info";
        case LogLevel::Warning:
            return "warning";
        case LogLevel::Error:
            return "error";
    }
    return "error";
}

namespace {

bool is_plain(std::string_view value) {
    return !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
        return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\';
    });
}

void append_value(std::string& line, std::string_view value) {
    if (is_plain(value)) {
        line += value;
    } else {
        std::string quoted;
        append_json_string(quoted, value);
        line += terminal_json(std::move(quoted));
    }
}

class StderrLog : public LogSink {
 public:
    StderrLog(const Clock& clock, LogLevel lowest) : clock_(clock), lowest_(lowest) {}

    bool is_enabled(LogLevel level) const noexcept override { return level >= lowest_; }

    void write(
        LogLevel level, std::string_view event, std::span<const LogField> fields
    ) noexcept override {
        if (!is_enabled(level)) return;
        try {
            std::string line = format_logfmt(clock_.now(), level, event, fields);
            line += '\n';
            // A log that cannot be written must not disturb the work it tells about.
            [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
        } catch (const std::exception&) {
            return;
        }
    }

 private:
    const Clock& clock_;
    LogLevel lowest_;
};

/// A key of an application may have characters that would break the line.
void append_key(std::string& line, std::string_view key) {
    for (const char c : key) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
        line += is_plain ? c : '_';
    }
    if (key.empty()) line += '_';
}

}  // namespace

std::string logfmt_value(std::string_view value) {
    std::string text;
    append_value(text, value.substr(0, kLogLineBytesMax));
    return text;
}

std::string format_logfmt(
    TimePoint now, LogLevel level, std::string_view event, std::span<const LogField> fields
) {
    std::string line = "time=" + format_time(now);
    line += " level=";
    line += to_string(level);
    line += " event=";
    append_value(line, event);
    for (const LogField& field : fields) {
        line += ' ';
        append_key(line, field.key);
        line += '=';
        append_value(line, std::string_view(field.value).substr(0, kLogLineBytesMax));
    }
    constexpr std::string_view kCut = "...";
    constexpr std::size_t kMax = kLogLineBytesMax - 1;
    if (line.size() > kMax) line = clean_text(line, kMax - kCut.size()).append(kCut);
    return line;
}

std::shared_ptr<LogSink> make_stderr_log(const Clock& clock, LogLevel lowest) {
    return std::make_shared<StderrLog>(clock, lowest);
}

std::shared_ptr<LogSink> make_stderr_log(LogLevel lowest) {
    static const SystemClock kClock;
    return make_stderr_log(kClock, lowest);
}

}  // namespace ebb
