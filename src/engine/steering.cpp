// What people and other programs ask of an instance.

#include <algorithm>
#include <utility>

#include "call/refusal.h"
#include "engine/core.h"

namespace ebb {

namespace {

/// Stopped tokens of one instance are claimed in batches; more rounds than this are not needed.
constexpr int kStopRoundsMax = 1'000;

}  // namespace

engine::Reply::Answer Engine::Core::request(
    const InstanceId& id, Event event, std::optional<std::int64_t> expected_revision
) {
    const auto reply = std::make_shared<engine::Reply>();
    committer.post(engine::item::Request{
        std::move(event), engine::make_live(load(id), programs), reply, expected_revision
    });
    committer.combine(engine::Committer::Role::Guest);
    engine::Reply::Answer answer = reply->wait();
    tell_others();
    if (answer.error) std::rethrow_exception(answer.error);
    if (answer.verdict == Decision::Verdict::Refused) throw_refusal(answer.refusal);
    return answer;
}

void Engine::Core::request_stop(
    const InstanceId& id, Event event, std::optional<std::int64_t> expected_revision
) {
    if (!request(id, std::move(event), expected_revision).has_stopping_token) return;
    // What no worker holds is stopped here, so that the instance comes to its end even where no
    // worker lives; the rest is its holders' to stop.
    for (int round = 0; round < kStopRoundsMax && claimer.claim_stops(id) > 0; ++round) {
        committer.combine(engine::Committer::Role::Guest);
    }
    tell_others();
}

}  // namespace ebb
