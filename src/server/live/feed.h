#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <ebb/clock.h>
#include <ebb/instance.h>

#include "store/store.h"

namespace ebb::server {

/// What watchers read. However many of them watch the same thing, it is read from the store once in
/// a round, and becomes text once. Of the hub's thread. A reference holds until the next call of
/// the same function.
class Feed {
 public:
    static constexpr int kPageEvents = 200;

    Feed(Store& reads, const Clock& clock) : reads_(reads), clock_(clock) {}

    /// What is read from now on is not older than this call. `has_changed`: some instance has
    /// changed in this process since the last round that said so. `ended`: those that a commit of
    /// this process has ended since the last round.
    void begin_round(bool has_changed, std::unordered_set<InstanceId> ended = {});

    /// It is one of those. A replica may not know of it yet.
    bool has_ended(const InstanceId& id) const { return ended_.contains(id); }

    /// None if there is no such instance. Throws Error, as all of these.
    const std::optional<InstanceSummary>& instance(const InstanceId& id);

    /// The next kPageEvents events after this one, or all if they are fewer.
    const std::vector<HistoryEvent>& history(const InstanceId& id, Seq after);

    /// A text of this round. The first caller makes it.
    const std::string& text(const std::string& key, const std::function<std::string()>& make);

    /// A text that lasts for some rounds.
    struct State {
        std::string text{};
        std::uint64_t version = 0;  ///< of this text: it changes with the text
        std::uint64_t change = 0;   ///< the last one that it knows of
        SteadyPoint made_at{};
        SteadyPoint next_at{};  ///< not made again before
        SteadyPoint used_at{};
    };

    /// Made again when some instance has changed, and once a second because other processes change
    /// things, too; but never for more than a twentieth of the time.
    const State& state(const std::string& key, const std::function<std::string()>& make);

 private:
    Store& reads_;
    const Clock& clock_;
    std::unordered_set<InstanceId> ended_;
    std::unordered_map<InstanceId, std::optional<InstanceSummary>> instances_;
    std::map<std::pair<InstanceId, Seq>, std::vector<HistoryEvent>> pages_;
    std::unordered_map<std::string, std::string> texts_;
    std::unordered_map<std::string, State> states_;
    std::uint64_t change_ = 1;
    std::uint64_t versions_ = 0;
};

}  // namespace ebb::server
