#include <nlohmann/json.hpp>

#include <ebb/audit_log.h>

#include "core/kernel/event_author.h"
#include "support/clock.h"
#include "support/sync.h"

namespace ebb {

namespace {

using Line = nlohmann::ordered_json;

class AuditLog final : public Observer {
 public:
    AuditLog(std::function<void(std::string_view line)> write, const AuditLogOptions& options)
        : write_(std::move(write)), options_(options) {}

    void on_committed(const InstanceSummary& instance, std::span<const HistoryEntry> events)
        override {
        const Lock lock(mutex_);
        for (const HistoryEntry& event : events) {
            write_(line_of(instance, event).dump(-1, ' ', false, Line::error_handler_t::replace));
        }
    }

 private:
    Line line_of(const InstanceSummary& instance, const HistoryEntry& event) const {
        Line line{
            {"at", format_time(event.at)},
            {"instance", instance.id.to_string()},
            {"workflow", instance.workflow},
            {"version", instance.version},
        };
        if (!instance.key.empty()) line["key"] = instance.key;
        line["status"] = to_string(instance.status);
        line["revision"] = instance.revision;
        line["seq"] = event.seq;
        line["event"] = event.type;
        if (!event.node.empty()) line["node"] = event.node;
        if (event.attempt > 0) line["attempt"] = event.attempt;
        if (!event.worker.empty()) line["worker"] = event.worker;
        if (event.payload.empty()) return line;
        const Json payload = Json::parse(event.payload, nullptr, false);
        if (says_who(event.type)) copy_text(payload, "by", line);
        if (is_failure(event.type)) copy_text(payload, "code", line);
        if (options_.has_payloads && !payload.is_discarded()) {
            line["payload"] = Line::parse(event.payload);
        }
        return line;
    }

    static bool is_failure(std::string_view type) {
        return type == "step_retried" || type == "step_failed" || type == "compensation_retried" ||
               type == "compensation_failed" || type == "exception_raised";
    }

    static void copy_text(const Json& payload, const char* name, Line& line) {
        if (!payload.is_object()) return;
        const auto found = payload.find(name);
        if (found != payload.end() && found->is_string()) line[name] = found->get<std::string>();
    }

    Mutex mutex_;
    const std::function<void(std::string_view line)> write_;
    const AuditLogOptions options_;
};

}  // namespace

std::shared_ptr<Observer> make_audit_log(
    std::function<void(std::string_view line)> write, const AuditLogOptions& options
) {
    if (!write) throw Error(ErrorCode::InvalidArgument, "An audit log needs somewhere to write.");
    return std::make_shared<AuditLog>(std::move(write), options);
}

}  // namespace ebb
