#include "core/predicate/time_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <limits>

#include <fmt/format.h>

namespace ebb::predicate {

namespace {

using std::chrono::day;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

constexpr int kYearMax = 9'999;

year_month_day civil(std::int64_t days) {
    return year_month_day(sys_days(std::chrono::days(days)));
}

std::int64_t days_of(year_month_day date) {
    return sys_days(date).time_since_epoch().count();
}

std::int64_t floor_divide(std::int64_t value, std::int64_t by) {
    return value / by - (value % by < 0 ? 1 : 0);
}

class Cursor {
 public:
    explicit Cursor(std::string_view text) : text_(text) {}

    bool is_done() const { return text_.empty(); }

    bool take(char c) {
        if (text_.empty() || text_.front() != c) return false;
        text_.remove_prefix(1);
        return true;
    }

    bool is_digit() const { return !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; }

    /// A number of exactly `count` digits.
    std::optional<int> digits(std::size_t count) {
        int value = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (!is_digit()) return std::nullopt;
            value = 10 * value + (text_.front() - '0');
            text_.remove_prefix(1);
        }
        return value;
    }

    /// The digits after a decimal point, in millionths.
    std::optional<int> fraction() {
        int value = 0;
        int count = 0;
        for (; is_digit() && count < 6; ++count) value = 10 * value + *digits(1);
        if (count == 0 || is_digit()) return std::nullopt;
        for (; count < 6; ++count) value *= 10;
        return value;
    }

    std::optional<std::int64_t> whole_number() {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
        constexpr std::int64_t kMax = 1'000'000'000'000'000;
        if (error != std::errc() || value > kMax || value < -kMax) return std::nullopt;
        text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
        return value;
    }

    std::string_view letters() {
        std::size_t length = 0;
        while (length < text_.size() && text_[length] >= 'a' && text_[length] <= 'z') ++length;
        const std::string_view word = text_.substr(0, length);
        text_.remove_prefix(length);
        return word;
    }

    void skip_spaces() {
        while (take(' ')) {
        }
    }

 private:
    std::string_view text_;
};

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

std::optional<std::int64_t> take_date(Cursor& at) {
    const auto y = at.digits(4);
    if (!y || !at.take('-')) return std::nullopt;
    const auto m = at.digits(2);
    if (!m || !at.take('-')) return std::nullopt;
    const auto d = at.digits(2);
    if (!d || *y < 1) return std::nullopt;
    const year_month_day date{
        year(*y), month(static_cast<unsigned>(*m)), day(static_cast<unsigned>(*d))
    };
    if (!date.ok()) return std::nullopt;
    return days_of(date);
}

std::optional<std::int64_t> take_time(Cursor& at) {
    const auto hours = at.digits(2);
    if (!hours || !at.take(':')) return std::nullopt;
    const auto minutes = at.digits(2);
    if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
    std::int64_t micros = (std::int64_t{*hours} * 60 + *minutes) * 60'000'000;
    if (!at.take(':')) return micros;
    const auto seconds = at.digits(2);
    if (!seconds || *seconds > 59) return std::nullopt;
    micros += std::int64_t{*seconds} * 1'000'000;
    if (!at.take('.')) return micros;
    const auto fraction = at.fraction();
    if (!fraction) return std::nullopt;
    return micros + *fraction;
}

std::optional<std::int64_t> take_offset(Cursor& at) {
    if (at.is_done() || at.take('Z')) return 0;
    const bool is_west = at.take('-');
    if (!is_west && !at.take('+')) return std::nullopt;
    const auto hours = at.digits(2);
    if (!hours || *hours > 15) return std::nullopt;
    int minutes = 0;
    if (at.take(':') || at.is_digit()) {
        const auto read = at.digits(2);
        if (!read || *read > 59) return std::nullopt;
        minutes = *read;
    }
    const std::int64_t offset = (std::int64_t{*hours} * 60 + minutes) * 60'000'000;
    return is_west ? -offset : offset;
}

struct Unit {
    std::string_view name;
    std::int64_t Interval::* member;
    std::int64_t factor;
};

constexpr std::int64_t kSecond = 1'000'000;

constexpr std::array<Unit, 40> kUnits{{
    {"y", &Interval::months, 12},
    {"yr", &Interval::months, 12},
    {"yrs", &Interval::months, 12},
    {"year", &Interval::months, 12},
    {"years", &Interval::months, 12},
    {"mon", &Interval::months, 1},
    {"mons", &Interval::months, 1},
    {"month", &Interval::months, 1},
    {"months", &Interval::months, 1},
    {"w", &Interval::days, 7},
    {"week", &Interval::days, 7},
    {"weeks", &Interval::days, 7},
    {"d", &Interval::days, 1},
    {"day", &Interval::days, 1},
    {"days", &Interval::days, 1},
    {"h", &Interval::microseconds, 3'600 * kSecond},
    {"hr", &Interval::microseconds, 3'600 * kSecond},
    {"hrs", &Interval::microseconds, 3'600 * kSecond},
    {"hour", &Interval::microseconds, 3'600 * kSecond},
    {"hours", &Interval::microseconds, 3'600 * kSecond},
    {"m", &Interval::microseconds, 60 * kSecond},
    {"min", &Interval::microseconds, 60 * kSecond},
    {"mins", &Interval::microseconds, 60 * kSecond},
    {"minute", &Interval::microseconds, 60 * kSecond},
    {"minutes", &Interval::microseconds, 60 * kSecond},
    {"s", &Interval::microseconds, kSecond},
    {"sec", &Interval::microseconds, kSecond},
    {"secs", &Interval::microseconds, kSecond},
    {"second", &Interval::microseconds, kSecond},
    {"seconds", &Interval::microseconds, kSecond},
    {"ms", &Interval::microseconds, 1'000},
    {"msec", &Interval::microseconds, 1'000},
    {"msecs", &Interval::microseconds, 1'000},
    {"millisecond", &Interval::microseconds, 1'000},
    {"milliseconds", &Interval::microseconds, 1'000},
    {"us", &Interval::microseconds, 1},
    {"usec", &Interval::microseconds, 1},
    {"usecs", &Interval::microseconds, 1},
    {"microsecond", &Interval::microseconds, 1},
    {"microseconds", &Interval::microseconds, 1},
}};

/// PostgreSQL's intervals reach further; sums of these cannot overflow.
bool is_reasonable(const Interval& interval) {
    constexpr std::int64_t kYears = 20'000;
    return std::abs(interval.months) <= 12 * kYears && std::abs(interval.days) <= 366 * kYears &&
           std::abs(interval.microseconds) <= 366 * kYears * kMicrosecondsPerDay;
}

}  // namespace

bool is_date_in_range(std::int64_t days) {
    static const std::int64_t first = days_of(year(1) / 1 / 1);
    static const std::int64_t last = days_of(year(kYearMax) / 12 / 31);
    return days >= first && days <= last;
}

std::optional<std::int64_t> parse_date(std::string_view text) {
    Cursor at(trimmed(text));
    const auto days = take_date(at);
    return at.is_done() ? days : std::nullopt;
}

std::string format_date(std::int64_t days) {
    const year_month_day date = civil(days);
    return fmt::format(
        "{:04}-{:02}-{:02}",
        static_cast<int>(date.year()),
        static_cast<unsigned>(date.month()),
        static_cast<unsigned>(date.day())
    );
}

std::optional<std::int64_t> parse_timestamp(std::string_view text) {
    Cursor at(trimmed(text));
    const auto days = take_date(at);
    if (!days) return std::nullopt;
    if (at.is_done()) return *days * kMicrosecondsPerDay;
    if (!at.take('T') && !at.take(' ')) return std::nullopt;
    const auto time = take_time(at);
    if (!time) return std::nullopt;
    const auto offset = take_offset(at);
    if (!offset || !at.is_done()) return std::nullopt;
    const std::int64_t micros = *days * kMicrosecondsPerDay + *time - *offset;
    return date_of(micros) ? std::optional(micros) : std::nullopt;
}

std::string format_timestamp(std::int64_t microseconds) {
    const std::int64_t days = floor_divide(microseconds, kMicrosecondsPerDay);
    const std::int64_t time = microseconds - days * kMicrosecondsPerDay;
    return fmt::format(
        "{} {:02}:{:02}:{:02}.{:06}+00",
        format_date(days),
        time / (3'600 * kSecond),
        time / (60 * kSecond) % 60,
        time / kSecond % 60,
        time % kSecond
    );
}

std::optional<Interval> parse_interval(std::string_view text) {
    std::string lower(trimmed(text));
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    Cursor at(lower);
    Interval interval;
    if (at.is_done()) return std::nullopt;
    while (!at.is_done()) {
        Cursor clock = at;
        if (const auto time = take_time(clock); time && clock.is_done()) {
            interval.microseconds += *time;
            break;
        }
        const auto number = at.whole_number();
        if (!number) return std::nullopt;
        at.skip_spaces();
        const std::string_view word = at.letters();
        const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& candidate) {
            return candidate.name == word;
        });
        if (unit == kUnits.end()) return std::nullopt;
        if (std::abs(*number) > std::numeric_limits<std::int64_t>::max() / 4 / unit->factor) {
            return std::nullopt;
        }
        interval.*unit->member += *number * unit->factor;
        if (!is_reasonable(interval)) return std::nullopt;
        at.skip_spaces();
    }
    return interval;
}

std::string format_interval(const Interval& interval) {
    const std::int64_t seconds = interval.microseconds / kSecond;
    const std::int64_t fraction = std::abs(interval.microseconds % kSecond);
    const bool is_small_negative = interval.microseconds < 0 && seconds == 0;
    return fmt::format(
        "P{}M{}DT{}{}.{:06}S",
        interval.months,
        interval.days,
        is_small_negative ? "-" : "",
        seconds,
        fraction
    );
}

std::optional<std::int64_t> date_of(std::int64_t microseconds) {
    const std::int64_t days = floor_divide(microseconds, kMicrosecondsPerDay);
    return is_date_in_range(days) ? std::optional(days) : std::nullopt;
}

std::optional<std::int64_t> add_interval(
    std::int64_t microseconds, const Interval& interval, int sign
) {
    std::int64_t days = floor_divide(microseconds, kMicrosecondsPerDay);
    const std::int64_t time = microseconds - days * kMicrosecondsPerDay;
    if (interval.months != 0) {
        const year_month_day date = civil(days);
        const std::int64_t months = std::int64_t{static_cast<int>(date.year())} * 12 +
                                    static_cast<unsigned>(date.month()) - 1 +
                                    sign * interval.months;
        const std::int64_t y = floor_divide(months, 12);
        if (y < 1 || y > kYearMax) return std::nullopt;
        const auto first =
            year(static_cast<int>(y)) / month(static_cast<unsigned>(months - 12 * y) + 1);
        const day last = (first / std::chrono::last).day();
        days = days_of(first / std::min(date.day(), last));
    }
    days += sign * interval.days;
    const std::int64_t result = days * kMicrosecondsPerDay + time + sign * interval.microseconds;
    return date_of(result) ? std::optional(result) : std::nullopt;
}

}  // namespace ebb::predicate
