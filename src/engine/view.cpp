#include "engine/view.h"

#include <algorithm>
#include <charconv>

#include "core/kernel/label_codec.h"
#include "engine/history_reader.h"
#include "support/json.h"

namespace ebb::engine {

InstanceSummary to_summary(const InstanceRow& row) {
    return {
        .id = row.id,
        .workflow = row.workflow,
        .version = row.version,
        .key = row.key,
        .status = row.status,
        .priority = row.priority,
        .revision = row.revision,
        .created_at = row.created_at,
        .updated_at = row.updated_at,
        .finished_at = row.finished_at,
        .labels = labels_of_state(row.state),
    };
}

Result result_of(Store& store, LiveInstance& live) {
    const std::vector<HistoryEvent> nothing;
    const HistoryReader reader(store, live, nothing);
    Result result{
        .status = live.state.status,
        .is_finished = is_terminal(live.state.status),
        .output = {},
        .error = {},
    };
    if (live.state.status == InstanceStatus::Completed && live.state.result != 0) {
        result.output = reader.payload(live.state.result);
    }
    if (live.state.error != 0) result.error = error_of(reader.event(live.state.error));
    return result;
}

Holder holder_of(const Facts& facts, const TaskRow& task) {
    const auto found =
        std::find_if(facts.workers.begin(), facts.workers.end(), [&](const WorkerRow& worker) {
            return worker.id == task.lease_owner;
        });
    if (found == facts.workers.end()) return {.life = Holder::Life::Gone};
    if (found->expires_at > facts.now) return {};
    return {.life = Holder::Life::Dead, .died_at = found->expires_at};
}

const HistoryEvent* find_event(const Facts& facts, Seq seq) {
    const auto found = std::lower_bound(
        facts.history.begin(),
        facts.history.end(),
        seq,
        [](const HistoryEvent& event, Seq wanted) { return event.seq < wanted; }
    );
    return found != facts.history.end() && found->seq == seq ? &*found : nullptr;
}

Payload find_payload(const Facts& facts, Seq seq) {
    const HistoryEvent* event = find_event(facts, seq);
    while (event != nullptr && event->payload.empty() && event->ref != 0) {
        event = find_event(facts, event->ref);
    }
    return event == nullptr ? Payload() : event->payload;
}

namespace {

/// Scopes are numbered in the order in which they were opened.
std::string block_of(const Facts& facts, ScopeId scope) {
    ScopeId opened = 0;
    for (const HistoryEvent& event : facts.history) {
        if (event.type == HistoryType::ScopeOpened && ++opened == scope) return event.node;
    }
    return std::to_string(scope);
}

}  // namespace

std::string readable_path(const Facts& facts, std::string_view path) {
    std::string readable;
    while (!path.empty()) {
        const std::string_view part = path.substr(0, path.find('/'));
        path.remove_prefix(std::min(path.size(), part.size() + 1));
        const std::size_t colon = std::min(part.find(':'), part.size());
        ScopeId scope = 0;
        const std::string_view digits = part.substr(0, colon);
        std::from_chars(digits.data(), digits.data() + digits.size(), scope);
        if (!readable.empty()) readable += '/';
        readable += block_of(facts, scope);
        readable += part.substr(colon);
    }
    return readable;
}

}  // namespace ebb::engine
