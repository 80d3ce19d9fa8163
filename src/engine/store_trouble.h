#pragma once

#include <exception>
#include <utility>

#include "engine/committer_role.h"
#include "engine/environment.h"

namespace ebb::engine {

/// What the committer knows of a store that cannot be used now. Nothing is written until it is time
/// to try again.
class StoreTrouble {
 public:
    explicit StoreTrouble(Environment& environment) : environment_(environment) {}

    /// The store has failed. The pause before the next try grows with each failure.
    void begin(SteadyPoint now, const std::exception& error) EBB_REQUIRES(kCommitter);

    /// The store has answered.
    void end() EBB_REQUIRES(kCommitter) { failures_ = 0; }

    bool is_blocking(SteadyPoint now) const EBB_REQUIRES(kCommitter) { return now < retry_at_; }

    SteadyPoint retry_at() const EBB_REQUIRES(kCommitter) { return retry_at_; }

    /// The answer to requests. Null if the store has never failed.
    const std::exception_ptr& error() const EBB_REQUIRES(kCommitter) { return error_; }

    /// Whether it has failed since the last call.
    bool take_news() EBB_REQUIRES(kCommitter) { return std::exchange(is_new_, false); }

 private:
    Environment& environment_;
    SteadyPoint retry_at_ EBB_GUARDED_BY(kCommitter){};
    int failures_ EBB_GUARDED_BY(kCommitter) = 0;
    std::exception_ptr error_ EBB_GUARDED_BY(kCommitter);
    bool is_new_ EBB_GUARDED_BY(kCommitter) = false;
};

}  // namespace ebb::engine
