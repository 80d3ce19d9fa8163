#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <ebb/instance.h>

#include "core/kernel/history.h"
#include "core/kernel/program.h"

namespace ebb::engine {

/// Makes a trace of the events of an instance with rules, which must come from the first one on.
class Tracer {
 public:
    /// A version of the workflow; null if there is none.
    using Versions = std::function<std::shared_ptr<const Program>(int version)>;

    /// `program` is the version that the instance began with.
    Tracer(std::shared_ptr<const Program> program, Versions versions);

    void add(const HistoryEvent& event);

    /// What the events so far say.
    const std::vector<TraceEntry>& entries() const { return entries_; }

 private:
    std::shared_ptr<const Program> program_;
    Versions versions_;
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
    void follow(const HistoryEvent& event);
    TraceEntry& append(const HistoryEvent& event, TraceEntry::Kind kind);
    void change(TraceEntry& entry, const std::string& name, Payload value);
    void finish(TraceEntry& entry);
};

}  // namespace ebb::engine
