#include "sim/sim_store.h"

#include <algorithm>
#include <utility>

namespace ebb::sim {

SimStore::Kept::Kept(const Commit& from)
    : commit(from),
      history(from.history.begin(), from.history.end()),
      tasks(from.tasks.begin(), from.tasks.end()) {}

std::vector<CommitResult> SimStore::commit(std::span<const Commit> commits) {
    if (std::exchange(is_next_late_, false)) {
        for (const Commit& commit : commits) late_.emplace_back(commit);
        throw Error(ErrorCode::StoreInDoubt, "The answer is late, as the plan says.");
    }
    auto results = FaultyStore::commit(commits);
    for (const CommitResult result : results) log_.commits += result == CommitResult::Committed;
    return results;
}

void SimStore::perform_late() {
    for (Kept& kept : late_) {
        kept.commit.history = kept.history;
        kept.commit.tasks = kept.tasks;
        const auto results = shared_.commit({&kept.commit, 1});
        log_.commits += results.front() == CommitResult::Committed;
    }
    late_.clear();
}

}  // namespace ebb::sim
