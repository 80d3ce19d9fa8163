#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "core/kernel/history.h"
#include "engine/live_instance.h"
#include "store/store.h"

namespace ebb::engine {

/// The past of one instance for the kernel: what is remembered, then the store. `pending` are
/// events that earlier decisions of the same commit have appended. Throws what the store throws.
class HistoryReader final : public HistoryView {
 public:
    HistoryReader(Store& store, LiveInstance& live, const std::vector<HistoryEvent>& pending)
        : store_(store), live_(live), pending_(pending) {}

    /// Reads those that are not remembered, and what their refs refer to, in one query (in two, if
    /// there are refs). What was read is forgotten with this reader.
    void prepare(const std::vector<Seq>& seqs) const override;
    Payload payload(Seq seq) const override;
    std::optional<HistoryEvent> find_event(Seq seq) const override;
    std::optional<Seq> output_of(std::string_view node) const override;
    std::optional<HistoryEvent> previous_undoable(
        Seq before, Seq floor, std::string_view path_prefix
    ) const override;

    /// The event itself; reads it from the store when it is not remembered.
    HistoryEvent event(Seq seq) const;

 private:
    const HistoryEvent* find_pending(Seq seq) const;
    const HistoryEvent* find_known(Seq seq) const;
    std::vector<Seq> unknown_of(const std::vector<Seq>& seqs) const;
    bool is_settled(Seq seq) const;
    void read_older_output(std::string_view node) const;
    void learn_settled() const;
    void read_chunk(Seq before, Seq floor) const;
    std::optional<HistoryEvent> previous_remembered(Seq before, Seq floor, std::string_view prefix)
        const;
    std::optional<HistoryEvent> previous_stored(Seq before, Seq floor, std::string_view prefix)
        const;

    Store& store_;
    LiveInstance& live_;
    const std::vector<HistoryEvent>& pending_;
    mutable std::map<Seq, HistoryEvent> prepared_;
};

/// The payload of an event straight from the store, following `ref`.
Payload read_payload(Store& store, const InstanceId& id, Seq seq);

/// One event straight from the store. Throws Error with CorruptState when it is missing.
HistoryEvent read_event(Store& store, const InstanceId& id, Seq seq);

}  // namespace ebb::engine
