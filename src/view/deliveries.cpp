#include "view/deliveries.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <ebb/error.h>

#include "core/kernel/notices.h"
#include "engine/system_workflows.h"
#include "engine/webhook.h"
#include "support/json.h"
#include "view/instance_json.h"

namespace ebb::view {

namespace {

/// More than all attempts of one delivery, with a requeue or two.
constexpr int kEventsMax = 64;
/// Of one instance, the newest events that may have been sent, and how often a delivery is looked
/// for.
constexpr int kSentEventsMax = 100;
constexpr int kLookupsMax = 2'000;
constexpr std::array<std::string_view, 6> kStatuses{
    "pending", "retrying", "delivered", "skipped", "dead_letter", "stopped"
};

std::string prefix_of(const std::string& webhook) {
    return webhook + "/";
}

std::vector<InstanceStatus> statuses_of(const std::string& status) {
    using enum InstanceStatus;
    if (status.empty()) return {};
    if (status == "pending" || status == "retrying") return {Running, Paused};
    if (status == "delivered" || status == "skipped") return {Completed};
    if (status == "dead_letter") return {DeadLetter};
    if (status == "stopped") return {Cancelled, Aborted, Failed};
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "\"{}\" is not a status of a delivery. Allowed: {}.",
            clean_text(status, 64),
            fmt::join(kStatuses, ", ")
        )
    );
}

Json member(const Json& json, const char* name) {
    return json.is_object() ? json.value(name, Json()) : Json();
}

/// What the history of a delivery says.
struct Story {
    Json input{};
    Json output{};
    Json error{};
    int attempts = 0;
};

Story story_of(Store& store, const InstanceId& id) {
    Story story;
    for (const HistoryEvent& event : store.history({.instance = id, .limit = kEventsMax})) {
        const Json payload = Json::parse(event.payload, nullptr, false);
        switch (event.type) {
            case HistoryType::Started:
                story.input = payload;
                break;
            case HistoryType::StepRetried:
            case HistoryType::StepFailed:
                ++story.attempts;
                story.error = {
                    {"code", member(payload, "code")}, {"message", member(payload, "message")}
                };
                break;
            case HistoryType::StepCompleted:
                ++story.attempts;
                story.output = payload;
                break;
            default:
                break;
        }
    }
    return story;
}

std::string status_of(const InstanceSummary& summary, const Story& story) {
    switch (summary.status) {
        case InstanceStatus::Completed:
            return member(story.output, "skipped").is_null() ? "delivered" : "skipped";
        case InstanceStatus::DeadLetter:
            return "dead_letter";
        case InstanceStatus::Running:
        case InstanceStatus::Paused:
            return story.attempts == 0 ? "pending" : "retrying";
        default:
            return "stopped";
    }
}

Json delivery_json(Store& store, const InstanceSummary& summary) {
    const Story story = story_of(store, summary.id);
    const std::string status = status_of(summary, story);
    Json next = nullptr;
    if (status == "retrying") {
        for (const TaskRow& task : store.tasks(summary.id)) next = time_json(task.due);
    }
    const Json data = member(story.input, "data");
    return {
        {"id", summary.id.to_string()},
        {"event_id", member(story.input, "id")},
        {"type", member(story.input, "type")},
        {"instance", member(data, "instance")},
        {"workflow", member(data, "workflow")},
        {"status", status},
        {"attempts", story.attempts},
        {"response_status", member(story.output, "status")},
        {"error", story.error},
        {"created_at", time_json(summary.created_at)},
        {"updated_at", time_json(summary.updated_at)},
        {"next_attempt_at", next},
    };
}

/// The types of events that are sent.
std::vector<HistoryType> sent_types() {
    std::vector<HistoryType> types;
    for (int i = 0; i <= static_cast<int>(HistoryType::Aborted); ++i) {
        HistoryEvent event;
        event.type = static_cast<HistoryType>(i);
        if (!notice_type(event).empty()) types.push_back(event.type);
    }
    return types;
}

/// Finds the deliveries of one instance by their keys.
class DeliveriesOfInstance {
 public:
    DeliveriesOfInstance(Engine& engine, Store& store, const InstanceId& id)
        : engine_(engine), store_(store), id_(id) {
        for (const Subscription& each : store.subscriptions()) names_.push_back(each.name);
    }

    InstanceDeliveries run() {
        const HistoryQuery newest{
            .instance = id_,
            .limit = kSentEventsMax,
            .order = HistoryQuery::Order::Backward,
            .types = sent_types(),
        };
        const auto events = names_.empty() ? std::vector<HistoryEvent>() : store_.history(newest);
        if (std::ssize(events) == kSentEventsMax) found_.is_complete = false;
        for (const HistoryEvent& event : events) {
            for (const std::string& name : names_) look(name, event);
        }
        return std::move(found_);
    }

 private:
    void look(const std::string& name, const HistoryEvent& event) {
        look_for(name, event.seq);
        if (event.type == HistoryType::DecisionAwaited) look_for(name, kOverdueSeq + event.seq);
    }

    void look_for(const std::string& name, Seq seq) {
        if (!add(name, seq)) return;
        for (int nth = 1; nth <= engine::kRedeliveriesMax; ++nth) {
            if (!add(name, engine::redelivery_seq(seq, nth))) return;
        }
    }

    /// Whether there is such a delivery.
    bool add(const std::string& name, Seq seq) {
        const bool is_full = std::ssize(found_.deliveries) >= kDeliveriesOfInstanceMax;
        if (is_full || ++lookups_ > kLookupsMax) {
            found_.is_complete = false;
            return false;
        }
        OutboxRow row;
        row.instance = id_;
        row.notice.subscription = name;
        row.notice.seq = seq;
        const auto id = store_.find_key(engine::kWebhookWorkflow, engine::delivery_key(row));
        const auto summary = id ? engine_.find(*id) : std::nullopt;
        if (!summary) return false;
        Json delivery = delivery_json(store_, *summary);
        delivery["webhook"] = name;
        found_.deliveries.push_back(std::move(delivery));
        return true;
    }

    Engine& engine_;
    Store& store_;
    InstanceId id_;
    std::vector<std::string> names_;
    InstanceDeliveries found_;
    int lookups_ = 0;
};

}  // namespace

InstanceDeliveries deliveries_of(Engine& engine, Store& store, const InstanceId& id) {
    return DeliveriesOfInstance(engine, store, id).run();
}

DeliveryPage list_deliveries(Engine& engine, Store& store, const DeliveryQuery& query) {
    const InstancePage page = engine.list_page({
        .statuses = statuses_of(query.status),
        .workflow = std::string(engine::kWebhookWorkflow),
        .before = query.before,
        .limit = query.limit,
        .where = fmt::format("key.startsWith(\"{}\")", prefix_of(query.webhook)),
    });
    DeliveryPage result{.next = page.next};
    for (const InstanceSummary& summary : page.instances) {
        Json delivery = delivery_json(store, summary);
        if (!query.status.empty() && delivery.at("status") != query.status) continue;
        result.deliveries.push_back(std::move(delivery));
    }
    if (!result.next && std::ssize(page.instances) == query.limit) {
        result.next = page.instances.back().id;
    }
    return result;
}

void redeliver(
    Engine& engine,
    Store& store,
    const std::string& webhook,
    const InstanceId& delivery,
    const std::string& by
) {
    const auto summary = engine.find(delivery);
    const bool is_ours = summary && summary->workflow == engine::kWebhookWorkflow &&
                         summary->key.starts_with(prefix_of(webhook));
    if (!is_ours) {
        throw Error(
            ErrorCode::InstanceNotFound,
            fmt::format("The webhook \"{}\" has no such delivery.", clean_text(webhook, 64))
        );
    }
    if (summary->status == InstanceStatus::DeadLetter) {
        engine.requeue(delivery, {.by = by});
        return;
    }
    if (!is_terminal(summary->status)) {
        throw Error(
            ErrorCode::InvalidState,
            "The delivery is under way; only one that has ended is delivered again."
        );
    }
    const auto events = store.history({.instance = delivery, .limit = 1});
    const Payload input = events.empty() ? Payload("null") : events.front().payload;
    engine::deliver_again(store, summary->key, input);
}

}  // namespace ebb::view
