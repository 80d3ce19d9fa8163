#include "view/related.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <ebb/triage.h>

#include "core/kernel/effects.h"
#include "core/kernel/event_author.h"
#include "core/kernel/label_codec.h"
#include "engine/bulk_job.h"
#include "engine/rerun.h"
#include "engine/view.h"
#include "support/json.h"
#include "view/instance_json.h"

namespace ebb::view {

namespace {

std::string text_of(const Json& json, const char* name) {
    const auto found = json.is_object() ? json.find(name) : json.end();
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The types of events that name the person or program behind them.
std::vector<HistoryType> signed_types() {
    std::vector<HistoryType> types;
    for (int i = 0; i <= static_cast<int>(HistoryType::Aborted); ++i) {
        const auto type = static_cast<HistoryType>(i);
        if (says_who(to_string(type))) types.push_back(type);
    }
    return types;
}

}  // namespace

Json same_key_json(
    Store& store,
    const InstanceRow& instance,
    const std::vector<std::string>& workflows,
    const std::function<bool(const InstanceRow&)>& may_see
) {
    std::vector<InstanceRow> rows;
    for (const std::string& workflow : workflows) {
        if (instance.key.empty() || workflow == instance.workflow) continue;
        const auto id = store.find_key(workflow, instance.key);
        auto row = id ? store.load(*id) : std::nullopt;
        if (row && may_see(*row)) rows.push_back(*std::move(row));
    }
    std::sort(rows.begin(), rows.end(), [](const InstanceRow& a, const InstanceRow& b) {
        return b.id < a.id;
    });
    Json json = Json::array();
    for (const InstanceRow& row : rows) {
        if (std::ssize(json) == kSameKeyMax) break;
        json.push_back(summary_json(engine::to_summary(row)));
    }
    return json;
}

Json rerun_of_json(const InstanceRow& instance) {
    const Labels labels = labels_of_state(instance.state);
    const auto label = labels.find(engine::kRerunOfLabel);
    if (label == labels.end()) return nullptr;
    return label->second.type() == LabelType::Text ? Json(label->second.text()) : Json(nullptr);
}

Json reruns_json(
    Store& store,
    const InstanceRow& instance,
    const std::function<bool(const InstanceRow&)>& may_see
) {
    filter::Condition is_rerun{
        .kind = filter::Condition::Kind::Compare,
        .field = {.kind = filter::Field::Kind::Label, .label = std::string(engine::kRerunOfLabel)}
    };
    is_rerun.operand = instance.id.to_string();
    const InstanceHits found = store.search(
        {.workflow = instance.workflow, .where = std::move(is_rerun), .limit = kRerunsMax}
    );
    Json json = Json::array();
    for (const InstanceRow& row : found.rows) {
        if (may_see(row)) json.push_back(summary_json(engine::to_summary(row)));
    }
    return json;
}

Json bulk_acts_json(Store& store, const InstanceId& id) {
    const HistoryQuery newest{
        .instance = id,
        .limit = kActsReadMax,
        .order = HistoryQuery::Order::Backward,
        .types = signed_types(),
    };
    Json json = Json::array();
    for (const HistoryEvent& event : store.history(newest)) {
        if (std::ssize(json) == kBulkActsMax) break;
        const std::string by = text_of(Json::parse(event.payload, nullptr, false), "by");
        const auto bulk = engine::bulk_of_author(by);
        if (!bulk) continue;
        json.push_back(
            {{"id", bulk->to_string()},
             {"event", event.seq},
             {"type", to_string(event.type)},
             {"by", by},
             {"at", time_json(event.at)}}
        );
    }
    return json;
}

std::string started_by(Store& store, const InstanceId& id) {
    const auto events = store.history({.instance = id, .limit = 1});
    const bool has_start = !events.empty() && events.front().type == HistoryType::Started;
    return has_start ? events.front().worker : std::string();
}

std::string failure_group_of(const std::string& workflow, const Payload& error) {
    const Json json = Json::parse(error, nullptr, false);
    if (!json.is_object()) return {};
    const std::string code = text_of(json, "code");
    const std::string message = text_of(json, "message");
    return failure_group(
        workflow,
        text_of(json, "step"),
        code.empty() ? "unknown" : code,
        clean_text(message.substr(0, message.find('\n')), FailureNote::kMessageBytesMax)
    );
}

}  // namespace ebb::view
