#include "engine/decider.h"

#include <utility>

#include <ebb/error.h>

namespace ebb::engine {

void Decider::decide_open(const Moment& now) {
    std::vector<Work> open = parts_.open.take();
    std::vector<Turn> turns;
    turns.reserve(open.size());
    for (Work& work : open) {
        const bool is_delayed = now.steady < work.not_before;
        if (!is_delayed && decide_one(work, now, turns)) continue;
        if (is_delayed) parts_.agenda.look_at(work.not_before);
        parts_.open.put_back(std::move(work), is_delayed);
    }
    parts_.flights.pack(std::move(turns));
}

void Decider::forget_lost(Work& work) {
    HeldTable& tasks = parts_.holdings.tasks();
    const auto is_lost = [&](TokenId token) { return !tasks.find({work.instance, token}); };
    std::erase_if(work.rewrites, [&](const TaskChange& row) { return is_lost(row.token); });
    std::erase_if(work.causes, [&](const Cause& cause) {
        const auto* token = std::get_if<TokenId>(&cause.origin);
        return token != nullptr && is_lost(*token);
    });
}

bool Decider::decide_one(Work& work, const Moment& now, std::vector<Turn>& turns) {
    forget_lost(work);
    if (work.causes.empty() && work.rewrites.empty()) return true;
    try {
        const Judge judge{parts_.environment, parts_.environment.store, &parts_.programs};
        Turn turn = decide_turn(judge, parts_.holdings.live_of(work.instance), work, now.date);
        if (turn.has_changed) {
            turns.push_back(std::move(turn));
        } else {
            parts_.settler.settle_unchanged(turn);
        }
    } catch (const Error& error) {
        if (may_pass(error)) {
            parts_.trouble.begin(now.steady, error);
            return false;
        }
        parts_.settler.drop(work, error);
    } catch (const std::exception& error) {
        parts_.settler.drop(work, Error(ErrorCode::Internal, error.what()));
    }
    return true;
}

}  // namespace ebb::engine
