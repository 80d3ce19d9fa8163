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

Committer::Committer(const Parts& parts)
    : parts_(parts),
      room_(parts.environment, parts.pace),
      trouble_(parts.environment),
      returns_(parts.environment, parts.hints, acquisitions_),
      holdings_(
          {parts.environment, parts.programs, parts.watchdog, acquisitions_, agenda_, returns_}
      ),
      settler_(
          {parts.environment,
           parts.waiters,
           parts.signals,
           parts.hints,
           acquisitions_,
           agenda_,
           holdings_,
           open_}
      ),
      flights_({parts.environment, parts.pace, room_, holdings_, settler_, trouble_}),
      audit_({parts.environment, parts.signals, acquisitions_, holdings_, agenda_, returns_}),
      intake_(
          {parts.environment,
           parts.watchdog,
           inbox_,
           agenda_,
           holdings_,
           open_,
           flights_,
           settler_,
           audit_}
      ),
      decider_(
          {parts.environment,
           parts.programs,
           agenda_,
           holdings_,
           open_,
           flights_,
           settler_,
           trouble_}
      ),
      reviewer_(
          {parts.environment,
           parts.watchdog,
           parts.ready,
           agenda_,
           holdings_,
           open_,
           flights_,
           settler_}
      ) {}

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
        has_died_ = true;
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
        if (FlightPtr flight = flights_.take_off(now.steady)) {
            // In the meantime, other threads run and decide what they can.
            reviewer_.hand_out_all();
            leave_to_others(now.steady);
            is_inside = false;
            flights_.fly(*flight);
            inbox_.land(std::move(flight));
            if (!inbox_.try_enter()) return nullptr;
            is_inside = true;
            now = environment().moment();
        }
        take_part(now, &Committer::end_round);
        mine = reviewer_.hand_out(role == Role::Handler);
    }
}

void Committer::take_part(const Moment& now, void (Committer::*part)(const Moment&)) {
    (this->*part)(now);
    check_books(now);
    HeldTable& tasks = holdings_.tasks();
    environment().statistics.in_flight = tasks.size();
    const int slots = tasks.slots();
    const int slots_before = environment().statistics.slots.exchange(slots);
    environment().statistics.thread_slots = tasks.thread_slots();
    if (slots < slots_before) parts_.signals.note_free_slots(slots_before - slots);
    if (parts_.signals.wants_room() && room_.is_worth_a_claim()) parts_.signals.offer_room();
}

void Committer::begin_round(const Moment& now) {
    settle_landed(now.steady);
    const bool is_stuck = trouble_.is_blocking(now.steady) && flights_.has_batches();
    if (!is_stuck) {
        reviewer_.look_again(now.steady);
        gathering_until_ = kNotGathering;
        intake_.take_items();
        reviewer_.review_touched(now);
    }
    if (may_decide()) decider_.decide_open(now);
    if (trouble_.take_news()) refuse_requests();
}

void Committer::end_round(const Moment& now) {
    settle_landed(now.steady);
    reviewer_.review_touched(now);
    returns_.flush(holdings_.tasks());
}

void Committer::settle_landed(SteadyPoint now) {
    flights_.settle(inbox_.take_landed(), now);
    if (trouble_.take_news()) refuse_requests();
}

void Committer::refuse_requests() {
    intake_.refuse_requests(trouble_.error());
    open_.refuse_requests(trouble_.error());
    flights_.drop_requests();
}

bool Committer::may_decide() const {
    // Decided work is sent before more is decided, so that more work shares the next flight.
    return !flights_.has_batches() && flights_.has_room() && !intake_.wants_quiet();
}

bool Committer::has_more(SteadyPoint now) const {
    const bool may_take_off = flights_.has_batches() && flights_.has_room();
    const bool may_decide_more = open_.is_ready() && may_decide();
    return may_take_off || intake_.may_absorb() || may_decide_more || agenda_.is_due(now);
}

void Committer::announce(SteadyPoint now) {
    const bool is_blocked = trouble_.is_blocking(now);
    if (is_blocked) refuse_requests();
    const bool is_done =
        !flights_.has_pending() && open_.is_empty() && !intake_.holds_back() && !has_more(now);
    is_idle_ = !is_blocked && is_done && holdings_.tasks().size() == 0 && !returns_.has_doubts();
    if (is_idle_ && environment().worker.is_draining) idle_.ring();
    announce_next_look(
        std::min(agenda_.next_look(), is_blocked ? trouble_.retry_at() : kSteadyNever)
    );
}

bool Committer::leave_after(Role role, int rounds, SteadyPoint now) {
    announce(now);
    if (trouble_.is_blocking(now)) return leave_blocked();
    const bool has_more_to_do = has_more(now);
    if (!has_more_to_do && inbox_.leave_if_empty()) return true;
    if (!has_more_to_do && rounds > 0 && may_gather()) return inbox_.leave_unless_landed();
    if (!has_done_its_share(role, rounds)) return false;
    inbox_.leave();
    alarm().ring();
    return true;
}

bool Committer::leave_blocked() {
    gathering_until_ = kNotGathering;
    if (!inbox_.leave_unless_landed()) return false;
    // No caller may be left waiting for an answer that only comes when the store is back.
    return !(inbox_.has_request() && inbox_.try_enter());
}

bool Committer::has_done_its_share(Role role, int rounds) const {
    const int rounds_max = role == Role::Guest ? 1 : kHandlerRoundsMax;
    return has_own_thread_ && role != Role::Owner && rounds >= rounds_max &&
           (role == Role::Guest || parts_.ready.size() > 0);
}

void Committer::leave_to_others(SteadyPoint now) {
    const bool may_decide_more = flights_.has_room();
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

}  // namespace ebb::engine
