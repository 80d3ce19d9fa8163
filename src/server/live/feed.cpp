#include "server/live/feed.h"

#include <algorithm>

#include "engine/view.h"

namespace ebb::server {

namespace {

/// More are not kept: a round with many different ones forgets the first of them.
constexpr std::size_t kInstancesMax = 10'000;
constexpr std::size_t kPagesMax = 16;
constexpr std::size_t kTextsMax = 16;
/// A state that no stream has asked for in this time is forgotten.
constexpr Duration kUnused = std::chrono::seconds(10);
constexpr Duration kStateLife = std::chrono::seconds(1);
constexpr int kShareOfTime = 20;

}  // namespace

void Feed::begin_round(bool has_changed, std::unordered_set<InstanceId> ended) {
    ended_ = std::move(ended);
    instances_.clear();
    pages_.clear();
    texts_.clear();
    if (has_changed) ++change_;
    const SteadyPoint now = clock_.steady_now();
    std::erase_if(states_, [&](const auto& entry) { return now - entry.second.used_at > kUnused; });
}

const std::optional<InstanceSummary>& Feed::instance(const InstanceId& id) {
    if (const auto found = instances_.find(id); found != instances_.end()) return found->second;
    if (instances_.size() >= kInstancesMax) instances_.clear();
    const auto row = reads_.load(id);
    std::optional<InstanceSummary> summary;
    if (row) summary = engine::to_summary(*row);
    return instances_.emplace(id, std::move(summary)).first->second;
}

const std::vector<HistoryEvent>& Feed::history(const InstanceId& id, Seq after) {
    const std::pair place{id, after};
    if (const auto found = pages_.find(place); found != pages_.end()) return found->second;
    if (pages_.size() >= kPagesMax) pages_.clear();
    return pages_
        .emplace(place, reads_.history({.instance = id, .after = after, .limit = kPageEvents}))
        .first->second;
}

const std::string& Feed::text(const std::string& key, const std::function<std::string()>& make) {
    if (const auto found = texts_.find(key); found != texts_.end()) return found->second;
    if (texts_.size() >= kTextsMax) texts_.clear();
    return texts_.emplace(key, make()).first->second;
}

const Feed::State& Feed::state(const std::string& key, const std::function<std::string()>& make) {
    State& state = states_[key];
    const SteadyPoint now = clock_.steady_now();
    state.used_at = now;
    const bool is_known = state.version > 0;
    const bool is_fresh = state.change == change_ && now - state.made_at < kStateLife;
    if (is_known && (is_fresh || now < state.next_at)) return state;
    const std::uint64_t change = change_;
    std::string text = make();
    state.made_at = clock_.steady_now();
    state.next_at = state.made_at + kShareOfTime * (state.made_at - now);
    state.change = change;
    if (!is_known || text != state.text) {
        state.text = std::move(text);
        state.version = ++versions_;
    }
    return state;
}

}  // namespace ebb::server
