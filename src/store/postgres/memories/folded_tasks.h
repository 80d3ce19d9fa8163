#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/store.h"
#include "support/sync.h"

namespace ebb::postgres {

/// A folded task is the first and only one of its instance, held since the start: it has no row of
/// its own, the row of the instance names its holder. Its token is this one.
inline constexpr TokenId kFoldedToken = 1;

/// Can its task be folded?
bool is_foldable(const NewInstance& instance);

/// What a commit does to a folded task; the numbers are those that the statements know.
enum class Fold : std::int32_t {
    None = 0,   ///< the instance has none
    Stays = 1,  ///< the worker continues it
    Ends = 2,   ///< it is removed, or gets a row
    Unfold,     ///< it may have one, which gets a row first; the statement finds none then
};

/// The instances whose task this process has folded, as far as it remembers them: a commit that
/// relies on it names them, and is not written where it is not so. Forgetting one costs a second
/// look, never more. Thread-safe.
class FoldedTasks {
 public:
    void note_started(std::span<const NewInstance> instances);
    /// One for each.
    std::vector<Fold> folds_of(std::span<const Commit> commits) const;
    /// They were written with these folds.
    void forget_ended(std::span<const Commit> commits, std::span<const Fold> folds);
    void forget(std::span<const InstanceId> instances);

    /// Begins a look at what a worker holds.
    std::uint64_t begin_look();
    /// Forgets what the worker had got before the look and does not hold any more. `held`: sorted
    /// by instance.
    void end_look(std::string_view worker, std::uint64_t look, std::span<const HeldTask> held);
    /// Forgets all of a worker that is gone.
    void remove(std::string_view worker);

 private:
    struct Entry {
        std::uint32_t worker = 0;
        std::uint64_t look = 0;  // how many had begun when it was noted
    };

    mutable Mutex mutex_;
    std::unordered_map<InstanceId, Entry> entries_ EBB_GUARDED_BY(mutex_);
    std::map<std::string, std::uint32_t, std::less<>> workers_ EBB_GUARDED_BY(mutex_);
    std::uint32_t last_worker_ EBB_GUARDED_BY(mutex_) = 0;
    std::uint64_t looks_ EBB_GUARDED_BY(mutex_) = 0;
};

}  // namespace ebb::postgres
