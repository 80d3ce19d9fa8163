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

std::vector<engine::Reply::Answer> Engine::Core::ask_all(std::vector<Asked> asked) {
    std::vector<engine::ReplyPtr> replies;
    replies.reserve(asked.size());
    for (Asked& each : asked) {
        replies.push_back(std::make_shared<engine::Reply>());
        committer.post(engine::item::Request{
            .event = std::move(each.event),
            .live = std::move(each.instance),
            .reply = replies.back(),
            .expected_revision = each.expected_revision
        });
    }
    committer.combine(engine::Committer::Role::Guest);
    std::vector<engine::Reply::Answer> answers;
    answers.reserve(replies.size());
    for (const engine::ReplyPtr& reply : replies) answers.push_back(reply->wait());
    tell_others();
    return answers;
}

void Engine::Core::check(const engine::Reply::Answer& answer) {
    if (answer.error) std::rethrow_exception(answer.error);
    if (answer.verdict == Decision::Verdict::Refused) throw_refusal(answer.refusal);
}

void Engine::Core::end_stopped(const InstanceId& id) {
    // The holders of other tasks stop those. These are stopped here, so that the instance ends even
    // if no worker is alive.
    for (int round = 0; round < kStopRoundsMax && claimer.claim_stops(id) > 0; ++round) {
        committer.combine(engine::Committer::Role::Guest);
    }
    tell_others();
}

engine::Reply::Answer Engine::Core::request(
    const InstanceId& id, Event event, std::optional<std::int64_t> expected_revision
) {
    std::vector<Asked> asked;
    asked.push_back({engine::make_live(load(id), programs), std::move(event), expected_revision});
    engine::Reply::Answer answer = std::move(ask_all(std::move(asked)).front());
    check(answer);
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
    if (answer.has_stopping_token) end_stopped(id);
    return answer.verdict == Decision::Verdict::Changed;
}

}  // namespace ebb
