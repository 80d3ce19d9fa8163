#include "engine/committer.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ebb::engine {

namespace {

/// A handler thread commits for others this often before it goes back to its handlers, if any wait.
constexpr int kHandlerRoundsMax = 16;
constexpr Duration kOverduePause = std::chrono::milliseconds(1);
constexpr Duration kRetryMin = std::chrono::milliseconds(20);
constexpr Duration kRetryMax = std::chrono::seconds(2);

Duration retry_pause(int failures) {
    return std::min(kRetryMax, kRetryMin * (1 << std::min(failures, 10)));
}

}  // namespace

AttemptPtr Committer::combine(Role role) {
    if (!inbox_.try_enter()) return nullptr;
    AttemptPtr mine;
    try {
        for (int rounds = 0;; ++rounds) {
            const TimePoint now = environment().now();
            if (leave_after(role, rounds, now)) return mine;
            if (mine) parts_.ready.push({std::exchange(mine, nullptr)});
            run_guarded_round(now);
            mine = hand_out(role);
        }
    } catch (...) {
        inbox_.leave();
        throw;
    }
}

bool Committer::leave_after(Role role, int rounds, TimePoint now) {
    const bool is_blocked = now < retry_at_;
    if (is_blocked) refuse_requests(last_error_);
    const bool has_more =
        !open_.empty() || !batches_.empty() || !touched_.empty() || look_again_at_ <= now;
    is_idle_ = !is_blocked && !has_more && held_.size() == 0;
    if (is_idle_ && environment().worker.is_draining) idle_.ring();
    announce_next_look(std::min(look_again_at_, is_blocked ? retry_at_ : kNever));
    if (is_blocked) {
        inbox_.leave();
        // Nobody may be left waiting for an answer that only comes when the store is back.
        return !(inbox_.has_request() && inbox_.try_enter());
    }
    if (!has_more && inbox_.leave_if_empty()) return true;
    if (!has_more && rounds > 0 && may_gather()) {
        inbox_.leave();
        return true;
    }
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

bool Committer::may_gather() {
    if (!has_own_thread_ || parts_.ready.size() == 0) return false;
    const Duration time = parts_.pace.gathering_time();
    if (time == Duration::zero()) return false;
    const TimePoint now = environment().now();
    Duration::rep until = gathering_until_.load();
    if (until != kNotGathering) return now < TimePoint(Duration(until));
    if (gathering_until_.compare_exchange_strong(until, (now + time).time_since_epoch().count())) {
        alarm().ring();
    }
    return true;
}

void Committer::announce_next_look(TimePoint look) {
    const auto next = look.time_since_epoch().count();
    const auto before = next_look_.exchange(next);
    if (next < before && has_own_thread_) alarm().ring();
}

TimePoint Committer::tick(TimePoint now) {
    Duration::rep until = gathering_until_.load();
    const bool may_wait =
        until != kNotGathering && now < TimePoint(Duration(until)) && now < next_look();
    if (!may_wait) {
        combine(Role::Owner);
        // Where somebody else is the committer, he takes what was gathered before he leaves.
        gathering_until_.compare_exchange_strong(until, kNotGathering);
    }
    const TimePoint next = std::min(gathering_until(), next_look());
    // What should have been done by now is in somebody's hands: waiting for him must not spin.
    const TimePoint soon = environment().now() + kOverduePause;
    return next < soon - kOverduePause ? soon : next;
}

int Committer::free_capacity() const {
    const int held = environment().statistics.in_flight.load();
    return std::max(0, parts_.pace.in_flight_target() - held);
}

void Committer::run_guarded_round(TimePoint now) {
    try {
        run_round(now);
    } catch (const std::exception& error) {
        // Out of memory, or a bug: whoever is the committer must not take the place with it.
        environment().log.error("committer_failed", {{"error", error.what()}});
        block(now, error);
    }
    environment().statistics.in_flight = held_.size();
    if (parts_.signals.wants_room() && has_room()) parts_.signals.offer_room();
}

bool Committer::has_room() const {
    // Not for every single task: a claim is dear, and claims of many are hardly dearer than of one.
    const int target = parts_.pace.in_flight_target();
    const int worthwhile = std::min(environment().options.claim_batch_max, (target + 1) / 2);
    const int held = environment().statistics.in_flight;
    return held == 0 || target - held >= worthwhile;
}

void Committer::run_round(TimePoint now) {
    write_batches(now);
    // What is decided must be written before more is decided on top of it.
    if (batches_.empty()) {
        look_again(now);
        take_items();
        review_touched(now);
        decide_open(now);
        write_batches(now);
    }
    review_touched(now);
    flush_releases();
}

void Committer::take_items() {
    const auto max = static_cast<std::size_t>(environment().options.commit_batch_max);
    gathering_until_ = kNotGathering;
    for (Item& item : inbox_.take(max)) {
        std::visit([this](auto& posted) { absorb(posted); }, item);
    }
}

void Committer::look_again(TimePoint now) {
    if (look_again_at_ > now) return;
    look_again_at_ = kNever;
    held_.for_each([this](const Held& held) {
        if (!held.attempt && !held.is_deciding) touched_.push_back(held.task.instance);
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

void Committer::decide_open(TimePoint now) {
    std::vector<Work> open = std::exchange(open_, {});
    open_index_.clear();
    std::vector<Turn> turns;
    turns.reserve(open.size());
    for (Work& work : open) {
        if (decide_one(work, now, turns)) continue;
        open_index_.emplace(work.instance, open_.size());
        open_.push_back(std::move(work));
    }
    make_batches(std::move(turns));
}

bool Committer::decide_one(Work& work, TimePoint now, std::vector<Turn>& turns) {
    try {
        Turn turn = decide_turn(environment().store, live_of(work.instance), work, now);
        if (turn.has_changed) {
            turns.push_back(std::move(turn));
        } else {
            settle_unchanged(turn);
        }
    } catch (const Error& error) {
        if (error.is_transient()) {
            block(now, error);
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
    int capacity = free_capacity();
    for (Turn& turn : turns) choose_writes(turn, held_, environment(), capacity);
    if (turns.size() <= max) {
        if (!turns.empty()) batches_.push_back({.turns = std::move(turns)});
        return;
    }
    for (Turn& turn : turns) {
        if (batches_.empty() || batches_.back().turns.size() >= max) batches_.emplace_back();
        batches_.back().turns.push_back(std::move(turn));
    }
}

void Committer::write_batches(TimePoint now) {
    while (!batches_.empty() && now >= retry_at_) {
        Batch batch = std::move(batches_.front());
        batches_.pop_front();
        if (write(batch, now)) continue;
        if (!batch.turns.empty()) batches_.push_front(std::move(batch));
        return;
    }
}

bool Committer::write(Batch& batch, TimePoint now) {
    std::vector<Commit> commits;
    commits.reserve(batch.turns.size());
    for (const Turn& turn : batch.turns) {
        commits.push_back(turn.to_commit(environment().options.worker_id));
    }
    try {
        const std::vector<CommitResult> results = environment().store.commit(commits);
        parts_.pace.record_commit(environment().now() - now);
        ++environment().statistics.commits;
        failures_ = 0;
        settle_all(batch, results);
        return true;
    } catch (const std::exception& error) {
        const auto* known = dynamic_cast<const Error*>(&error);
        if (known == nullptr || !known->is_transient()) {
            write_one_by_one(batch, error);
            return true;
        }
        ++batch.tries;
        block(now, error);
        drop_requests(batch);
        for (Batch& waiting : batches_) drop_requests(waiting);
        return false;
    }
}

void Committer::settle_all(Batch& batch, const std::vector<CommitResult>& results) {
    std::size_t settled = 0;
    try {
        for (; settled < results.size(); ++settled) {
            settle(batch.turns[settled], results[settled], batch.tries > 0);
        }
    } catch (...) {
        // Whether an earlier try was written could not be asked. The rest is tried again: what was
        // written meanwhile is then a conflict, and is asked about again.
        const auto end = batch.turns.begin() + static_cast<std::ptrdiff_t>(settled);
        batch.turns.erase(batch.turns.begin(), end);
        throw;
    }
}

void Committer::write_one_by_one(Batch& batch, const std::exception& error) {
    if (batch.turns.size() == 1) return set_aside(batch.turns.front(), error);
    // One instance must not keep the others from being written.
    for (auto turn = batch.turns.rbegin(); turn != batch.turns.rend(); ++turn) {
        Batch single;
        single.tries = batch.tries;
        single.turns.push_back(std::move(*turn));
        batches_.push_front(std::move(single));
    }
}

namespace {

bool is_request(const Cause& cause) {
    return std::holds_alternative<ReplyPtr>(cause.origin);
}

/// Answers the requests among them with the error, and forgets them.
void refuse(std::vector<Cause>& causes, const std::exception_ptr& error) {
    std::erase_if(causes, [&](const Cause& cause) {
        if (!is_request(cause)) return false;
        std::get<ReplyPtr>(cause.origin)->give({.refusal = {}, .error = error});
        return true;
    });
}

}  // namespace

void Committer::drop_requests(Batch& batch) {
    std::erase_if(batch.turns, [&](Turn& turn) {
        refuse(turn.deferred, last_error_);
        for (const Cause& cause : turn.causes) {
            if (!is_request(cause)) continue;
            std::get<ReplyPtr>(cause.origin)->give({.refusal = {}, .error = last_error_});
        }
        const bool is_only_requests =
            !turn.causes.empty() && std::all_of(turn.causes.begin(), turn.causes.end(), is_request);
        if (!is_only_requests) return false;
        // The requests were answered: whether they were written or not, they are not repeated.
        reopen(std::move(turn.deferred), turn.live->row.id, turn.conflicts);
        forget_instance(turn);
        return true;
    });
}

void Committer::block(TimePoint now, const std::exception& error) {
    retry_at_ = now + retry_pause(failures_++);
    last_error_ = std::make_exception_ptr(Error(
        ErrorCode::StoreUnavailable, std::string("The store does not answer: ") + error.what()
    ));
    if (const auto* known = dynamic_cast<const Error*>(&error)) {
        last_error_ = std::make_exception_ptr(*known);
    }
    environment().report("commit_delayed", error);
    refuse_requests(last_error_);
}

void Committer::refuse_requests(const std::exception_ptr& error) {
    std::vector<Item> kept;
    for (Item& item : inbox_.take(std::numeric_limits<std::size_t>::max())) {
        if (const auto* request = std::get_if<item::Request>(&item)) {
            request->reply->give({.refusal = {}, .error = error});
        } else {
            kept.push_back(std::move(item));
        }
    }
    inbox_.put_back(std::move(kept));
    for (Work& work : open_) refuse(work.causes, error);
}

AttemptPtr Committer::hand_out(Role role) {
    AttemptPtr mine;
    std::vector<AttemptPtr> started = std::exchange(started_, {});
    // Under load the queue's order is the fair one; alone, a hand-over to another thread would cost
    // more than the step.
    if (role == Role::Handler && !started.empty() && parts_.ready.size() == 0) {
        mine = std::move(started.back());
        started.pop_back();
    }
    parts_.ready.push(std::move(started));
    return mine;
}

}  // namespace ebb::engine
