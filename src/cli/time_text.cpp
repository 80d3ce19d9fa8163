#include "cli/time_text.h"

#include <charconv>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "cli/text.h"
#include "support/clock.h"

namespace ebb::cli {

namespace {

std::tm local_fields(TimePoint time) {
    const std::time_t seconds =
        std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
    std::tm fields{};
    localtime_r(&seconds, &fields);
    return fields;
}

TimePoint from_local(std::tm fields) {
    fields.tm_isdst = -1;
    return TimePoint(std::chrono::seconds(std::mktime(&fields)));
}

TimePoint midnight(TimePoint now, int days_before) {
    std::tm fields = local_fields(now);
    fields.tm_mday -= days_before;
    fields.tm_hour = fields.tm_min = fields.tm_sec = 0;
    return from_local(fields);
}

/// Reads `text` by a pattern in which `d` stands for a digit. Empty if it does not fit.
bool fits(std::string_view text, std::string_view pattern) {
    if (text.size() != pattern.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool is_digit = text[i] >= '0' && text[i] <= '9';
        const bool is_gap = pattern[i] == ' ' && (text[i] == ' ' || text[i] == 'T');
        if (pattern[i] == 'd' ? !is_digit : text[i] != pattern[i] && !is_gap) return false;
    }
    return true;
}

int number_at(std::string_view text, std::size_t at, std::size_t length) {
    int number = 0;
    std::from_chars(text.data() + at, text.data() + at + length, number);
    return number;
}

std::optional<TimePoint> parse_local(std::string_view text) {
    const bool is_date = fits(text, "dddd-dd-dd");
    const bool has_minutes = fits(text, "dddd-dd-dd dd:dd");
    const bool has_seconds = fits(text, "dddd-dd-dd dd:dd:dd");
    if (!is_date && !has_minutes && !has_seconds) return std::nullopt;
    std::tm fields{};
    fields.tm_year = number_at(text, 0, 4) - 1'900;
    fields.tm_mon = number_at(text, 5, 2) - 1;
    fields.tm_mday = number_at(text, 8, 2);
    if (!is_date) fields.tm_hour = number_at(text, 11, 2);
    if (!is_date) fields.tm_min = number_at(text, 14, 2);
    if (has_seconds) fields.tm_sec = number_at(text, 17, 2);
    const std::tm wanted = fields;
    const TimePoint time = from_local(fields);
    // mktime turns the 31st of a short month into the next month.
    const std::tm read = local_fields(time);
    const bool is_date_valid = read.tm_mon == wanted.tm_mon && read.tm_mday == wanted.tm_mday;
    const bool is_time_valid = wanted.tm_hour < 24 && wanted.tm_min < 60 && wanted.tm_sec < 60;
    return is_date_valid && is_time_valid ? std::optional(time) : std::nullopt;
}

}  // namespace

std::string absolute_time(TimePoint time, Times times) {
    if (times == Times::Utc) {
        return fmt::format("{:%Y-%m-%d %H:%M:%S}Z", std::chrono::floor<std::chrono::seconds>(time));
    }
    return fmt::format("{:%Y-%m-%d %H:%M:%S}", local_fields(time));
}

std::string until_text(TimePoint time, TimePoint now) {
    return time <= now ? "now" : "in " + elapsed(time - now);
}

std::string time_text(TimePoint time, TimePoint now, Times times) {
    if (times != Times::Relative) return absolute_time(time, times);
    return time > now ? until_text(time, now) : ago(time, now);
}

std::optional<TimePoint> parse_when(std::string_view text, TimePoint now) {
    if (text == "today") return midnight(now, 0);
    if (text == "yesterday") return midnight(now, 1);
    if (const auto duration = parse_duration(text)) return now - *duration;
    if (const auto time = parse_time(text)) return time;
    return parse_local(text);
}

}  // namespace ebb::cli
