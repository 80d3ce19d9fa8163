#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/kernel/history.h"

namespace ebb::rules_analysis {

/// The past of one of many states: its own events and those of the state before it, which it shares
/// with others.
class Past : public HistoryView {
 public:
    Past() = default;

    Past(std::shared_ptr<const Past> before, std::vector<HistoryEvent> events)
        : before_(std::move(before)), events_(std::move(events)) {}

    Payload payload(Seq seq) const override {
        const HistoryEvent* event = at(seq);
        while (event != nullptr && event->payload.empty() && event->ref != 0)
            event = at(event->ref);
        return event == nullptr ? Payload() : event->payload;
    }

    std::optional<HistoryEvent> find_event(Seq seq) const override {
        const HistoryEvent* event = at(seq);
        return event == nullptr ? std::nullopt : std::optional(*event);
    }

    std::optional<Seq> output_of(std::string_view node) const override {
        const HistoryEvent* event = newest([&](const HistoryEvent& each) {
            return each.node == node && holds_output(each.type);
        });
        return event == nullptr ? std::nullopt : std::optional(event->seq);
    }

    std::optional<HistoryEvent> find_last(HistoryType type) const {
        const HistoryEvent* event =
            newest([&](const HistoryEvent& each) { return each.type == type; });
        return event == nullptr ? std::nullopt : std::optional(*event);
    }

    std::optional<HistoryEvent> previous_undoable(
        Seq before, Seq floor, std::string_view path_prefix
    ) const override {
        std::set<Seq> settled;
        const HistoryEvent* event = newest([&](const HistoryEvent& each) {
            if (settles_compensation(each.type)) settled.insert(each.ref);
            return each.seq > floor && (before == 0 || each.seq < before) &&
                   is_undoable(each.type) && each.path.starts_with(path_prefix) &&
                   !settled.contains(each.seq);
        });
        return event == nullptr ? std::nullopt : std::optional(*event);
    }

 private:
    std::shared_ptr<const Past> before_;
    std::vector<HistoryEvent> events_;

    template <typename Is>
    const HistoryEvent* newest(Is is) const {
        for (const Past* past = this; past != nullptr; past = past->before_.get()) {
            for (auto event = past->events_.rbegin(); event != past->events_.rend(); ++event) {
                if (is(*event)) return &*event;
            }
        }
        return nullptr;
    }

    const HistoryEvent* at(Seq seq) const {
        return newest([seq](const HistoryEvent& event) { return event.seq == seq; });
    }
};

}  // namespace ebb::rules_analysis
