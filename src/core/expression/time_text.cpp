#include "core/expression/time_text.h"

#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace ebb::expression {

namespace {

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

/// Holds every product of a 64-bit number and a unit.
__extension__ typedef __int128 Int128;

/// Reads a text from its beginning.
class Reader {
 public:
    explicit Reader(std::string_view text) : text_(text) {}

    bool is_done() const { return text_.empty(); }

    bool take(char c) {
        if (text_.empty() || text_.front() != c) return false;
        text_.remove_prefix(1);
        return true;
    }

    bool take_any(std::string_view letters) {
        if (text_.empty() || letters.find(text_.front()) == std::string_view::npos) return false;
        text_.remove_prefix(1);
        return true;
    }

    bool take_word(std::string_view word) {
        if (!text_.starts_with(word)) return false;
        text_.remove_prefix(word.size());
        return true;
    }

    /// A number of exactly `count` digits.
    std::optional<int> number(std::size_t count) {
        if (text_.size() < count) return std::nullopt;
        int value = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (text_[i] < '0' || text_[i] > '9') return std::nullopt;
            value = value * 10 + (text_[i] - '0');
        }
        text_.remove_prefix(count);
        return value;
    }

    std::string_view digits() {
        std::size_t length = 0;
        while (length < text_.size() && text_[length] >= '0' && text_[length] <= '9') ++length;
        const std::string_view found = text_.substr(0, length);
        text_.remove_prefix(length);
        return found;
    }

 private:
    std::string_view text_;
};

std::optional<std::int64_t> read_date(Reader& reader) {
    const auto year = reader.number(4);
    if (!year || !reader.take('-')) return std::nullopt;
    const auto month = reader.number(2);
    if (!month || !reader.take('-')) return std::nullopt;
    const auto day = reader.number(2);
    if (!day) return std::nullopt;
    const std::chrono::year_month_day date{
        std::chrono::year(*year),
        std::chrono::month(static_cast<unsigned>(*month)),
        std::chrono::day(static_cast<unsigned>(*day)),
    };
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days(date).time_since_epoch().count() * std::int64_t{86'400};
}

std::optional<std::int64_t> read_hours_and_minutes(Reader& reader) {
    const auto hours = reader.number(2);
    if (!hours || *hours > 23 || !reader.take(':')) return std::nullopt;
    const auto minutes = reader.number(2);
    if (!minutes || *minutes > 59) return std::nullopt;
    return *hours * 3600 + *minutes * 60;
}

std::optional<std::int64_t> read_offset(Reader& reader) {
    if (reader.take_any("Zz")) return 0;
    const bool is_west = reader.take('-');
    if (!is_west && !reader.take('+')) return std::nullopt;
    const auto offset = read_hours_and_minutes(reader);
    if (!offset) return std::nullopt;
    return is_west ? -*offset : *offset;
}

/// Up to nine digits as nanoseconds; further ones are dropped.
std::int32_t nanoseconds_of(std::string_view digits) {
    std::int32_t value = 0;
    for (std::size_t i = 0; i < 9; ++i) {
        value = value * 10 + (i < digits.size() ? digits[i] - '0' : 0);
    }
    return value;
}

/// `.5`, or nothing: the digits of `nanoseconds` without zeros at the end.
std::string fraction(std::int64_t nanoseconds) {
    if (nanoseconds == 0) return {};
    std::string text = fmt::format(".{:09}", nanoseconds);
    while (text.back() == '0') text.pop_back();
    return text;
}

std::optional<std::int64_t> read_unit(Reader& reader) {
    using Unit = std::pair<std::string_view, std::int64_t>;
    static constexpr std::array<Unit, 7> kUnits = {{
        {"ns", 1},
        {"us", 1'000},
        {"\u00B5s", 1'000},
        {"ms", 1'000'000},
        {"s", kNanosPerSecond},
        {"m", 60 * kNanosPerSecond},
        {"h", 3600 * kNanosPerSecond},
    }};
    for (const auto& [name, nanoseconds] : kUnits) {
        if (reader.take_word(name)) return nanoseconds;
    }
    return std::nullopt;
}

/// One number with its unit.
std::optional<Int128> read_part(Reader& reader) {
    const std::string_view whole = reader.digits();
    const std::string_view part = reader.take('.') ? reader.digits() : std::string_view();
    if (whole.empty() && part.empty()) return std::nullopt;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), number);
    if (!whole.empty() && error != std::errc()) return std::nullopt;
    const auto unit = read_unit(reader);
    if (!unit) return std::nullopt;
    Int128 sum = static_cast<Int128>(number) * *unit;
    sum += static_cast<Int128>(nanoseconds_of(part)) * *unit / kNanosPerSecond;
    return sum;
}

}  // namespace

bool is_in_range(const Moment& moment) {
    // 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z
    return moment.seconds >= -62'135'596'800 && moment.seconds <= 253'402'300'799;
}

std::optional<Moment> parse_moment(std::string_view text) {
    Reader reader(text);
    const auto day = read_date(reader);
    if (!day || !reader.take_any("Tt")) return std::nullopt;
    const auto minutes = read_hours_and_minutes(reader);
    if (!minutes || !reader.take(':')) return std::nullopt;
    const auto seconds = reader.number(2);
    if (!seconds || *seconds > 59) return std::nullopt;
    std::int32_t nanoseconds = 0;
    if (reader.take('.')) {
        const std::string_view digits = reader.digits();
        if (digits.empty()) return std::nullopt;
        nanoseconds = nanoseconds_of(digits);
    }
    const auto offset = read_offset(reader);
    if (!offset || !reader.is_done()) return std::nullopt;
    return Moment{.seconds = *day + *minutes + *seconds - *offset, .nanoseconds = nanoseconds};
}

std::string format_moment(const Moment& moment) {
    const std::chrono::sys_seconds time{std::chrono::seconds(moment.seconds)};
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(time - day);
    return fmt::format(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}Z",
        static_cast<int>(date.year()),
        static_cast<unsigned>(date.month()),
        static_cast<unsigned>(date.day()),
        clock.hours().count(),
        clock.minutes().count(),
        clock.seconds().count(),
        fraction(moment.nanoseconds)
    );
}

std::optional<std::int64_t> parse_nanoseconds(std::string_view text) {
    Reader reader(text);
    const bool is_negative = reader.take('-');
    if (!is_negative) reader.take('+');
    if (Reader zero = reader; zero.take('0') && zero.is_done()) return 0;
    if (reader.is_done()) return std::nullopt;
    Int128 sum = 0;
    while (!reader.is_done()) {
        const auto part = read_part(reader);
        if (!part) return std::nullopt;
        sum += *part;
        if (sum > INT64_MAX) return std::nullopt;
    }
    return static_cast<std::int64_t>(is_negative ? -sum : sum);
}

std::string format_nanoseconds(std::int64_t nanoseconds) {
    // The magnitude of the least int64 does not fit into an int64.
    const std::uint64_t magnitude = nanoseconds < 0 ? 0 - static_cast<std::uint64_t>(nanoseconds)
                                                    : static_cast<std::uint64_t>(nanoseconds);
    return fmt::format(
        "{}{}{}s",
        nanoseconds < 0 ? "-" : "",
        magnitude / kNanosPerSecond,
        fraction(static_cast<std::int64_t>(magnitude % kNanosPerSecond))
    );
}

std::optional<std::int64_t> parse_zone(std::string_view text) {
    if (text == "UTC" || text == "Z") return 0;
    Reader reader(text);
    const bool is_west = reader.take('-');
    if (!is_west) reader.take('+');
    const auto offset = read_hours_and_minutes(reader);
    if (!offset || !reader.is_done()) return std::nullopt;
    return is_west ? -*offset : *offset;
}

}  // namespace ebb::expression
