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

bool Engine::Core::request_change(
    const InstanceId& id, Event event, std::optional<std::int64_t> expected_revision
) {
    const auto answer = request(id, std::move(event), expected_revision);
    return answer.verdict == Decision::Verdict::Changed;
}

bool Engine::Core::request_stop(
    const InstanceId& id, Event event, std::optional<std::int64_t> expected_revision
) {
    const auto answer = request(id, std::move(event), expected_revision);
    const bool has_changed = answer.verdict == Decision::Verdict::Changed;
    if (!answer.has_stopping_token) return has_changed;
    // Tasks that no worker holds are stopped here, so that the instance ends even if no worker is
    // alive. The holders of other tasks stop those.
    for (int round = 0; round < kStopRoundsMax && claimer.claim_stops(id) > 0; ++round) {
        committer.combine(engine::Committer::Role::Guest);
    }
    tell_others();
    return has_changed;
}

}  // namespace ebb
