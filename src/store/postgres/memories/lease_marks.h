#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "store/postgres/memories/full_looks.h"
#include "store/store.h"
#include "support/sync.h"

namespace ebb::postgres {

/// The lowest instance of which each worker of this process may hold a task. A heartbeat asks what
/// its worker holds; ids rise with time, so the entries of leases that are gone lie below those of
/// the ones that are held, and where an old snapshot keeps them they need not be walked over.
///
/// All leases of a worker are taken through one store, which therefore knows them; only what was
/// taken without its knowledge, because an answer was lost, is found by a full look. Thread-safe.
class LeaseMarks {
 public:
    /// Every one that was begun must be ended.
    struct Look {
        InstanceId from{};  ///< the lowest, when it is a full one
        bool is_full = true;
        std::uint64_t age = 0;
    };

    struct Findings {
        TimePoint begun{};
        TimePoint ended{};
        std::optional<InstanceId> lowest;  ///< of those it holds tasks of; none: it holds none
    };

    Look begin(std::string_view worker, TimePoint now);
    void end(std::string_view worker, const Look& look, const Findings& findings);
    /// The look failed.
    void give_up(std::string_view worker);

    /// The worker has got leases on tasks of these.
    void note_leased(std::string_view worker, std::span<const InstanceId> instances);
    /// It is gone.
    void remove(std::string_view worker);
    /// Leases may have been taken without our knowledge.
    void forget();

 private:
    struct State {
        FullLooks looks;
        bool is_known = false;
        InstanceId lowest{};
        std::optional<InstanceId> leased;  // since the oldest look that is not ended
        int looking = 0;
    };

    Mutex mutex_;
    std::map<std::string, State, std::less<>> states_ EBB_GUARDED_BY(mutex_);
    std::uint64_t age_ EBB_GUARDED_BY(mutex_) = 0;
};

}  // namespace ebb::postgres
