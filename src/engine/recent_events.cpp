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
        const bool is_known = output_seqs_.contains(oldest.node) && holds_output(oldest.type);
        if (is_known || is_read(program, oldest)) {
            const std::string node = oldest.node;
            set_older_output(node, std::move(oldest));
        }
    }
}

void RecentEvents::drop_older() {
    for (const HistoryEvent& event : older_) bytes_ -= size_of(event);
    older_.clear();
    for (const auto& [seq, event] : outputs_) bytes_ -= size_of(event);
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
    const auto output = outputs_.find(seq);
    return output == outputs_.end() ? nullptr : &output->second;
}

std::optional<Seq> RecentEvents::older_output(std::string_view node) const {
    const auto found = output_seqs_.find(node);
    return found == output_seqs_.end() ? std::nullopt : std::optional(found->second);
}

void RecentEvents::set_older_output(std::string_view node, std::optional<HistoryEvent> event) {
    // More than this is no longer "a few"; the store has them all, and their numbers are known.
    if (outputs_.size() >= kOutputsMax || bytes_ > kBytesMax) drop_older();
    Seq& known = output_seqs_[std::string(node)];
    if (const auto old = outputs_.find(known); old != outputs_.end()) {
        bytes_ -= size_of(old->second);
        outputs_.erase(old);
    }
    known = event ? event->seq : 0;
    if (!event) return;
    bytes_ += size_of(*event);
    outputs_.emplace(known, std::move(*event));
}

}  // namespace ebb::engine
