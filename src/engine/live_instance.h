#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/kernel/decide.h"
#include "engine/environment.h"
#include "engine/program_cache.h"
#include "engine/recent_events.h"
#include "store/store.h"

namespace ebb::engine {

/// What a rollback has read of the history so far, so that each compensation need not read it
/// again.
struct UndoMemory {
    bool knows_settled = false;  ///< `settled` is complete
    std::set<Seq> settled;       ///< events that need no compensation any more
    /// Undoable events by falling number: all that there are from `chunk_top` down to
    /// `chunk_bottom`.
    std::vector<HistoryEvent> chunk;
    Seq chunk_top = 0;
    Seq chunk_bottom = 0;
};

/// One instance as this process knows it: its row with the state decoded, and what it remembers of
/// its history. Only a memory of the store: correctness never depends on it being up to date,
/// because every commit compares the revision.
struct LiveInstance {
    InstanceRow row;  ///< without the text of its state
    std::shared_ptr<const Program> program;
    InstanceState state;
    RecentEvents recent;
    UndoMemory undo;
    /// The revision that was read. All later ones were written here.
    std::int64_t base_revision = 0;

    InstanceIdentity identity() const { return {.id = row.id, .key = row.key}; }

    /// The version that a commit has written.
    void follow(std::shared_ptr<const Program> version);
    /// Takes over the state that a commit has written, and with remember() its events.
    void apply(InstanceState new_state, TimePoint now);
    void remember(std::vector<HistoryEvent> events);
};

using LivePtr = std::shared_ptr<LiveInstance>;

/// Makes a row of the store live. Throws Error with CorruptState when its state or its definition
/// cannot be understood.
LivePtr make_live(InstanceRow row, ProgramCache& programs);
/// The same if its program is known.
LivePtr make_live(InstanceRow row, std::shared_ptr<const Program> program);

/// The instances that this worker works on, the least recently used ones dropped first. Belongs to
/// the committer: not thread-safe.
class InstanceCache {
 public:
    /// Besides those whose tasks are held: these come by turns, so with room for all but one of
    /// them each would be dropped before it is needed.
    static constexpr std::size_t kSpare = 4'096;
    static constexpr std::size_t kBytesMax = std::size_t{64} << 20;

    explicit InstanceCache(int in_flight_max)
        : instances_max_(static_cast<std::size_t>(in_flight_max) + kSpare) {}

    /// Null when it is not here.
    LivePtr find(const InstanceId& id);
    /// Keeps `live` unless what is here is at least as new; returns what is here then.
    LivePtr keep_newer(LivePtr live);
    void replace(LivePtr live);
    void erase(const InstanceId& id);
    /// Counts again what the instance occupies, and drops what no longer fits.
    void touch(const InstanceId& id);

    std::size_t size() const { return entries_.size(); }

 private:
    struct Entry {
        LivePtr live;
        std::size_t bytes = 0;
        std::list<InstanceId>::iterator use;
    };

    void shrink();

    const std::size_t instances_max_;
    std::unordered_map<InstanceId, Entry> entries_;
    std::list<InstanceId> uses_;  // the most recent one first
    std::size_t bytes_ = 0;
};

}  // namespace ebb::engine
