#include "server/api/settings.h"

#include <fmt/format.h>

#include "server/api/problem.h"
#include "support/clock.h"
#include "view/retention_json.h"

namespace ebb::server {

namespace {

std::optional<Duration> read_kept(Body& body, std::string_view name) {
    const auto text = body.text(name, 32);
    if (!text || *text == view::kForever) return std::nullopt;
    const auto kept = parse_duration(*text);
    if (!kept) {
        throw Problem(
            "invalid_argument",
            fmt::format("The member \"{}\" is not a duration such as 30d, or forever.", name)
        );
    }
    return kept;
}

}  // namespace

QueueLimits read_queue_limits(Body& body) {
    QueueLimits limits;
    const auto number = [&](std::string_view name) -> std::optional<int> {
        const auto value = body.integer(name, 0, QueueLimits::kConcurrencyMax);
        if (!value) return std::nullopt;
        return static_cast<int>(*value);
    };
    limits.concurrency = number("concurrency");
    limits.concurrency_per_key = number("concurrency_per_key");
    if (auto rate = body.object("rate")) {
        const auto starts = rate->integer("starts", 1, QueueLimits::kStartsMax);
        const auto period = parse_duration(rate->required_text("period", 32));
        rate->check_all_used();
        if (!starts || !period) {
            throw Problem(
                "invalid_argument",
                "The member \"rate\" has starts (a number) and period (a duration such as 1m)."
            );
        }
        limits.rate = QueueRate{static_cast<int>(*starts), *period};
    }
    body.check_all_used();
    return limits;
}

Retention read_retention(Body& body) {
    const Retention keep{
        .completed = read_kept(body, "completed"), .failed = read_kept(body, "failed")
    };
    body.check_all_used();
    return keep;
}

}  // namespace ebb::server
