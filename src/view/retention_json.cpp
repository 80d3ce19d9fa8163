#include "view/retention_json.h"

#include <fmt/format.h>

#include "support/clock.h"

namespace ebb::view {

std::string kept_text(const std::optional<Duration>& kept) {
    if (!kept) return std::string(kForever);
    constexpr Duration kDay = std::chrono::hours(24);
    const auto days = *kept / kDay;
    const Duration rest = *kept % kDay;
    if (days == 0) return format_duration(*kept);
    return fmt::format("{}d{}", days, rest > Duration::zero() ? format_duration(rest) : "");
}

Json retention_json(const RetentionRule& rule, const std::optional<PartitionView>& partitions) {
    return {
        {"workflow", rule.workflow},
        {"completed", kept_text(rule.keep.completed)},
        {"failed", kept_text(rule.keep.failed)},
        {"updated_at", time_json(rule.updated_at)},
        {"partitioned_by", partitions ? Json(partitions->period) : Json(nullptr)},
    };
}

Json purge_json(const PurgeReport& report, bool is_dry_run) {
    Json workflows = Json::object();
    for (const PurgeCount& count : report.counts) {
        workflows[count.workflow][count.status] = count.instances;
    }
    return {
        {"dry_run", is_dry_run},
        {"instances", report.instances},
        {"workflows", std::move(workflows)},
    };
}

}  // namespace ebb::view
