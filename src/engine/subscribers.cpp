#include "engine/subscribers.h"

#include <algorithm>
#include <utility>

#include <fnmatch.h>

#include "core/kernel/notices.h"
#include "engine/bulk_job.h"
#include "engine/webhook.h"
#include "store/store.h"

namespace ebb::engine {

namespace {

bool fits(const std::string& pattern, const std::string& name) {
    return fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
}

bool fits_one(const std::vector<std::string>& patterns, const std::string& name) {
    return patterns.empty() || std::any_of(patterns.begin(), patterns.end(), [&](const auto& each) {
               return fits(each, name);
           });
}

/// Of a bulk operation only its end is reported, whatever it is.
std::string_view bulk_notice_type(const HistoryEvent& event) {
    const bool is_end = event.type == HistoryType::Completed || event.type == HistoryType::Failed ||
                        event.type == HistoryType::Cancelled || event.type == HistoryType::Aborted;
    return is_end ? kBulkFinishedType : std::string_view();
}

}  // namespace

bool Subscribers::Subscriber::wants(std::string_view type, const std::string& workflow) const {
    return fits_one(events, std::string(type)) && fits_one(workflows, workflow);
}

void Subscribers::look(Store& store, SteadyPoint now) {
    const Duration::rep at = now.time_since_epoch().count();
    const Duration::rep before = looked_at_;
    if (before != kNever && at - before < kKnownFor.count()) return;
    // The mark is not that of a heartbeat, so the first one reads them again.
    set(store.subscriptions(), "look");
    looked_at_ = at;
}

std::string Subscribers::mark() const {
    const Lock lock(mutex_);
    return mark_;
}

void Subscribers::set(const std::vector<Subscription>& subscriptions, std::string mark) {
    auto subscribers = std::make_shared<std::vector<Subscriber>>();
    for (const Subscription& each : subscriptions) {
        if (!each.is_enabled) continue;
        Webhook webhook = parse_webhook(each);
        subscribers->push_back(
            {.name = each.name,
             .events = std::move(webhook.events),
             .workflows = std::move(webhook.workflows),
             .is_suspended = each.suspended_at != TimePoint{}}
        );
    }
    {
        const Lock lock(mutex_);
        mark_ = std::move(mark);
        is_empty_ = subscribers->empty();
        subscribers_ = std::move(subscribers);
    }
    if (echo_) echo_();
}

Subscribers::Subscribed Subscribers::subscribed() const {
    const Lock lock(mutex_);
    return subscribers_;
}

void Subscribers::add_notices(
    const InstanceRow& row,
    InstanceStatus status,
    std::span<const HistoryEvent> events,
    Effects& effects
) {
    if (is_empty()) return;
    const bool is_bulk = row.workflow == kBulkWorkflow;
    if (is_system_workflow(row.workflow) && !is_bulk) return;
    const Subscribed subscribers = subscribed();
    NoticeSubject subject{
        .id = row.id,
        .workflow = row.workflow,
        .version = row.version,
        .key = row.key,
        .status = status
    };
    if (!effects.failures.empty() && !effects.failures.back().is_over) {
        subject.failure = &effects.failures.back().note;
    }
    for (const HistoryEvent& event : events) {
        const std::string_view type = is_bulk ? bulk_notice_type(event) : notice_type(event);
        if (type.empty()) continue;
        std::string data;
        for (const Subscriber& each : *subscribers) {
            if (!each.wants(type, row.workflow)) continue;
            if (data.empty()) data = notice_data(subject, event);
            effects.notices.push_back({each.name, event.seq, std::string(type), data, event.at});
        }
    }
}

void Subscribers::add_overdue(
    const InstanceRow& row,
    InstanceStatus status,
    std::span<const HistoryEvent> events,
    Effects& effects
) {
    if (is_empty() || events.empty() || is_system_workflow(row.workflow)) return;
    const Subscribed subscribers = subscribed();
    const NoticeSubject subject{
        .id = row.id,
        .workflow = row.workflow,
        .version = row.version,
        .key = row.key,
        .status = status
    };
    for (const HistoryEvent& event : events) {
        for (const Subscriber& each : *subscribers) {
            if (!each.wants(kOverdueType, row.workflow)) continue;
            effects.notices.push_back(
                {each.name,
                 kOverdueSeq + event.seq,
                 std::string(kOverdueType),
                 notice_data(subject, event),
                 event.at}
            );
        }
    }
}

bool Subscribers::wants(std::string_view type) const {
    if (is_empty()) return false;
    const Subscribed subscribers = subscribed();
    return std::any_of(subscribers->begin(), subscribers->end(), [&](const Subscriber& each) {
        return each.wants(type, {});
    });
}

std::vector<OutboxRow> Subscribers::notices_of(
    std::string_view type, const InstanceId& id, const std::string& data, TimePoint at
) const {
    std::vector<OutboxRow> rows;
    for (const Subscriber& each : *subscribed()) {
        if (!each.wants(type, {})) continue;
        Notice notice{
            .subscription = each.name, .seq = 0, .type = std::string(type), .data = data, .at = at
        };
        rows.push_back({id, std::move(notice)});
    }
    return rows;
}

std::vector<std::string> Subscribers::enabled() const {
    std::vector<std::string> names;
    for (const Subscriber& each : *subscribed()) names.push_back(each.name);
    return names;
}

std::vector<std::string> Subscribers::active() const {
    std::vector<std::string> names;
    for (const Subscriber& each : *subscribed()) {
        if (!each.is_suspended) names.push_back(each.name);
    }
    return names;
}

}  // namespace ebb::engine
