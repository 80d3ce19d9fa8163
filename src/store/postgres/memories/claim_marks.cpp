#include "store/postgres/memories/claim_marks.h"

#include <algorithm>

namespace ebb::postgres {

ClaimMarks::Look ClaimMarks::begin(
    const ClaimRequest& request, TimePoint now, FullLooks::Reason reason
) {
    const Lock lock(mutex_);
    if (views_.size() >= kRequestsMax && !views_.contains({request.handlers, request.queues})) {
        views_.clear();
    }
    View& view = views_[{request.handlers, request.queues}];
    Look look;
    look.age = age_;
    look.is_full = !view.has_marks || view.looks.may_begin(now, reason);
    look.asks_for_places = look.is_full && view.looks.are_dear();
    if (!look.is_full) {
        look.due_from = view.due_from;
        for (const auto& [place, rank] : view.ranks) {
            look.places.push_back({place.first, place.second, rank});
        }
    }
    if (looking_++ == 0) puts_.clear();
    if (look.asks_for_places) is_active_ = true;
    return look;
}

void ClaimMarks::end(const ClaimRequest& request, const Look& look, const Findings& findings) {
    const Lock lock(mutex_);
    const Key key{request.handlers, request.queues};
    if (const auto found = views_.find(key); found != views_.end()) {
        View& view = found->second;
        if (look.is_full) {
            view.looks.note(findings.ended, findings.ended - findings.begun);
            view.has_marks = look.asks_for_places && view.looks.are_dear() && look.age == age_;
        }
        if (view.has_marks) {
            view.learn(findings);
            for (const auto& put : puts_) lower(view, key, put);
        }
        if (!view.has_marks || view.ranks.size() > kPlacesMax) view.forget();
    }
    leave();
}

void ClaimMarks::View::learn(const Findings& findings) {
    for (const Place& place : findings.claimed) {
        const std::int64_t rank = place.rank - kMargin;
        const auto [known, is_new] = ranks.try_emplace({place.handler, place.queue}, rank);
        if (!is_new) known->second = std::max(known->second, rank);
    }
    for (const Place& place : findings.left) {
        ranks.insert_or_assign({place.handler, place.queue}, place.rank);
    }
    due_from = std::max(due_from, findings.due_from);
}

void ClaimMarks::View::forget() {
    has_marks = false;
    ranks.clear();
    due_from = kLowest;
}

void ClaimMarks::give_up() {
    const Lock lock(mutex_);
    leave();
}

void ClaimMarks::leave() {
    --looking_;
    if (looking_ > 0) return;
    is_active_ = std::any_of(views_.begin(), views_.end(), [](const auto& view) {
        return view.second.has_marks;
    });
}

bool ClaimMarks::concerns(const Key& request, std::string_view handler, std::string_view queue) {
    const auto& [handlers, queues] = request;
    if (handler == kEngineHandler) return true;
    return std::find(handlers.begin(), handlers.end(), handler) != handlers.end() &&
           (queues.empty() || std::find(queues.begin(), queues.end(), queue) != queues.end());
}

void ClaimMarks::lower(View& view, const Key& request, const Ranks::value_type& put) {
    if (!concerns(request, put.first.first, put.first.second)) return;
    const auto [known, is_new] = view.ranks.insert(put);
    if (!is_new) known->second = std::min(known->second, put.second);
}

void ClaimMarks::note_put(std::string_view handler, std::string_view queue, std::int64_t rank) {
    if (!is_active_) return;
    const Ranks::value_type put{{std::string(handler), std::string(queue)}, rank};
    const Lock lock(mutex_);
    const auto [known, is_new] = puts_.insert(put);
    if (!is_new) known->second = std::min(known->second, rank);
    for (auto& [key, view] : views_) {
        if (view.has_marks) lower(view, key, put);
    }
}

void ClaimMarks::forget() {
    const Lock lock(mutex_);
    ++age_;
    for (auto& [key, view] : views_) view.forget();
}

}  // namespace ebb::postgres
