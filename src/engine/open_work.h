#pragma once

#include <cstddef>
#include <exception>
#include <unordered_map>
#include <vector>

#include "engine/committer_role.h"
#include "engine/turn.h"

namespace ebb::engine {

/// What must be decided: the open work of each instance in one place, in the order in which the
/// instances came.
class OpenWork {
 public:
    /// The work of the instance, which is made if there is none.
    Work& work_of(const InstanceId& id) EBB_REQUIRES(kCommitter);
    /// The same, to be decided at once even if it was delayed: a caller waits for an answer.
    Work& urgent_work_of(const InstanceId& id) EBB_REQUIRES(kCommitter);

    /// Takes all of it.
    std::vector<Work> take() EBB_REQUIRES(kCommitter);
    /// Keeps what could not be decided now. `is_delayed`: not before its own time.
    void put_back(Work work, bool is_delayed) EBB_REQUIRES(kCommitter);

    /// A delay may be over: all of it is looked at again.
    void end_delays() EBB_REQUIRES(kCommitter) { delayed_ = 0; }

    void refuse_requests(const std::exception_ptr& error) EBB_REQUIRES(kCommitter);

    bool is_empty() const EBB_REQUIRES(kCommitter) { return works_.empty(); }

    /// Is there work that is not delayed?
    bool is_ready() const EBB_REQUIRES(kCommitter) { return works_.size() > delayed_; }

    bool has(const InstanceId& id) const EBB_REQUIRES(kCommitter) { return index_.contains(id); }

    const std::vector<Work>& all() const EBB_REQUIRES(kCommitter) { return works_; }

    /// Asserts what must hold between the parts of a round: books.cpp.
    void check() const EBB_REQUIRES(kCommitter);

 private:
    std::vector<Work> works_ EBB_GUARDED_BY(kCommitter);
    std::unordered_map<InstanceId, std::size_t> index_ EBB_GUARDED_BY(kCommitter);
    std::size_t delayed_ EBB_GUARDED_BY(kCommitter) = 0;
};

}  // namespace ebb::engine
