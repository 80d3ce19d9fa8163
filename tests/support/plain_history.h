#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/kernel/history.h"

namespace ebb::test {

/// A past that is a plain list: the reference for what a HistoryView has to answer.
class PlainHistory : public HistoryView {
 public:
    PlainHistory() = default;

    explicit PlainHistory(std::vector<HistoryEvent> events) : history(std::move(events)) {}

    std::vector<HistoryEvent> history;

    Payload payload(Seq seq) const override {
        const HistoryEvent* event = &history.at(static_cast<std::size_t>(seq - 1));
        while (event->payload.empty() && event->ref != 0)
            event = &history.at(static_cast<std::size_t>(event->ref - 1));
        return event->payload;
    }

    std::optional<HistoryEvent> find_event(Seq seq) const override {
        const auto found = std::find_if(history.begin(), history.end(), [seq](const auto& event) {
            return event.seq == seq;
        });
        return found == history.end() ? std::nullopt : std::optional(*found);
    }

    std::optional<Seq> output_of(std::string_view node) const override {
        for (auto event = history.rbegin(); event != history.rend(); ++event) {
            if (event->node == node && holds_output(event->type)) return event->seq;
        }
        return std::nullopt;
    }

    std::optional<HistoryEvent> previous_undoable(
        Seq before, Seq floor, std::string_view path_prefix
    ) const override {
        std::set<Seq> settled;
        for (auto event = history.rbegin(); event != history.rend() && event->seq > floor;
             ++event) {
            if (settles_compensation(event->type)) settled.insert(event->ref);
            const bool is_candidate = (before == 0 || event->seq < before) &&
                                      is_undoable(event->type) &&
                                      event->path.starts_with(path_prefix);
            if (is_candidate && !settled.contains(event->seq)) return *event;
        }
        return std::nullopt;
    }
};

}  // namespace ebb::test
