#include "engine/committer.h"

#include <algorithm>
#include <utility>

#include "engine/checks.h"

namespace ebb::engine {

namespace {

/// How often a handler thread commits for others before it returns to its handlers, if any wait.
constexpr int kHandlerRoundsMax = 16;
constexpr Duration kOverduePause = std::chrono::milliseconds(1);

}  // namespace

AttemptPtr Committer::combine(Role role) {
    if (!inbox_.try_enter()) return nullptr;
    bool is_inside = true;
    try {
        return run_rounds(role, is_inside);
    } catch (const std::exception& error) {
        // Out of memory, or a bug.
        end_process(environment().log, "a round of the committer must not fail", error);
    } catch (...) {
        // Stores and handlers do not throw this: a test uses it to simulate the death of a process.
        last_error_ = std::current_exception();
        if (is_inside) inbox_.leave();
        throw;
    }
}

AttemptPtr Committer::run_rounds(Role role, bool& is_inside) {
    AttemptPtr mine;
    for (int rounds = 0;; ++rounds) {
        Moment now = environment().moment();
        if (leave_after(role, rounds, now.steady)) return mine;
        if (mine) parts_.ready.push({std::exchange(mine, nullptr)});
        take_part(now, &Committer::begin_round);
        if (FlightPtr flight = take_off(now.steady)) {
            // In the meantime, other threads run and decide what they can.
            parts_.ready.push(std::exchange(started_, {}));
            leave_to_others(now.steady);
            is_inside = false;
            fly(*flight);
            inbox_.land(std::move(flight));
            is_inside = inbox_.try_enter();
            if (!is_inside) return nullptr;
            now = environment().moment();
        }
        take_part(now, &Committer::end_round);
        mine = hand_out(role);
    }
}

bool Committer::may_decide() const {
    // Decided work is sent before more is decided, so that more work shares the next flight.
    return batches_.empty() && flights_ < flights_max_ && !wants_quiet_;
}

bool Committer::has_more(SteadyPoint now) const {
    const bool may_take_off = !batches_.empty() && flights_ < flights_max_;
    const bool may_absorb = !held_back_.empty() && (has_settled_ || pending_.empty());
    const bool may_decide_more = open_.size() > delayed_ && may_decide();
    return may_take_off || may_absorb || may_decide_more || !touched_.empty() ||
           look_again_at_ <= now;
}

bool Committer::leave_after(Role role, int rounds, SteadyPoint now) {
    const bool is_blocked = now < retry_at_;
    if (is_blocked) refuse_requests(last_error_);
    const bool is_done = pending_.empty() && open_.empty() && held_back_.empty() && !has_more(now);
    is_idle_ = !is_blocked && is_done && held_.size() == 0 && doubts_.empty();
    if (is_idle_ && environment().worker.is_draining) idle_.ring();
    announce_next_look(std::min(look_again_at_, is_blocked ? retry_at_ : kSteadyNever));
    if (is_blocked) {
        gathering_until_ = kNotGathering;
        if (!inbox_.leave_unless_landed()) return false;
        // No caller may be left waiting for an answer that only comes when the store is back.
        return !(inbox_.has_request() && inbox_.try_enter());
    }
    const bool has_more_to_do = has_more(now);
    if (!has_more_to_do && inbox_.leave_if_empty()) return true;
    if (!has_more_to_do && rounds > 0 && may_gather()) return inbox_.leave_unless_landed();
    const int rounds_max = role == Role::Guest ? 1 : kHandlerRoundsMax;
    const bool has_done_its_share = has_own_thread_ && role != Role::Owner &&
                                    rounds >= rounds_max &&
                                    (role == Role::Guest || parts_.ready.size() > 0);
    if (has_done_its_share) {
        inbox_.leave();
        alarm().ring();
    }
    return has_done_its_share;
}

void Committer::leave_to_others(SteadyPoint now) {
    const bool may_decide_more = flights_ < flights_max_;
    const bool has_decided_more = has_more(now);
    const bool was_empty = inbox_.leave();
    if (!has_own_thread_ || !may_decide_more || (was_empty && !has_decided_more)) return;
    // The thread that runs a handler checks the inbox afterwards.
    if (parts_.ready.size() == 0) alarm().ring();
}

bool Committer::may_gather() {
    if (!has_own_thread_ || parts_.ready.size() == 0) return false;
    const Duration time = parts_.pace.gathering_time();
    if (time == Duration::zero()) return false;
    const SteadyPoint now = environment().steady_now();
    Duration::rep until = gathering_until_.load();
    if (until != kNotGathering) return now < SteadyPoint(Duration(until));
    if (gathering_until_.compare_exchange_strong(until, (now + time).time_since_epoch().count())) {
        alarm().ring();
    }
    return true;
}

void Committer::announce_next_look(SteadyPoint look) {
    const auto next = look.time_since_epoch().count();
    const auto before = next_look_.exchange(next);
    if (next < before && has_own_thread_) alarm().ring();
}

SteadyPoint Committer::tick(SteadyPoint now) {
    const bool may_wait =
        gathering_until() != kSteadyNever && now < gathering_until() && now < next_look();
    // Another thread may be the committer and may just be leaving the gathered work to this thread.
    // So the work is only done when a thread has taken it; until then, this looks again.
    if (!may_wait) combine(Role::Owner);
    const SteadyPoint next = std::min(gathering_until(), next_look());
    // Overdue work is in the hands of another thread: waiting for that thread must not spin.
    const SteadyPoint soon = environment().steady_now() + kOverduePause;
    return next < soon - kOverduePause ? soon : next;
}

int Committer::capacity(int target) const {
    const int held = environment().statistics.in_flight;
    // A call without a thread does not occupy a thread; it only counts toward everything that is
    // held.
    const int with_threads = std::max(held - environment().statistics.async_calls, 0);
    const int rest = environment().options.in_flight_max - held;
    return std::clamp(target - with_threads, 0, std::max(rest, 0));
}

int Committer::free_capacity() const {
    return capacity(parts_.pace.in_flight_target());
}

void Committer::take_part(const Moment& now, void (Committer::*part)(const Moment&)) {
    (this->*part)(now);
    check_books(now);
    environment().statistics.in_flight = held_.size();
    const int slots = held_.slots();
    const int slots_before = environment().statistics.slots.exchange(slots);
    if (slots < slots_before) parts_.signals.note_free_slots(slots_before - slots);
    if (parts_.signals.wants_room() && has_room()) parts_.signals.offer_room();
}

bool Committer::has_room() const {
    // Not for every single task: a claim is expensive, and a claim of many tasks costs hardly more
    // than a claim of one.
    const int target = parts_.pace.in_flight_target();
    const int worthwhile = std::min(environment().options.claim_batch_max, (target + 1) / 2);
    return environment().statistics.in_flight == 0 || capacity(target) >= worthwhile;
}

void Committer::begin_round(const Moment& now) {
    settle_landed(now.steady);
    const bool is_stuck = now.steady < retry_at_ && !batches_.empty();
    if (!is_stuck) {
        look_again(now.steady);
        take_items();
        review_touched(now);
    }
    if (may_decide()) decide_open(now);
}

void Committer::end_round(const Moment& now) {
    settle_landed(now.steady);
    review_touched(now);
    flush_releases();
}

void Committer::take_items() {
    const auto max = static_cast<std::size_t>(environment().options.commit_batch_max);
    gathering_until_ = kNotGathering;
    has_settled_ = false;
    wants_quiet_ = false;
    for (Item& item : std::exchange(held_back_, {})) absorb_or_hold_back(std::move(item));
    for (Item& item : inbox_.take(max)) absorb_or_hold_back(std::move(item));
}

void Committer::absorb_or_hold_back(Item item) {
    if (!must_wait(item)) {
        std::visit([this](auto& posted) { absorb(posted); }, item);
        return;
    }
    held_back_.push_back(std::move(item));
}

bool Committer::must_wait(const Item& item) {
    const auto is_pending = [this](const InstanceId& id) { return pending_.contains(id); };
    if (const auto* outcome = std::get_if<item::Outcome>(&item)) {
        return is_pending(outcome->attempt->task().instance);
    }
    if (const auto* transacted = std::get_if<item::Transacted>(&item)) {
        return is_pending(transacted->attempt->task().instance);
    }
    if (const auto* unstarted = std::get_if<item::Unstarted>(&item)) {
        return is_pending(unstarted->attempt->task().instance);
    }
    if (const auto* begun = std::get_if<item::Begun>(&item)) return is_pending(begun->live->row.id);
    if (const auto* asked = std::get_if<item::Request>(&item))
        return is_pending(asked->live->row.id);
    if (const auto* claimed = std::get_if<item::Claimed>(&item)) {
        return std::any_of(
            claimed->tasks.begin(),
            claimed->tasks.end(),
            [&](const item::ClaimedTask& task) { return is_pending(task.task.instance); }
        );
    }
    // The item concerns all held tasks.
    wants_quiet_ |= !pending_.empty();
    return !pending_.empty();
}

void Committer::look_again(SteadyPoint now) {
    if (look_again_at_ > now) return;
    look_again_at_ = kSteadyNever;
    delayed_ = 0;
    held_.for_each([this](const Held& held) {
        if (held.state.is_idle()) touched_.push_back(held.task.instance);
    });
}

Work& Committer::work_of(const InstanceId& id) {
    const auto [index, is_new] = open_index_.emplace(id, open_.size());
    if (is_new) open_.push_back({.instance = id, .causes = {}, .rewrites = {}});
    return open_[index->second];
}

LivePtr Committer::live_of(const InstanceId& id) {
    if (LivePtr known = cache_.find(id)) return known;
    auto row = environment().store.load(id);
    if (!row) {
        throw Error(
            ErrorCode::InstanceNotFound, "There is no instance " + id.to_string() + " any more."
        );
    }
    LivePtr live = make_live(std::move(*row), parts_.programs);
    distrust_rows(id);
    cache_.replace(live);
    return live;
}

void Committer::decide_open(const Moment& now) {
    std::vector<Work> open = std::exchange(open_, {});
    open_index_.clear();
    delayed_ = 0;
    std::vector<Turn> turns;
    turns.reserve(open.size());
    open_.reserve(open.size());
    for (Work& work : open) {
        const bool is_delayed = now.steady < work.not_before;
        if (!is_delayed && decide_one(work, now, turns)) continue;
        if (is_delayed) {
            ++delayed_;
            look_again_at_ = std::min(look_again_at_, work.not_before);
        }
        open_index_.emplace(work.instance, open_.size());
        open_.push_back(std::move(work));
    }
    make_batches(std::move(turns));
}

void Committer::forget_lost(Work& work) {
    const auto is_lost = [&](TokenId token) { return !held_.find({work.instance, token}); };
    std::erase_if(work.rewrites, [&](const TaskChange& row) { return is_lost(row.token); });
    std::erase_if(work.causes, [&](const Cause& cause) {
        const auto* token = std::get_if<TokenId>(&cause.origin);
        return token != nullptr && is_lost(*token);
    });
}

bool Committer::decide_one(Work& work, const Moment& now, std::vector<Turn>& turns) {
    forget_lost(work);
    if (work.causes.empty() && work.rewrites.empty()) return true;
    try {
        Turn turn = decide_turn(environment().store, live_of(work.instance), work, now.date);
        if (turn.has_changed) {
            turns.push_back(std::move(turn));
        } else {
            settle_unchanged(turn);
        }
    } catch (const Error& error) {
        if (may_pass(error)) {
            block(now.steady, error);
            return false;
        }
        drop(work, error);
    } catch (const std::exception& error) {
        drop(work, Error(ErrorCode::Internal, error.what()));
    }
    return true;
}

void Committer::make_batches(std::vector<Turn> turns) {
    const auto max = static_cast<std::size_t>(environment().options.commit_batch_max);
    const std::size_t bytes_max = environment().options.commit_bytes_max;
    int capacity = free_capacity();
    std::size_t bytes = 0;
    bool is_open = false;  // may the last batch take more?
    for (Turn& turn : turns) {
        choose_writes(turn, held_, environment(), capacity);
        pending_.insert(turn.live->row.id);
        const std::size_t more = bytes_of(turn);
        const bool has_room =
            is_open && batches_.back().turns.size() < max && bytes + more <= bytes_max;
        // Work that the store could not write earlier must not delay other instances.
        is_open = turn.delays == 0;
        if (!has_room || !is_open) {
            batches_.emplace_back();
            bytes = 0;
        }
        bytes += more;
        batches_.back().turns.push_back(std::move(turn));
    }
}

AttemptPtr Committer::hand_out(Role role) {
    AttemptPtr mine;
    std::vector<AttemptPtr> started = std::exchange(started_, {});
    // Under load, the order of the queue is the fair one. Without load, passing the call to another
    // thread would cost more than the step.
    if (role == Role::Handler && !started.empty() && parts_.ready.size() == 0) {
        const auto first = std::min_element(
            started.begin(),
            started.end(),
            [](const AttemptPtr& one, const AttemptPtr& other) {
                return one->call().rank < other->call().rank;
            }
        );
        mine = std::move(*first);
        started.erase(first);
    }
    parts_.ready.push(std::move(started));
    return mine;
}

}  // namespace ebb::engine
