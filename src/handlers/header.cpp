#include "handlers/header.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "handlers/spec.h"

namespace ebb {

namespace {

constexpr std::array<std::string_view, 12> kMonths = {
    "Jan",
    "Feb",
    "Mar",
    "Apr",
    "May",
    "Jun",
    "Jul",
    "Aug",
    "Sep",
    "Oct",
    "Nov",
    "Dec",
};

/// The number that is all of `text`; -1 when it is not one.
int number(std::string_view text) {
    int value = 0;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    return error == std::errc() && end == last && value >= 0 ? value : -1;
}

}  // namespace

std::string to_lower(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
}

bool is_header_name(std::string_view name) {
    constexpr std::string_view kAllowed =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~";
    return !name.empty() && name.find_first_not_of(kAllowed) == std::string_view::npos;
}

bool is_header_value(std::string_view value) {
    return std::all_of(value.begin(), value.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte >= 0x20 && byte != 0x7f) || c == '\t';
    });
}

std::optional<TimePoint> parse_http_date(std::string_view text) {
    // Sun, 06 Nov 1994 08:49:37 GMT; the two obsolete forms are not sent by anything alive.
    constexpr std::string_view kShape = "???, ?? ??? ???? ??:??:?? GMT";
    if (text.size() != kShape.size()) return std::nullopt;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (kShape[i] != '?' && kShape[i] != text[i]) return std::nullopt;
    }
    const auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
    const int day = number(text.substr(5, 2));
    const int year = number(text.substr(12, 4));
    const int hour = number(text.substr(17, 2));
    const int minute = number(text.substr(20, 2));
    const int second = number(text.substr(23, 2));
    if (month == kMonths.end() || std::min({day, year, hour, minute, second}) < 0)
        return std::nullopt;
    const std::chrono::year_month_day date{
        std::chrono::year(year),
        std::chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1),
        std::chrono::day(static_cast<unsigned>(day))
    };
    if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
    return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
           std::chrono::seconds(second);
}

std::optional<Duration> parse_retry_after(std::string_view text, TimePoint now) {
    std::optional<Duration> wait;
    const bool is_count =
        !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_count) {
        const int seconds = number(text);
        wait =
            seconds < 0 ? HandlerLimits::kRetryAfterMax : Duration(std::chrono::seconds(seconds));
    } else if (const auto date = parse_http_date(text)) {
        wait = *date - now;
    }
    if (wait) wait = std::clamp(*wait, Duration(0), HandlerLimits::kRetryAfterMax);
    return wait;
}

}  // namespace ebb
