#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/kernel/program.h"
#include "engine/environment.h"
#include "store/stored_definition.h"
#include "support/sync.h"

namespace ebb::engine {

/// Compiled definitions by workflow and version, read from the store when they are first needed. A
/// version never changes, so the cache stays valid forever. Thread-safe.
class ProgramCache {
 public:
    explicit ProgramCache(Environment& environment) : environment_(environment) {}

    /// Null when the store does not have it. Throws UnreadableDefinition when this program cannot
    /// read the stored definition. That is logged once, and tried again after kUnreadableFor.
    std::shared_ptr<const Program> find(const std::string& workflow, int version);

    /// The newest version. Another process may register one at any time, so the answer is kept for
    /// kNewestKnownFor only.
    std::shared_ptr<const Program> find_newest(const std::string& workflow);

    /// A definition that this process has just put into the store.
    void remember(std::shared_ptr<const Program> program);

    static constexpr Duration kNewestKnownFor = std::chrono::milliseconds(100);
    static constexpr Duration kUnreadableFor = std::chrono::minutes(1);

 private:
    struct Newest {
        int version = 0;
        SteadyPoint asked_at{};
    };

    struct Unreadable {
        UnreadableDefinition error;
        SteadyPoint read_at{};
    };

    /// Throws the known UnreadableDefinition of a version that cannot be read.
    std::shared_ptr<const Program> find_cached(const std::string& workflow, int version);
    std::shared_ptr<const Program> compile(const WorkflowRow& row);
    void note_unreadable(const WorkflowRow& row, const UnreadableDefinition& error);

    Environment& environment_;
    Mutex mutex_;
    std::map<std::pair<std::string, int>, std::shared_ptr<const Program>> programs_
        EBB_GUARDED_BY(mutex_);
    std::map<std::string, Newest> newest_ EBB_GUARDED_BY(mutex_);
    std::map<std::pair<std::string, int>, Unreadable> unreadable_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::engine
