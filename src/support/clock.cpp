#include "support/clock.h"

#include <algorithm>

#include <fmt/format.h>
#include <time.h>

namespace ebb {

using namespace std::chrono_literals;

TimePoint SystemClock::now() const {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

SteadyPoint SystemClock::steady_now() const {
#ifdef CLOCK_BOOTTIME
    // std::chrono::steady_clock stands still while the machine sleeps; leases do not.
    timespec time{};
    if (clock_gettime(CLOCK_BOOTTIME, &time) == 0) {
        const auto since =
            std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
        return SteadyPoint(std::chrono::duration_cast<Duration>(since));
    }
#endif
    return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
}

const Clock& SystemClock::source() const {
    static const SystemClock the_system;
    return the_system;
}

namespace {

// RFC 3339 has four digits for the year, so times outside (kNever is one) are written as the
// nearest that it can say.
constexpr TimePoint kFirstTime = std::chrono::sys_days(std::chrono::year(0) / 1 / 1);
constexpr TimePoint kLastTime =
    std::chrono::sys_days(std::chrono::year(10'000) / 1 / 1) - Duration(1);

/// Reads a text from left to right. Once something does not fit, `is_ok` stays false.
class Reader {
 public:
    explicit Reader(std::string_view text) : rest_(text) {}

    bool is_ok() const { return is_ok_; }

    bool at_end() const { return rest_.empty(); }

    /// The value of exactly `count` digits.
    int digits(std::size_t count) {
        int value = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const char c = take();
            is_ok_ = is_ok_ && c >= '0' && c <= '9';
            value = value * 10 + (c - '0');
        }
        return value;
    }

    int digits(std::size_t count, int max) {
        const int value = digits(count);
        is_ok_ = is_ok_ && value <= max;
        return value;
    }

    /// One of the characters of `allowed`.
    char one_of(std::string_view allowed) {
        const char c = take();
        is_ok_ = is_ok_ && c != '\0' && allowed.find(c) != std::string_view::npos;
        return c;
    }

    /// `.` and at least one digit, if there is a `.`; digits beyond the microseconds are dropped.
    Duration fraction() {
        if (rest_.empty() || rest_.front() != '.') return 0us;
        rest_.remove_prefix(1);
        const std::size_t count = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
        is_ok_ = is_ok_ && count > 0;
        Duration::rep micros = 0;
        for (std::size_t i = 0; i < 6; ++i) micros = micros * 10 + (i < count ? rest_[i] - '0' : 0);
        rest_.remove_prefix(count);
        return Duration(micros);
    }

 private:
    char take() {
        if (rest_.empty()) {
            is_ok_ = false;
            return '\0';
        }
        const char c = rest_.front();
        rest_.remove_prefix(1);
        return c;
    }

    std::string_view rest_;
    bool is_ok_ = true;
};

std::chrono::sys_days read_date(Reader& reader, bool& is_valid) {
    const int year = reader.digits(4);
    reader.one_of("-");
    const int month = reader.digits(2);
    reader.one_of("-");
    const int day = reader.digits(2);
    const auto date = std::chrono::year(year) / month / day;
    is_valid = reader.is_ok() && date.ok();
    return is_valid ? std::chrono::sys_days(date) : std::chrono::sys_days{};
}

std::chrono::minutes read_offset(Reader& reader) {
    const char sign = reader.one_of("Zz+-");
    if (sign != '+' && sign != '-') return 0min;
    const int hours = reader.digits(2, 23);
    reader.one_of(":");
    const int minutes = reader.digits(2, 59);
    const std::chrono::minutes offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
    return sign == '+' ? offset : -offset;
}

}  // namespace

std::string format_time(TimePoint time) {
    time = std::clamp(time, kFirstTime, kLastTime);
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(time - day);
    std::string text = fmt::format(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
        static_cast<int>(date.year()),
        static_cast<unsigned>(date.month()),
        static_cast<unsigned>(date.day()),
        clock.hours().count(),
        clock.minutes().count(),
        clock.seconds().count()
    );
    if (clock.subseconds() != 0us) {
        text += fmt::format(".{:06}", clock.subseconds().count());
        text.erase(text.find_last_not_of('0') + 1);
    }
    return text += 'Z';
}

std::optional<TimePoint> parse_time(std::string_view text) {
    Reader reader(text);
    bool is_date = false;
    const std::chrono::sys_days day = read_date(reader, is_date);
    if (!is_date) return std::nullopt;
    reader.one_of("Tt");
    const int hour = reader.digits(2, 23);
    reader.one_of(":");
    const int minute = reader.digits(2, 59);
    reader.one_of(":");
    const int second = reader.digits(2, 60);
    const Duration fraction = reader.fraction();
    const std::chrono::minutes offset = read_offset(reader);
    if (!reader.is_ok() || !reader.at_end()) return std::nullopt;
    const TimePoint whole = day + std::chrono::hours(hour) + std::chrono::minutes(minute) +
                            std::chrono::seconds(second) - offset;
    // A leap second ends a UTC day and is the first moment of the next one here, as in POSIX time.
    if (second == 60 && whole != std::chrono::floor<std::chrono::days>(whole)) return std::nullopt;
    return whole + fraction;
}

}  // namespace ebb
