#include "engine/herald.h"

#include <algorithm>
#include <utility>

namespace ebb::engine {

namespace {

constexpr Duration kRetryMin = std::chrono::seconds(1);
constexpr Duration kRetryMax = std::chrono::minutes(5);
constexpr Duration kLongestWait = std::chrono::hours(1);

}  // namespace

Herald::Herald(Environment& environment, Committer& committer, ClaimSignals& signals, HintBox& box)
    : environment_(environment),
      committer_(committer),
      signals_(signals),
      box_(box),
      hints_(environment.store.open_hints()) {
    if (!hints_) return;
    box_.connect(alarm());
    // It waits for others, not for its alarm.
    alarm().set_echo([this] { hints_->interrupt(); });
}

SteadyPoint Herald::tick(SteadyPoint now) {
    if (!hints_) return kSteadyNever;
    if (now >= tell_at_ && !box_.is_empty()) {
        tell();
        tell_at_ = next_message(now, box_.take_noted());
    }
    const SteadyPoint tell_at = box_.is_empty() ? kSteadyNever : tell_at_;
    if (now < hear_at_) return std::min(tell_at, hear_at_);
    hear(std::min(tell_at, now + kLongestWait));
    return environment_.steady_now();
}

SteadyPoint Herald::next_message(SteadyPoint now, std::int64_t hints) {
    // What is far behind is forgotten, so that load that has ended delays no one.
    const Duration debt = std::max(paid_until_ - now, Duration::zero());
    const std::int64_t counted = std::min<std::int64_t>(hints, 2 * kPause / kLonelyGap);
    paid_until_ = now + std::min(debt + counted * kLonelyGap, 2 * kPause);
    return std::clamp(paid_until_ - kPause, now, now + kPause);
}

void Herald::tell() {
    if (!hints_) return;
    try {
        while (!box_.is_empty()) hints_->send(encode_hint(box_.take()));
    } catch (const std::exception& error) {
        environment_.log.debug("hint_unsent", {{"error", error.what()}});
    }
}

void Herald::hear(SteadyPoint until) {
    const SteadyPoint now = environment_.steady_now();
    try {
        const Hints::Heard heard = hints_->receive(std::max(until - now, Duration::zero()));
        if (heard.is_proven) {
            retry_pause_ = Duration::zero();
            has_reported_ = false;
            // It was not notified of work from before it began to listen.
            if (!signals_.set_is_told(true)) {
                environment_.log.info("hints_heard", {{"worker", environment_.options.worker_id}});
                signals_.ring();
            }
        }
        if (!heard.messages.empty()) obey(heard.messages);
    } catch (const std::exception& error) {
        fall_back(error);
    }
}

void Herald::fall_back(const std::exception& error) {
    retry_pause_ = std::clamp(retry_pause_ * 2, kRetryMin, kRetryMax);
    hear_at_ = environment_.steady_now() + retry_pause_;
    if (signals_.set_is_told(false)) signals_.ring();
    if (std::exchange(has_reported_, true)) return;
    environment_.log.warning(
        "hints_unheard",
        {{"worker", environment_.options.worker_id}, {"instead", "polling"}, {"error", error.what()}
        }
    );
}

void Herald::obey(const std::vector<std::string>& messages) {
    const TimePoint now = environment_.now();
    bool is_due = false;
    item::Told told;
    for (const std::string& message : messages) {
        auto hint = decode_hint(message);
        if (!hint) continue;
        is_due |= hint->is_any_work;
        for (const Hint::Work& work : hint->work) {
            const bool is_ours =
                work.handler == kEngineHandler || environment_.can_run(work.handler, work.queue);
            if (!is_ours) continue;
            is_due |= work.due <= now;
            if (work.due > now) signals_.note_due(work.due);
        }
        std::move(hint->stops.begin(), hint->stops.end(), std::back_inserter(told.stops));
    }
    if (is_due) signals_.ring_with_news();
    if (told.stops.empty()) return;
    committer_.post(std::move(told));
    committer_.combine(Committer::Role::Guest);
}

}  // namespace ebb::engine
