#include "core/kernel/notices.h"

#include <nlohmann/json.hpp>

#include "support/json.h"

namespace ebb {

namespace {

using OrderedJson = nlohmann::ordered_json;

std::string text_of(const Json& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void add_text(OrderedJson& json, const char* name, std::string_view text) {
    if (!text.empty()) json[name] = clean_text(text, FailureNote::kMessageBytesMax);
}

OrderedJson error_json(std::string_view code, std::string_view message) {
    OrderedJson json = OrderedJson::object();
    json["code"] = code.empty() ? "unknown" : std::string(code);
    add_text(json, "message", message.substr(0, message.find('\n')));
    return json;
}

bool has_failure(HistoryType type) {
    return type == HistoryType::Failed || type == HistoryType::DeadLettered;
}

}  // namespace

std::string_view notice_type(const HistoryEvent& event) {
    switch (event.type) {
        case HistoryType::Started:
            return "instance.started";
        case HistoryType::Completed:
            return "instance.completed";
        case HistoryType::Failed:
            return "instance.failed";
        case HistoryType::Cancelled:
            return "instance.cancelled";
        case HistoryType::Aborted:
            return "instance.aborted";
        case HistoryType::DeadLettered:
            return "instance.dead_lettered";
        case HistoryType::Requeued:
            return "instance.requeued";
        case HistoryType::RollbackStarted:
            // A branch that rolls back on its own does not make the instance compensate.
            return event.path.empty() ? "instance.compensating" : "";
        case HistoryType::DecisionAwaited:
            return "decision.awaited";
        case HistoryType::DecisionMade:
            return "decision.made";
        case HistoryType::StepFailed:
            return "step.failed";
        default:
            return {};
    }
}

std::string notice_data(const NoticeSubject& subject, const HistoryEvent& event) {
    OrderedJson json{
        {"instance", subject.id.to_string()},
        {"workflow", subject.workflow},
        {"version", subject.version},
    };
    add_text(json, "key", subject.key);
    json["status"] = to_string(subject.status);
    add_text(json, "step", event.node);
    if (has_failure(event.type) && subject.failure != nullptr) {
        const FailureNote& note = *subject.failure;
        add_text(json, "step", note.step);
        json["error"] = error_json(note.code, note.message);
        add_text(json, "failure_group", note.group);
    }
    if (event.type == HistoryType::StepFailed || event.type == HistoryType::DecisionMade) {
        const Json payload = Json::parse(event.payload, nullptr, false);
        if (payload.is_object() && event.type == HistoryType::StepFailed) {
            json["error"] = error_json(text_of(payload, "code"), text_of(payload, "message"));
        } else if (payload.is_object()) {
            OrderedJson decision = OrderedJson::object();
            for (const char* name : {"verdict", "by", "role"}) {
                add_text(decision, name, text_of(payload, name));
            }
            json["decision"] = std::move(decision);
        }
    }
    return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace ebb
