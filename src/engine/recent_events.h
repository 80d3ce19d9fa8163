#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/kernel/history.h"
#include "core/kernel/program.h"

namespace ebb::engine {

/// The newest events of one instance, and older ones that were needed lately, so that a hop from
/// step to step reads nothing from the store. Bounded; what is not here is in the store.
class RecentEvents {
 public:
    static constexpr std::size_t kEventsMax = 48;
    static constexpr std::size_t kBytesMax = std::size_t{256} << 10;

    /// The instance has `last_seq` events, none of which is known yet.
    void begin_after(Seq last_seq) { complete_from_ = last_seq + 1; }

    /// Appends events that follow on the newest one. Where old ones make room, the outputs that
    /// expressions of `program` read stay.
    void append(std::vector<HistoryEvent> events, const Program& program);

    /// Keeps one event from further back.
    void add_older(HistoryEvent event);

    /// Null when it is not here.
    const HistoryEvent* find(Seq seq) const;

    /// Every event with this number or a greater one is in events().
    Seq complete_from() const { return complete_from_; }

    /// By rising number.
    const std::deque<HistoryEvent>& events() const { return events_; }

    /// The number of the newest output of a node before complete_from(); 0 when it is known to have
    /// none. Empty when nothing is known. What is known once is never forgotten: finding out may
    /// mean to read the whole history. There is at most one number per node.
    std::optional<Seq> older_output(std::string_view node) const;
    void set_older_output(std::string_view node, std::optional<HistoryEvent> event);

    std::size_t bytes() const { return bytes_ + output_seqs_.size() * kBytesPerSeq; }

 private:
    static constexpr std::size_t kBytesPerSeq = 96;
    static constexpr std::size_t kOutputsMax = 256;

    void shrink(const Program& program);
    void drop_older();

    std::deque<HistoryEvent> events_;
    std::deque<HistoryEvent> older_;
    std::map<std::string, Seq, std::less<>> output_seqs_;
    std::map<Seq, HistoryEvent> outputs_;  // of output_seqs_, as far as there is room
    Seq complete_from_ = 1;
    std::size_t bytes_ = 0;
};

}  // namespace ebb::engine
