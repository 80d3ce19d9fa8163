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

#include "store/postgres/full_looks.h"
#include "store/store.h"
#include "support/sync.h"

namespace ebb::postgres {

/// Where in the queues the claims of this process may begin. What was claimed leaves entries of
/// rows that are gone at the head of the index; a vacuum removes them, unless somebody keeps an old
/// snapshot. Where they have made a claim slow, the next ones begin at the lowest rank at which
/// something was left, and only now and then at the head.
///
/// It only ever delays: a full look finds what others have put below a mark. What this process puts
/// itself lowers the marks. Thread-safe.
class ClaimMarks {
 public:
    static constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

    struct Place {
        std::string handler;
        std::string queue;
        std::int64_t rank = kLowest;  ///< the lowest to look for there
    };

    /// What one claim is to look at. Every one that was begun must be ended.
    struct Look {
        bool is_full = true;
        bool asks_for_places = false;  ///< full, and is to tell what it leaves
        std::vector<Place> places;     ///< of one that is not full
        std::int64_t due_from = kLowest;
        std::uint64_t age = 0;
    };

    struct Findings {
        TimePoint begun{};
        TimePoint ended{};
        std::vector<Place> claimed;
        std::vector<Place> left;          ///< when the look asked for it
        std::int64_t due_from = kLowest;  ///< nothing that sleeps is due before
    };

    Look begin(const ClaimRequest& request, TimePoint now, FullLooks::Reason reason);
    void end(const ClaimRequest& request, const Look& look, const Findings& findings);
    /// The look came to nothing.
    void give_up();

    /// A task that this process has made claimable.
    void note_put(std::string_view handler, std::string_view queue, std::int64_t rank);

    bool wants_puts() const { return is_active_; }

    /// Something may have become claimable at any rank.
    void forget();

    /// Others may commit a little later than they have counted the rank.
    static constexpr std::int64_t kMargin = 100'000;
    /// More places are not remembered.
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
    std::atomic<bool> is_active_{false};  // there are marks, or will be
    std::map<Key, View> views_ EBB_GUARDED_BY(mutex_);
    Ranks puts_ EBB_GUARDED_BY(mutex_);  // since the oldest look that is not ended
    int looking_ EBB_GUARDED_BY(mutex_) = 0;
    std::uint64_t age_ EBB_GUARDED_BY(mutex_) = 0;
};

}  // namespace ebb::postgres
