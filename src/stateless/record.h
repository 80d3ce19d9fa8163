#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/stateless.h>

#include "core/kernel/history.h"
#include "core/kernel/program.h"
#include "core/kernel/state.h"

namespace ebb::stateless {

/// One event that a snapshot has kept.
struct Kept {
    Seq seq = 0;
    HistoryType type = HistoryType::Started;
    NodeIndex node = kNoNode;
    std::int32_t attempt = 0;
    Visit visit = 0;
    Seq ref = 0;
    TimePoint at{};
    Payload payload;
    std::string path;
    bool is_result = false;    ///< kept by the policy
    bool is_undoable = false;  ///< a compensation may still be called with it
    bool is_gone = false;
    std::int32_t users = 0;  ///< undoable events whose input it is
};

/// True for what the context shows.
bool is_result(HistoryType type);
/// True for the results that are failed attempts.
bool is_error(HistoryType type);

/// What a snapshot remembers of its instance's past: the results that the policy keeps, and what
/// the kernel may still ask for. A step's cost does not depend on how much that is.
class Record final : public HistoryView {
 public:
    Record(const Program* program, HistoryPolicy policy);

    /// Takes over the events of one decision; `state` is the one after it.
    void absorb(std::vector<HistoryEvent> events, const InstanceState& state);

    /// Puts back the events of a snapshot's text, in order of their numbers.
    void restore(std::vector<Kept> events, const InstanceState& state);

    // HistoryView
    Payload payload(Seq seq) const override;
    std::optional<Seq> output_of(std::string_view node) const override;
    std::optional<HistoryEvent> previous_undoable(
        Seq before, Seq floor, std::string_view path_prefix
    ) const override;

    /// Null when it was not kept.
    const Kept* find(Seq seq) const;
    /// The event that has the payload of `seq`, following `ref`; null when it is not there.
    const Kept* find_payload(Seq seq) const;
    HistoryEvent to_event(const Kept& kept) const;

    /// In order, those with `is_gone` among them.
    std::span<const Kept> events() const { return events_; }

    const Program& program() const { return *program_; }

 private:
    /// events_.size() when it was not kept.
    std::size_t index_of(Seq seq) const;
    Kept* find_mutable(Seq seq);
    Kept to_kept(HistoryEvent event) const;
    void add(Kept event);
    void note_added(Kept& added);
    void keep_for_undo(Kept& event);
    void keep_as_result(Kept& event);
    void release_undo(Seq seq);
    void release_use(Kept& event);
    bool is_read_output(const Kept& event) const;
    bool is_newest_output(const Kept& event) const;
    void collect_roots(const InstanceState& state);
    void follow_roots();
    bool is_root(Seq seq) const;
    bool is_referred_to(const InstanceState& state, Seq seq);
    void sweep(const InstanceState& state);
    void forget_undo();
    void compact();

    const Program* program_;
    HistoryPolicy policy_;
    std::vector<Kept> events_;  // by rising number
    std::size_t gone_ = 0;
    std::vector<Seq> passing_;               // kept only as long as the state refers to them
    std::vector<Seq> undoable_;              // by rising number
    std::vector<Seq> outputs_;               // the newest one, by node
    std::vector<std::vector<Seq>> by_node_;  // results, where only the last ones are kept
    std::vector<Seq> roots_;                 // a buffer
};

/// Every event that the kernel must be able to read in `state`.
void append_roots(const InstanceState& state, std::vector<Seq>& roots);

}  // namespace ebb::stateless
