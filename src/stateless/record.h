#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ebb/stateless.h>

#include "core/kernel/history.h"
#include "core/kernel/program.h"
#include "core/kernel/state.h"

namespace ebb::stateless {

/// The payload of an event: its own, or a part of the text that the record was read from.
class KeptPayload {
 public:
    KeptPayload() = default;

    explicit KeptPayload(Payload own) : own_(std::move(own)) {}

    /// `part` must not be empty, and in a text that stays.
    void refer_to(std::string_view part) { part_ = part; }

    std::string_view view() const { return part_.empty() ? std::string_view(own_) : part_; }

    bool empty() const { return part_.empty() && own_.empty(); }

 private:
    Payload own_;
    std::string_view part_;
};

/// One event that a snapshot has kept.
struct Kept {
    // Defaulted it would be cleared as a whole first, which costs more than all the rest.
    Kept() {}

    Seq seq = 0;
    HistoryType type = HistoryType::Started;
    NodeIndex node = kNoNode;
    std::int32_t attempt = 0;
    Visit visit = 0;
    Seq ref = 0;
    TimePoint at{};
    KeptPayload payload;
    std::string path;
    /// Where it was read: the text that it is written as, as long as it is what it was. It lies in
    /// the record's text.
    std::string_view written{};
    bool is_result = false;    ///< kept by the policy
    bool is_undoable = false;  ///< a compensation may still be called with it
    bool is_gone = false;
    std::int32_t users = 0;  ///< undoable events whose input it is
};

/// True for the results that are failed attempts.
inline bool is_error(HistoryType type) {
    return type == HistoryType::StepRetried || type == HistoryType::StepFailed ||
           type == HistoryType::CompensationRetried || type == HistoryType::CompensationFailed;
}

/// True for what the context shows.
inline bool is_result(HistoryType type) {
    return type == HistoryType::StepCompleted || type == HistoryType::DecisionCompleted ||
           type == HistoryType::SignalCompleted || type == HistoryType::ScopeJoined ||
           type == HistoryType::StepCompensated || is_error(type);
}

/// What a snapshot remembers of its instance's past: the results that the policy keeps, and what
/// the kernel may still ask for. A step's cost does not depend on how much that is.
class Record final : public HistoryView {
 public:
    Record(const Program* program, HistoryPolicy policy);

    /// Takes over the events of one decision; `state` is the one after it.
    void absorb(std::vector<HistoryEvent> events, const InstanceState& state);

    /// Puts back the events of a snapshot's text, in order of their numbers. `text` holds what they
    /// have as `written`, and their payloads.
    void restore(
        std::vector<Kept> events, const InstanceState& state, std::shared_ptr<const char[]> text
    );

    // HistoryView
    Payload payload(Seq seq) const override;
    std::optional<HistoryEvent> find_event(Seq seq) const override;
    std::optional<Seq> output_of(std::string_view node) const override;
    std::optional<HistoryEvent> previous_undoable(
        Seq before, Seq floor, std::string_view path_prefix
    ) const override;

    /// Null when it was not kept.
    const Kept* find(Seq seq) const;
    /// The event that has the payload of `seq`, following `ref`; null if it does not exist.
    const Kept* find_payload(Seq seq) const;
    HistoryEvent to_event(const Kept& kept) const;

    /// In order, those with `is_gone` among them.
    std::span<const Kept> events() const { return events_; }

    const Program& program() const { return *program_; }

 private:
    /// events_.size() when it was not kept.
    std::size_t index_of(Seq seq) const;
    Kept* find_mutable(Seq seq);
    NodeIndex find_node(const std::string& name) const;
    Kept to_kept(HistoryEvent&& event) const;
    void add(Kept&& event);
    void note_added(Kept& added);
    void let_pass(const Kept& event);
    void keep_for_undo(Kept& event);
    void keep_as_result(Kept& event);
    void release_undo(Seq seq);
    void release_use(Kept& event);
    bool is_read_output(const Kept& event) const;
    Seq newest_output(NodeIndex node) const;
    void collect_roots(const InstanceState& state);
    void follow_roots();
    bool is_root(Seq seq) const;
    void sweep(const InstanceState& state);
    void forget_undo();
    void compact();

    const Program* program_;
    HistoryPolicy policy_;
    std::vector<Kept> events_;  // by rising number
    std::size_t gone_ = 0;
    std::vector<Seq> passing_;               // kept only as long as the state refers to them
    std::vector<Seq> undoable_;              // by rising number
    std::vector<Seq> outputs_;               // the newest one, by node; empty before the first
    std::vector<std::vector<Seq>> by_node_;  // results, where only the last ones are kept
    std::vector<Seq> roots_;                 // a buffer
    std::shared_ptr<const char[]> text_;     // shared by copies
};

/// Calls visit(seq) for every event that the kernel must be able to read in `state`.
template <typename Visit>
void each_root(const InstanceState& state, Visit visit) {
    const auto look = [&](Seq seq) {
        if (seq != 0) visit(seq);
    };
    look(state.result);
    look(state.error);
    for (const Token& token : state.tokens) {
        look(token.input);
        look(token.payload);
        look(token.compensates);
        look(token.failed);
    }
    for (const Scope& scope : state.scopes) {
        for (const BranchOutcome& branch : scope.branches) look(branch.output);
    }
    for (const StepRecord& record : state.records) look(record.failure);
    for (const BufferedSignal& signal : state.signals) look(signal.event);
    for (const Rollback& rollback : state.rollbacks) {
        // A requeue makes it the instance's error again.
        if (rollback.kind != Rollback::Kind::Losers) look(rollback.cause);
    }
    if (state.savepoint) look(state.savepoint->input);
}

}  // namespace ebb::stateless
