#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "engine/claim_signals.h"
#include "engine/committer.h"
#include "engine/environment.h"
#include "engine/hint_box.h"
#include "engine/service.h"
#include "store/hints.h"

namespace ebb::engine {

/// Tells other processes what has been put for them to do, and hears what they tell, where the
/// store has a way for it. As long as it does, claims and maintenance look rarely.
class Herald final : public Service {
 public:
    Herald(Environment& environment, Committer& committer, ClaimSignals& signals, HintBox& box);

    std::string_view name() const override { return "herald"; }

    /// False: the store has no way for it, so it needs no thread.
    bool is_needed() const { return hints_ != nullptr; }

    /// Hears and tells until its alarm rings, or something is due.
    SteadyPoint tick(SteadyPoint now) override;

    /// Sends pending hints immediately, for callers without threads. Throws nothing.
    void tell();

    /// Under load, the time between two messages: hints that come in the meantime share the next
    /// one.
    static constexpr Duration kPause = std::chrono::milliseconds(10);
    /// There is no load while hints are at least so far apart on average, and a pause would only
    /// delay what each of them announces.
    static constexpr Duration kLonelyGap = std::chrono::milliseconds(2);

 private:
    void hear(SteadyPoint until);
    void obey(const std::vector<std::string>& messages);
    /// When the next message may go out, after one with so many hints.
    SteadyPoint next_message(SteadyPoint now, std::int64_t hints);
    void fall_back(const std::exception& error);

    Environment& environment_;
    Committer& committer_;
    ClaimSignals& signals_;
    HintBox& box_;
    const std::unique_ptr<Hints> hints_;
    SteadyPoint tell_at_{};
    SteadyPoint paid_until_{};  // when all hints that were sent will have had their gap
    SteadyPoint hear_at_{};
    Duration retry_pause_{};
    bool has_reported_ = false;  // that it hears nothing
};

}  // namespace ebb::engine
