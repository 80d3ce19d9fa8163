#pragma once

#include <optional>

#include "engine/claim_signals.h"
#include "engine/committer.h"
#include "engine/environment.h"
#include "engine/hint_box.h"
#include "engine/program_cache.h"
#include "engine/service.h"

namespace ebb::engine {

/// Gets work from the store: due tasks whose handlers are registered here, as many as there is room
/// for, and the engine's own (timers, deadlines, stops) even when there is none. Looks often while
/// it finds something, ever more rarely while it does not, and at once when this process knows
/// better.
class Claimer final : public Service {
 public:
    Claimer(
        Environment& environment,
        ProgramCache& programs,
        Committer& committer,
        ClaimSignals& signals,
        HintBox& hints
    )
        : environment_(environment),
          programs_(programs),
          committer_(committer),
          signals_(signals),
          hints_(hints),
          pause_(environment.options.poll_min) {}

    std::string_view name() const override { return "claimer"; }

    SteadyPoint tick(SteadyPoint now) override;

    /// Claims once, at most `room` tasks of handlers and as many of the engine's own, and hands
    /// them to the committer. `is_told`: see ClaimRequest. Returns how many it got. Throws nothing:
    /// errors are logged and counted.
    int claim(int room, bool is_told);

    /// Finishes the remaining work of a stop of this instance, so that a cancel ends even if no
    /// worker is alive.
    int claim_stops(const InstanceId& instance);

 private:
    /// What the claims of a round have brought so far.
    struct Claimed {
        int count = 0;
        int own = 0;  // of these, tasks of the engine
        bool has_failed = false;
    };

    Duration longest_pause() const;
    std::int64_t bytes_max() const;
    /// Reports what the store throws, so a round makes no more claims after it.
    Claimed claim_and_post(const ClaimRequest& request);
    /// In the queues with limits among `request.limited_queues` that are served here.
    Claimed claim_limited(const ClaimRequest& request);
    Claimed claim_slots(const ClaimRequest& request);
    /// Those that can be called now.
    std::vector<std::string> claimable_handlers();
    Claimed claim_unlimited(ClaimRequest request);
    int claim_within_limits(ClaimRequest request);
    int post(std::vector<Claim> claims);
    std::optional<item::ClaimedTask> prepare(Claim claim);
    /// False: the mail of an instance that has ended is dropped, and that of one that has moved
    /// waits.
    bool may_read_mail(const Claim& claim);
    void put_off(const Claim& claim, const Error& why);

    Environment& environment_;
    ProgramCache& programs_;
    Committer& committer_;
    ClaimSignals& signals_;
    HintBox& hints_;
    Duration pause_;
    bool is_limited_first_ = false;
};

}  // namespace ebb::engine
