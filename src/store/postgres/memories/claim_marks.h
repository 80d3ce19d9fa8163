#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/postgres/memories/full_looks.h"
#include "store/store.h"
#include "support/sync.h"

namespace ebb::postgres {

/// The ranks in the queues at which claims of this process may begin. Claims leave dead entries at
/// the head of the index. A vacuum removes them, unless a transaction holds an old snapshot. If
/// they have slowed a claim, the next claims begin at the lowest rank at which a task was left, and
/// only occasionally at the head.
///
/// A mark can only delay a task: a full look finds tasks that other processes put below a mark.
/// Tasks that this process puts lower the marks. Thread-safe.
class ClaimMarks {
 public:
    static constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

    struct Place {
        std::string handler;
        std::string queue;
        std::int64_t rank = kLowest;  ///< the lowest rank to look for
    };

    /// The places where one claim must look. Every look that was begun must be ended.
    struct Look {
        bool is_full = true;
        bool asks_for_places = false;  ///< a full look that must report what it leaves
        std::vector<Place> places;     ///< for a look that is not full
        std::int64_t due_from = kLowest;
        std::uint64_t age = 0;
    };

    struct Findings {
        TimePoint begun{};
        TimePoint ended{};
        std::vector<Place> claimed;
        std::vector<Place> left;          ///< if the look asked for it
        std::int64_t due_from = kLowest;  ///< no sleeping task is due before this rank
    };

    Look begin(const ClaimRequest& request, TimePoint now, FullLooks::Reason reason);
    void end(const ClaimRequest& request, const Look& look, const Findings& findings);
    /// The look failed.
    void give_up();

    /// A task that this process has made claimable.
    void note_put(std::string_view handler, std::string_view queue, std::int64_t rank);

    bool wants_puts() const { return is_active_; }

    /// A task of any rank may have become claimable.
    void forget();

    /// Other processes may commit a little later than they have counted the rank.
    static constexpr std::int64_t kMargin = 100'000;
    /// The largest number of places to remember.
    static constexpr std::size_t kPlacesMax = 256;
    static constexpr std::size_t kRequestsMax = 16;

 private:
    using Key = std::pair<std::vector<std::string>, std::vector<std::string>>;
    using Ranks = std::map<std::pair<std::string, std::string>, std::int64_t, std::less<>>;

    /// What is known for all claims of the same handlers and queues.
    struct View {
        FullLooks looks;
        bool has_marks = false;
        Ranks ranks;
        std::int64_t due_from = kLowest;

        void learn(const Findings& findings);
        void forget();
    };

    static bool concerns(const Key& request, std::string_view handler, std::string_view queue);
    static void lower(View& view, const Key& request, const Ranks::value_type& put);
    void leave() EBB_REQUIRES(mutex_);

    Mutex mutex_;
    std::atomic<bool> is_active_{false};  // marks exist or will exist
    std::map<Key, View> views_ EBB_GUARDED_BY(mutex_);
    Ranks puts_ EBB_GUARDED_BY(mutex_);  // since the oldest look that has not ended
    int looking_ EBB_GUARDED_BY(mutex_) = 0;
    std::uint64_t age_ EBB_GUARDED_BY(mutex_) = 0;
};

}  // namespace ebb::postgres
