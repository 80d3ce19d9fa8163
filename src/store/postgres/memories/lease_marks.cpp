#include "store/postgres/memories/lease_marks.h"

#include <algorithm>

namespace ebb::postgres {

namespace {

InstanceId highest_id() {
    InstanceId id;
    id.bytes.fill(0xff);
    return id;
}

}  // namespace

LeaseMarks::Look LeaseMarks::begin(std::string_view worker, TimePoint now) {
    const Lock lock(mutex_);
    State& state = states_.try_emplace(std::string(worker)).first->second;
    Look look;
    look.age = age_;
    look.is_full = !state.is_known || state.looks.may_begin(now, FullLooks::Reason::Usual);
    if (!look.is_full) look.from = state.lowest;
    if (state.looking++ == 0) state.leased.reset();
    return look;
}

void LeaseMarks::end(std::string_view worker, const Look& look, const Findings& findings) {
    const Lock lock(mutex_);
    const auto found = states_.find(worker);
    if (found == states_.end()) return;
    State& state = found->second;
    --state.looking;
    if (look.is_full) state.looks.note(findings.ended, findings.ended - findings.begun);
    state.is_known = look.age == age_;
    state.lowest = findings.lowest.value_or(highest_id());
    if (state.leased) state.lowest = std::min(state.lowest, *state.leased);
}

void LeaseMarks::give_up(std::string_view worker) {
    const Lock lock(mutex_);
    if (const auto found = states_.find(worker); found != states_.end()) --found->second.looking;
}

void LeaseMarks::note_leased(std::string_view worker, std::span<const InstanceId> instances) {
    if (instances.empty()) return;
    const InstanceId lowest = *std::min_element(instances.begin(), instances.end());
    const Lock lock(mutex_);
    const auto found = states_.find(worker);
    if (found == states_.end()) return;
    State& state = found->second;
    state.lowest = std::min(state.lowest, lowest);
    state.leased = std::min(state.leased.value_or(lowest), lowest);
}

void LeaseMarks::remove(std::string_view worker) {
    const Lock lock(mutex_);
    const auto found = states_.find(worker);
    if (found == states_.end()) return;
    found->second.is_known = false;
    if (found->second.looking == 0) states_.erase(found);
}

void LeaseMarks::forget() {
    const Lock lock(mutex_);
    ++age_;
    for (auto& [worker, state] : states_) state.is_known = false;
}

}  // namespace ebb::postgres
