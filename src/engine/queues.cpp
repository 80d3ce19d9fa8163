// Queues and workers, as operators see and set them.

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/core.h"
#include "engine/queue_name.h"

namespace ebb {

namespace {

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::InvalidArgument, why);
}

void check_concurrency(std::string_view what, const std::optional<int>& value, int least) {
    if (!value || (*value >= least && *value <= QueueLimits::kConcurrencyMax)) return;
    refuse(fmt::format(
        "The {} {} is not allowed; it goes from {} to {}.",
        what,
        *value,
        least,
        QueueLimits::kConcurrencyMax
    ));
}

void check_limits(const QueueLimits& limits) {
    check_concurrency("concurrency", limits.concurrency, 0);
    check_concurrency("concurrency per key", limits.concurrency_per_key, 1);
    if (!limits.rate) return;
    const QueueRate& rate = *limits.rate;
    if (rate.starts < 1 || rate.starts > QueueLimits::kStartsMax) {
        refuse(fmt::format(
            "A rate of {} starts is not allowed; it goes from 1 to {}. To let nothing start, set "
            "the concurrency to 0.",
            rate.starts,
            QueueLimits::kStartsMax
        ));
    }
    if (rate.period < QueueLimits::kPeriodMin || rate.period > QueueLimits::kPeriodMax) {
        refuse(fmt::format(
            "A rate's period of {} is not allowed; it goes from {} to {}.",
            format_duration(rate.period),
            format_duration(QueueLimits::kPeriodMin),
            format_duration(QueueLimits::kPeriodMax)
        ));
    }
}

}  // namespace

void Engine::Core::set_queue(std::string_view name, const QueueLimits& limits) {
    engine::check_queue_name(name);
    check_limits(limits);
    environment.store.set_queue(
        {.name = std::string(name), .limits = limits, .updated_at = environment.now()}
    );
    environment.limited.set_one(name, !limits.is_unlimited());
    // More may start now than before.
    wake_workers();
}

void Engine::Core::wake_workers() {
    signals.ring_with_news();
    hints.note_any_work();
    tell_others();
}

std::vector<QueueView> Engine::Core::queues() {
    std::vector<QueueView> views;
    for (QueueUse& use : environment.store.queues({})) views.push_back(std::move(use.view));
    return views;
}

std::vector<WorkerView> Engine::Core::workers() {
    const TimePoint now = environment.now();
    const std::map<std::string, std::int64_t> leases = environment.store.count_leases();
    std::vector<WorkerView> views;
    for (WorkerRow& row : environment.store.workers()) {
        const auto held = leases.find(row.id);
        views.push_back({
            .id = std::move(row.id),
            .host = std::move(row.host),
            .pid = row.pid,
            .handlers = std::move(row.handlers),
            .queues = std::move(row.queues),
            .threads = row.capacity,
            .started_at = row.started_at,
            .expires_at = row.expires_at,
            .is_alive = row.expires_at > now,
            .is_draining = row.capacity == 0,
            .tasks = held == leases.end() ? 0 : held->second,
        });
    }
    return views;
}

std::vector<UnservedTasks> Engine::Core::unserved() {
    std::vector<UnservedTasks> tasks;
    for (Store::Unserved& each : environment.store.unserved()) {
        tasks.push_back({std::move(each.handler), std::move(each.queue), each.count});
    }
    return tasks;
}

std::vector<std::string> Engine::Core::unserved_by_anyone(const Program& program) {
    std::vector<std::string> missing;
    if (environment.handlers.names().empty()) return missing;
    for (const std::string& handler : program.handlers()) {
        if (environment.handlers.find(handler) == nullptr) missing.push_back(handler);
    }
    if (missing.empty()) return missing;
    const TimePoint now = environment.now();
    for (const WorkerRow& worker : environment.store.workers()) {
        if (worker.expires_at <= now) continue;
        std::erase_if(missing, [&](const std::string& handler) {
            return std::ranges::find(worker.handlers, handler) != worker.handlers.end();
        });
    }
    std::ranges::sort(missing);
    return missing;
}

}  // namespace ebb
