#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ebb/engine.h>

#include "cli/definition_file.h"
#include "store/store_decorator.h"
#include "support/sync.h"

namespace ebb::cli {

/// Which programs this process may run. Any writer to the database can store a workflow with
/// an `exec` handler, so such a handler runs only if a file that the user has given describes it in
/// the same words, or if the user allows all of them (`--allow-exec`, or EBB_ALLOW_EXEC=1).
class ExecPolicy {
 public:
    ExecPolicy(Session& session, const std::vector<DefinitionFile>& files, bool allows_all);

    /// From now on, the programs of this file are allowed, too. Thread-safe, as all of it.
    void give(const DefinitionFile& file);

    /// Increases with each file that was given: what was refused may be allowed now.
    int edition() const { return edition_; }

    /// The handlers of `definition` that would run a program that is not allowed, sorted.
    std::vector<std::string> refused(const Definition& definition) const;

    bool allows(const Definition& definition) const { return refused(definition).empty(); }

 private:
    bool is_given(const std::string& workflow, const std::string& handler, const Json& spec) const;

    /// The entry of each handler, by workflow and handler.
    mutable Mutex mutex_;
    std::map<std::pair<std::string, std::string>, std::vector<Json>> given_ EBB_GUARDED_BY(mutex_);
    std::atomic<int> edition_{0};
    bool allows_all_ = false;
};

/// A store in which a worker finds no tasks of workflow versions that the policy refuses: handlers
/// are claimed by name, and a version may share a name with one that is allowed. Such tasks stay
/// for other workers.
class GuardedStore : public StoreDecorator {
 public:
    /// Both must outlive it.
    GuardedStore(Store& inner, const ExecPolicy& policy)
        : StoreDecorator(inner), inner_(inner), policy_(policy) {}

    std::vector<Claim> claim(const ClaimRequest& request) override;
    LimitedClaims claim_limited(const ClaimRequest& request) override;
    HeartbeatResult heartbeat(const WorkerRow& worker, Duration lease) override;

    std::unique_ptr<Hints> open_hints() override { return inner_.open_hints(); }

    /// Lets the engine, which must work on this store, also leave the tasks to others that it would
    /// keep without a claim. Before it runs.
    void guard(Engine& engine);

 private:
    bool is_allowed(const std::string& workflow, int version);
    void leave_to_others(std::vector<Claim>& claims);

    Store& inner_;
    const ExecPolicy& policy_;
    Mutex mutex_;
    std::string worker_ EBB_GUARDED_BY(mutex_);
    TimePoint started_at_ EBB_GUARDED_BY(mutex_){};
    int edition_ EBB_GUARDED_BY(mutex_) = 0;  ///< of the policy, from which `known_` is
    std::map<std::pair<std::string, int>, bool> known_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::cli
