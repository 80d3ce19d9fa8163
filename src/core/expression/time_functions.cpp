// getFullYear() to getMilliseconds(). Of a timestamp they give a part, of a duration the whole in
// that unit (but its milliseconds, which CEL counts from the last second).

#include <chrono>

#include "core/expression/functions.h"
#include "core/expression/source.h"
#include "core/expression/time_text.h"

namespace ebb::expression {

namespace {

using Days = std::chrono::sys_days;

/// A timestamp in the asked time zone.
struct LocalTime {
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;

    Days day() const {
        return std::chrono::floor<std::chrono::days>(
            std::chrono::sys_seconds(std::chrono::seconds(seconds))
        );
    }

    std::chrono::year_month_day date() const { return day(); }

    std::int64_t second_of_day() const {
        return seconds - day().time_since_epoch().count() * std::int64_t{86'400};
    }
};

/// Calls `part` with the timestamp, or fails.
template <typename Part>
Value of_timestamp(
    Context& context, std::string_view function, Arguments arguments, const Part& part
) {
    if (!arguments[0].is(Kind::Timestamp)) {
        return context.fail(
            "{}() needs a timestamp, but this is {}.", function, a_type(arguments[0])
        );
    }
    LocalTime time{.seconds = arguments[0].integer, .nanoseconds = arguments[0].extra};
    if (arguments.size() == 2) {
        if (!arguments[1].is(Kind::String)) {
            return context.fail(
                "The time zone of {}() is a string, but this is {}.", function, a_type(arguments[1])
            );
        }
        const auto zone = parse_zone(arguments[1].string());
        if (!zone) {
            return context.fail(
                "\"{}\" is not a time zone; there are \"UTC\" and offsets such as \"+01:00\", "
                "but no names of places.",
                shortened(arguments[1].string(), 60)
            );
        }
        time.seconds += *zone;
    }
    return int_value(static_cast<std::int64_t>(part(time)));
}

/// The same for functions that durations have too; `whole` gets the nanoseconds.
template <typename Part, typename Whole>
Value of_time(
    Context& context,
    std::string_view function,
    Arguments arguments,
    const std::pair<Part, Whole>& parts
) {
    if (arguments[0].is(Kind::Duration)) {
        if (arguments.size() == 2) {
            return context.fail("{}() of a duration takes no time zone.", function);
        }
        return int_value(parts.second(arguments[0].integer));
    }
    if (!arguments[0].is(Kind::Timestamp)) {
        return context.fail(
            "{}() needs a timestamp or a duration, but this is {}.", function, a_type(arguments[0])
        );
    }
    return of_timestamp(context, function, arguments, parts.first);
}

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

}  // namespace

Value get_full_year(Context& context, Arguments arguments) {
    return of_timestamp(context, "getFullYear", arguments, [](const LocalTime& time) {
        return static_cast<int>(time.date().year());
    });
}

Value get_month(Context& context, Arguments arguments) {
    return of_timestamp(context, "getMonth", arguments, [](const LocalTime& time) {
        return static_cast<unsigned>(time.date().month()) - 1;
    });
}

Value get_date(Context& context, Arguments arguments) {
    return of_timestamp(context, "getDate", arguments, [](const LocalTime& time) {
        return static_cast<unsigned>(time.date().day());
    });
}

Value get_day_of_month(Context& context, Arguments arguments) {
    return of_timestamp(context, "getDayOfMonth", arguments, [](const LocalTime& time) {
        return static_cast<unsigned>(time.date().day()) - 1;
    });
}

Value get_day_of_week(Context& context, Arguments arguments) {
    return of_timestamp(context, "getDayOfWeek", arguments, [](const LocalTime& time) {
        return std::chrono::weekday(time.day()).c_encoding();
    });
}

Value get_day_of_year(Context& context, Arguments arguments) {
    return of_timestamp(context, "getDayOfYear", arguments, [](const LocalTime& time) {
        return (time.day() - Days(time.date().year() / std::chrono::January / 1)).count();
    });
}

Value get_hours(Context& context, Arguments arguments) {
    const auto part = [](const LocalTime& time) { return time.second_of_day() / 3600; };
    const auto whole = [](std::int64_t nanoseconds) {
        return nanoseconds / (3600 * kNanosPerSecond);
    };
    return of_time(context, "getHours", arguments, std::pair(part, whole));
}

Value get_minutes(Context& context, Arguments arguments) {
    const auto part = [](const LocalTime& time) { return time.second_of_day() / 60 % 60; };
    const auto whole = [](std::int64_t nanoseconds) {
        return nanoseconds / (60 * kNanosPerSecond);
    };
    return of_time(context, "getMinutes", arguments, std::pair(part, whole));
}

Value get_seconds(Context& context, Arguments arguments) {
    const auto part = [](const LocalTime& time) { return time.second_of_day() % 60; };
    const auto whole = [](std::int64_t nanoseconds) { return nanoseconds / kNanosPerSecond; };
    return of_time(context, "getSeconds", arguments, std::pair(part, whole));
}

Value get_milliseconds(Context& context, Arguments arguments) {
    const auto part = [](const LocalTime& time) { return time.nanoseconds / 1'000'000; };
    const auto whole = [](std::int64_t nanoseconds) {
        return nanoseconds % kNanosPerSecond / 1'000'000;
    };
    return of_time(context, "getMilliseconds", arguments, std::pair(part, whole));
}

}  // namespace ebb::expression
