#pragma once

#include <map>
#include <optional>
#include <vector>

#include <ebb/instance.h>

#include "core/kernel/history.h"
#include "core/kernel/program.h"

namespace ebb::engine {

/// Makes a trace of the events of an instance with rules, which must come from the first one on.
class Tracer {
 public:
    /// `program` must have rules, and outlive it.
    explicit Tracer(const Program& program);

    void add(const HistoryEvent& event);

    /// What the events so far say.
    const std::vector<TraceEntry>& entries() const { return entries_; }

 private:
    const Program& program_;
    rules::State state_;
    std::vector<bool> truth_;  ///< of all conditions, in the order of `ConditionRef`
    std::vector<TraceEntry> entries_;

    struct ConditionRef;
    std::vector<ConditionRef> conditions() const;

    void start(const HistoryEvent& event);
    void write(const HistoryEvent& event);
    void fire(const HistoryEvent& event);
    void restore(const HistoryEvent& event);
    void raise(const HistoryEvent& event);
    TraceEntry& append(const HistoryEvent& event, TraceEntry::Kind kind);
    void change(TraceEntry& entry, const std::string& name, Payload value);
    void finish(TraceEntry& entry);
};

}  // namespace ebb::engine
