#include <algorithm>

#include "store/postgres/partitions.h"

namespace ebb {

std::string_view to_string(PartitionPeriod period) {
    switch (period) {
        case PartitionPeriod::Day:
            return "day";
        case PartitionPeriod::Week:
            return "week";
        case PartitionPeriod::Month:
            break;
    }
    return "month";
}

namespace postgres {

using std::chrono::days;
using std::chrono::months;
using std::chrono::sys_days;
using std::chrono::weeks;
using std::chrono::year_month_day;

namespace {

sys_days first_day(PartitionPeriod period, TimePoint time) {
    const sys_days day = std::chrono::floor<days>(time);
    switch (period) {
        case PartitionPeriod::Day:
            return day;
        case PartitionPeriod::Week:
            return day - (std::chrono::weekday(day) - std::chrono::Monday);
        case PartitionPeriod::Month:
            break;
    }
    const year_month_day date(day);
    return sys_days(date.year() / date.month() / 1);
}

}  // namespace

TimePoint period_start(PartitionPeriod period, TimePoint time) {
    return first_day(period, time);
}

TimePoint period_end(PartitionPeriod period, TimePoint time) {
    const sys_days first = first_day(period, time);
    switch (period) {
        case PartitionPeriod::Day:
            return first + days(1);
        case PartitionPeriod::Week:
            return first + weeks(1);
        case PartitionPeriod::Month:
            break;
    }
    return sys_days(year_month_day(first) + months(1));
}

Duration made_ahead(PartitionPeriod period) {
    switch (period) {
        case PartitionPeriod::Day:
            return days(7);
        case PartitionPeriod::Week:
            return weeks(4);
        case PartitionPeriod::Month:
            break;
    }
    return days(93);
}

}  // namespace postgres

}  // namespace ebb
