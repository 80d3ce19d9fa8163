#include "engine/live_instance.h"

#include <fmt/format.h>

namespace ebb::engine {

void LiveInstance::follow(std::shared_ptr<const Program> version) {
    row.version = version->definition().version;
    program = std::move(version);
}

void LiveInstance::apply(InstanceState new_state, TimePoint now) {
    state = std::move(new_state);
    row.revision += 1;
    row.status = state.status;
    row.updated_at = now;
    row.finished_at = is_terminal(state.status) ? now : TimePoint{};
}

void LiveInstance::remember(std::vector<HistoryEvent> events) {
    if (undo.knows_settled) {
        for (const HistoryEvent& event : events) {
            if (settles_compensation(event.type)) undo.settled.insert(event.ref);
        }
    }
    recent.append(std::move(events), *program);
}

LivePtr make_live(InstanceRow row, std::shared_ptr<const Program> program) {
    auto live = std::make_shared<LiveInstance>();
    live->program = std::move(program);
    live->state = decode_state(row.state, *live->program);
    live->recent.begin_after(live->state.last_seq);
    row.state.clear();
    row.state.shrink_to_fit();
    live->base_revision = row.revision;
    live->row = std::move(row);
    return live;
}

LivePtr make_live(InstanceRow row, ProgramCache& programs) {
    std::shared_ptr<const Program> program = programs.find(row.workflow, row.version);
    if (!program) {
        throw Error(
            ErrorCode::CorruptState,
            fmt::format(
                "The store has no definition of {} version {}, which instance {} runs.",
                row.workflow,
                row.version,
                row.id.to_string()
            )
        );
    }
    return make_live(std::move(row), std::move(program));
}

LivePtr InstanceCache::find(const InstanceId& id) {
    const auto found = entries_.find(id);
    if (found == entries_.end()) return nullptr;
    uses_.splice(uses_.begin(), uses_, found->second.use);
    return found->second.live;
}

LivePtr InstanceCache::keep_newer(LivePtr live) {
    LivePtr known = find(live->row.id);
    if (known && known->row.revision >= live->row.revision) return known;
    replace(live);
    return live;
}

void InstanceCache::replace(LivePtr live) {
    const InstanceId id = live->row.id;
    erase(id);
    uses_.push_front(id);
    entries_.emplace(id, Entry{.live = std::move(live), .bytes = 0, .use = uses_.begin()});
    touch(id);
}

void InstanceCache::erase(const InstanceId& id) {
    const auto found = entries_.find(id);
    if (found == entries_.end()) return;
    bytes_ -= found->second.bytes;
    uses_.erase(found->second.use);
    entries_.erase(found);
}

void InstanceCache::touch(const InstanceId& id) {
    const auto found = entries_.find(id);
    if (found == entries_.end()) return;
    Entry& entry = found->second;
    const std::size_t bytes = sizeof(LiveInstance) + entry.live->recent.bytes();
    bytes_ += bytes - entry.bytes;
    entry.bytes = bytes;
    shrink();
}

void InstanceCache::shrink() {
    while (entries_.size() > 1 && (entries_.size() > instances_max_ || bytes_ > kBytesMax)) {
        erase(uses_.back());
    }
}

}  // namespace ebb::engine
