#include "cli/demo_plans.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include <ebb/handler.h>

namespace ebb::cli {

namespace {

constexpr int kFailPercent = 16;
constexpr int kRetryPercent = 12;

const DemoFailure& choose(const std::vector<DemoFailure>& failures, DemoDice& dice) {
    int total = 0;
    for (const DemoFailure& failure : failures) total += failure.weight;
    int at = dice.between(1, total);
    for (const DemoFailure& failure : failures) {
        at -= failure.weight;
        if (at <= 0) return failure;
    }
    return failures.back();
}

std::uint64_t hash_of(const std::string& text) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return hash;
}

const DemoWorkflow* find_workflow(const std::string& name) {
    const auto& all = demo_workflows();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name() == name; });
    return found == all.end() ? nullptr : &*found;
}

}  // namespace

DemoPlan DemoPlans::make(const DemoWorkflow& workflow, DemoDice& dice) {
    DemoPlan plan{.slowness = dice.is(10) ? 6 : 1, .seed = dice.next()};
    const int chance = dice.between(1, 100);
    if (chance > kFailPercent + kRetryPercent) return plan;
    plan.failure = choose(workflow.failures, dice);
    plan.failures_left = plan.failure->is_permanent ? 1 : 4;
    if (chance <= kFailPercent) return plan;
    // This one is repaired by a retry.
    plan.failure->is_permanent = false;
    plan.failures_left = 1;
    return plan;
}

void DemoPlans::set(const InstanceId& id, DemoPlan plan) {
    const Lock lock(mutex_);
    plans_.insert_or_assign(id, std::move(plan));
}

DemoPlans::Call DemoPlans::next(const StepContext& step) {
    const Lock lock(mutex_);
    auto found = plans_.find(step.instance);
    if (found == plans_.end()) {
        // Without its plan an instance only makes another one when it is called again.
        if (plans_.size() >= kPlansMax) plans_.erase(plans_.begin());
        DemoDice dice(hash_of(step.instance.to_string()));
        const DemoWorkflow* workflow = find_workflow(step.workflow);
        DemoPlan plan = workflow == nullptr ? DemoPlan{} : make(*workflow, dice);
        found = plans_.emplace(step.instance, std::move(plan)).first;
    }
    DemoPlan& plan = found->second;
    DemoDice dice(plan.seed ^ hash_of(fmt::format("{} {}", step.handler, step.attempt)));
    const int usual = step.handler == "render" ? 20'000 : step.handler == "charge" ? 900 : 250;
    Call call{
        .takes = std::chrono::milliseconds(plan.slowness * dice.between(usual / 2, 2 * usual)),
        .reference = fmt::format("{}-{:06x}", step.handler, dice.next() & 0xffffffU),
    };
    if (step.compensates) {
        if (!plan.has_bad_undo) return call;
        plan.has_bad_undo = false;
        call.failure =
            DemoFailure{step.handler, "http_409", "The payment was already settled", true};
        return call;
    }
    if (!plan.failure || plan.failure->handler != step.handler || plan.failures_left == 0) {
        return call;
    }
    --plan.failures_left;
    call.failure = plan.failure;
    return call;
}

Payload outcome_of(const DemoPlans::Call& call) {
    if (!call.failure) return Payload::of(nlohmann::json{{"reference", call.reference}});
    throw HandlerFailure(
        call.failure->message,
        {.code = call.failure->code,
         .is_permanent = call.failure->is_permanent,
         .retry_after = {},
         .details = {}}
    );
}

}  // namespace ebb::cli
