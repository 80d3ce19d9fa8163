#include "engine/recent_events.h"

#include <algorithm>

namespace ebb::engine {

namespace {

constexpr std::size_t kOlderMax = 16;

std::size_t size_of(const HistoryEvent& event) {
    return sizeof(HistoryEvent) + event.payload.size() + event.path.size();
}

bool is_read(const Program& program, const HistoryEvent& event) {
    if (!holds_output(event.type)) return false;
    const NodeIndex node = program.find(event.node);
    return node != kNoNode && program.is_output_read(node);
}

}  // namespace

void RecentEvents::append(std::vector<HistoryEvent> events, const Program& program) {
    for (HistoryEvent& event : events) {
        bytes_ += size_of(event);
        events_.push_back(std::move(event));
    }
    shrink(program);
}

void RecentEvents::shrink(const Program& program) {
    if (bytes_ > kBytesMax) drop_older();
    // The newest event stays whatever its size: it is what the next step reads.
    while (events_.size() > 1 && (events_.size() > kEventsMax || bytes_ > kBytesMax)) {
        HistoryEvent oldest = std::move(events_.front());
        events_.pop_front();
        bytes_ -= size_of(oldest);
        complete_from_ = oldest.seq + 1;
        const bool is_known = outputs_.contains(oldest.node) && holds_output(oldest.type);
        if (is_known || is_read(program, oldest)) {
            const std::string node = oldest.node;
            set_older_output(node, std::move(oldest));
        }
    }
}

void RecentEvents::drop_older() {
    for (const HistoryEvent& event : older_) bytes_ -= size_of(event);
    older_.clear();
    for (const auto& [node, event] : outputs_) {
        if (event) bytes_ -= size_of(*event);
    }
    outputs_.clear();
}

void RecentEvents::add_older(HistoryEvent event) {
    if (event.seq >= complete_from_ || find(event.seq) != nullptr) return;
    bytes_ += size_of(event);
    older_.push_back(std::move(event));
    while (older_.size() > kOlderMax || (older_.size() > 1 && bytes_ > kBytesMax)) {
        bytes_ -= size_of(older_.front());
        older_.pop_front();
    }
}

const HistoryEvent* RecentEvents::find(Seq seq) const {
    if (!events_.empty() && seq >= events_.front().seq && seq <= events_.back().seq) {
        return &events_[static_cast<std::size_t>(seq - events_.front().seq)];
    }
    const auto found = std::find_if(older_.begin(), older_.end(), [seq](const HistoryEvent& event) {
        return event.seq == seq;
    });
    if (found != older_.end()) return &*found;
    for (const auto& [node, event] : outputs_) {
        if (event && event->seq == seq) return &*event;
    }
    return nullptr;
}

const std::optional<HistoryEvent>* RecentEvents::older_output(std::string_view node) const {
    const auto found = outputs_.find(node);
    return found == outputs_.end() ? nullptr : &found->second;
}

void RecentEvents::set_older_output(std::string_view node, std::optional<HistoryEvent> event) {
    // More than this is no longer "a few"; the store has them all.
    if (outputs_.size() >= 256 || bytes_ > kBytesMax) drop_older();
    std::optional<HistoryEvent>& known = outputs_[std::string(node)];
    if (known) bytes_ -= size_of(*known);
    if (event) bytes_ += size_of(*event);
    known = std::move(event);
}

}  // namespace ebb::engine
