// What a task waits for in a queue that has limits.

#include <algorithm>

#include <fmt/format.h>

#include "engine/view.h"
#include "support/clock.h"

namespace ebb::engine {

std::string describe_queue_wait(const Facts& facts, TokenId token) {
    const auto found = std::find_if(facts.queues.begin(), facts.queues.end(), [&](const auto& use) {
        return use.first == token;
    });
    if (found == facts.queues.end()) return {};
    const QueueUse& use = found->second;
    const QueueLimits& limits = use.view.limits;
    if (limits.concurrency == 0) {
        return fmt::format(
            "an operator to open the queue \"{}\" (its concurrency is 0)", use.view.name
        );
    }
    if (limits.concurrency && use.view.slots >= *limits.concurrency) {
        return fmt::format(
            "a slot of queue \"{}\" ({} of {} in use)",
            use.view.name,
            use.view.slots,
            *limits.concurrency
        );
    }
    const Token* state = facts.state.find_token(token);
    const std::string key = state == nullptr ? std::string() : state->concurrency_key;
    if (limits.concurrency_per_key && !key.empty() &&
        use.key_slots >= *limits.concurrency_per_key) {
        return fmt::format(
            "a slot of the key \"{}\" in queue \"{}\" ({} of {} in use)",
            key,
            use.view.name,
            use.key_slots,
            *limits.concurrency_per_key
        );
    }
    if (limits.rate && use.view.next_start > facts.now) {
        return fmt::format(
            "the rate of queue \"{}\" ({} in {}), next at {}",
            use.view.name,
            limits.rate->starts,
            format_duration(limits.rate->period),
            format_time(use.view.next_start)
        );
    }
    return {};
}

}  // namespace ebb::engine
