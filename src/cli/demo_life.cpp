#include "cli/demo_life.h"

#include <algorithm>
#include <array>

#include <ebb/error.h>

#include "cli/definition_file.h"

namespace ebb::cli {

namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr int kInstances = 420;
/// From here on the second version of the orders is used.
constexpr Duration kFirstVersion = hours(24 * 17);
/// Since then no worker ships abroad.
constexpr Duration kWithoutCarriers = hours(2);
/// Nothing is planned after this, so that every call ends before the present.
constexpr Duration kLastMoment = minutes(2);
/// A wake-up at which nothing is due; more of them at one time would never end.
constexpr int kIdleWakesMax = 3;
constexpr const char* kCarrier = "ship_abroad";

TimePoint between(DemoDice& dice, TimePoint begin, TimePoint end) {
    const auto count = std::chrono::duration_cast<seconds>(end - begin).count();
    return begin +
           seconds(static_cast<std::int64_t>(dice.next() % static_cast<std::uint64_t>(count)));
}

const DemoWorkflow& choose(DemoDice& dice) {
    int at = dice.between(1, 100);
    for (const DemoWorkflow& workflow : demo_workflows()) {
        at -= workflow.share;
        if (at <= 0) return workflow;
    }
    return demo_workflows().front();
}

const DemoWorkflow& workflow_of(std::string_view name) {
    const auto& all = demo_workflows();
    return *std::find_if(all.begin(), all.end(), [&](const auto& one) {
        return one.name() == name;
    });
}

}  // namespace

DemoLife::DemoLife(Store& store, DemoClock& clock, DemoPlans& plans, std::uint64_t seed)
    : store_(store), clock_(clock), plans_(plans), dice_(seed) {}

void DemoLife::set_up(bool has_carriers) {
    engine_.reset();
    handlers_ = HandlerRegistry();
    for (const DemoWorkflow& workflow : demo_workflows()) {
        for (const Definition& definition : workflow.versions) {
            for (const std::string& name : missing_handlers(definition, handlers_)) {
                if (name == kCarrier && !has_carriers) continue;
                handlers_.add_raw(name, [this](const Payload&, const StepContext& step) {
                    const DemoPlans::Call call = plans_.next(step);
                    clock_.advance(call.takes);
                    return outcome_of(call);
                });
            }
        }
    }
    engine_ = std::make_unique<Engine>(
        store_, handlers_, EngineOptions{.worker_id = "demo-1", .threads = 1}
    );
}

void DemoLife::run_until(TimePoint end) {
    int idle = 0;
    while (idle < kIdleWakesMax) {
        const int calls = engine_->poll();
        const TimePoint due = engine_->next_due();
        if (due > end) break;
        idle = calls == 0 && due <= clock_.now() ? idle + 1 : 0;
        clock_.advance_to(due);
    }
    clock_.advance_to(end);
    engine_->poll();
}

void DemoLife::attempt(const Act& act) {
    try {
        act();
    } catch (const Error& error) {
        // The instance has failed or ended before, or comes there later: then nothing is decided.
        const std::array<ErrorCode, 3> passing{
            ErrorCode::InvalidState, ErrorCode::NotWaiting, ErrorCode::NotAllowed
        };
        if (std::find(passing.begin(), passing.end(), error.code()) == passing.end()) throw;
    }
}

void DemoLife::decide(const InstanceId& id, const std::string& node, const std::string& by) {
    const bool is_fine = dice_.is(85);
    attempt([&] {
        engine_->decide(
            id,
            {.verdict =
                 is_fine ? PersonalDecision::Verdict::Confirm : PersonalDecision::Verdict::Reject,
             .node = node,
             .by = by,
             .role = node == "manager" ? "manager" : "finance",
             .comment = is_fine ? "" : "The receipt is missing"}
        );
    });
}

void DemoLife::plan_people(
    const InstanceId& id, const std::string& workflow, const DemoPlan& plan
) {
    const TimePoint now = clock_.now();
    const auto later = [&](int least_minutes, int most_minutes) {
        return now + minutes(dice_.between(least_minutes, most_minutes));
    };
    if (workflow == "order") {
        at(later(10, 600), [this, id] { decide(id, "approve", "fred"); });
    } else if (workflow == "expenses") {
        at(later(20, 900), [this, id] { decide(id, "manager", "mia"); });
        at(later(1'000, 1'400), [this, id] { decide(id, "finance", "fred"); });
        at(later(1'500, 1'900), [this, id] { decide(id, "finance", "carla"); });
    } else if (workflow == "onboarding") {
        at(later(600, 4'000), [this, id] {
            attempt([&] { engine_->signal(id, "laptop_arrived", nlohmann::json{{"serial", "X1"}}); }
            );
        });
    } else if (workflow == "shipment") {
        at(later(60, 2'000), [this, id] {
            attempt([&] { engine_->signal(id, "customs_cleared", nlohmann::json{{"duty", 12}}); });
        });
    }
    if (plan.failure && dice_.is(45)) {
        at(later(60, 1'200), [this, id] { attempt([&] { engine_->requeue(id, {.by = "ann"}); }); });
    }
    // Expenses wait for hours, so that there is something to cancel.
    if (dice_.is(workflow == "expenses" ? 25 : 2)) {
        at(later(5, 300), [this, id] {
            attempt([&] { engine_->cancel(id, "ben", "The customer called it off"); });
        });
    }
}

void DemoLife::start(const DemoWorkflow& workflow, const DemoPlan& plan, bool is_open) {
    const DemoStart start = demo_start(workflow.name(), dice_, ++number_);
    const InstanceId id =
        engine_->start(workflow.name(), start.input, {.key = start.key, .by = "shop"}).id;
    plans_.set(id, plan);
    if (!is_open) plan_people(id, workflow.name(), plan);
}

void DemoLife::plan_starts(TimePoint present) {
    const TimePoint begin = clock_.now();
    for (int i = 0; i < kInstances; ++i) {
        const bool is_recent = dice_.is(35);
        const TimePoint from = is_recent ? present - hours(24) : begin + minutes(5);
        const DemoWorkflow& workflow = choose(dice_);
        const DemoPlan plan = DemoPlans::make(workflow, dice_);
        at(between(dice_, from, present - minutes(10)),
           [this, &workflow, plan] { start(workflow, plan, false); });
    }
}

/// What stands somewhere now, so that every state of an instance can be seen.
void DemoLife::plan_what_is_open(TimePoint present) {
    const auto open = [&](int count, const char* name, Duration oldest, const DemoPlan& plan) {
        for (int i = 0; i < count; ++i) {
            const DemoWorkflow& workflow = workflow_of(name);
            at(between(dice_, present - oldest, present - minutes(4)),
               [this, &workflow, plan] { start(workflow, plan, true); });
        }
    };
    open(7, "expenses", hours(60), {});
    open(4, "onboarding", hours(90), {});
    open(6, "shipment", minutes(100), {});
    const auto& orders = workflow_of("order").failures;
    open(2, "order", hours(5), {.failure = orders[2], .failures_left = 4, .has_bad_undo = true});
    open(3, "order", minutes(50), {.failure = orders[0], .failures_left = 1});
    for (const Duration age : {Duration(hours(30)), Duration(minutes(70))}) {
        at(present - age, [this] {
            const auto rows = engine_->list({.statuses = {InstanceStatus::Running}, .limit = 1});
            if (rows.empty()) return;
            attempt([&] {
                engine_->pause(rows.front().id, "ann", "The warehouse is being counted");
            });
        });
    }
    at(present - kWithoutCarriers, [this] { set_up(false); });
}

void DemoLife::live(TimePoint present) {
    const TimePoint begin = clock_.now();
    set_up(true);
    for (const DemoWorkflow& workflow : demo_workflows()) {
        engine_->register_workflow(workflow.versions.front());
        for (std::size_t i = 1; i < workflow.versions.size(); ++i) {
            at(begin + kFirstVersion,
               [this, &next = workflow.versions[i]] { engine_->register_workflow(next); });
        }
    }
    engine_->set_queue(
        "payments", {.concurrency = 4, .rate = QueueRate{.starts = 20, .period = seconds(1)}}
    );
    engine_->set_queue("mail", {.rate = QueueRate{.starts = 100, .period = minutes(1)}});
    engine_->set_queue("stock", {.concurrency = 16});
    engine_->set_retention(kOtherWorkflows, {.completed = Demo::kPast, .failed = Demo::kPast});
    plan_starts(present);
    plan_what_is_open(present);
    while (!acts_.empty() && acts_.begin()->first < present - kLastMoment) {
        run_until(acts_.begin()->first);
        const Act act = std::move(acts_.begin()->second);
        acts_.erase(acts_.begin());
        act();
    }
    run_until(present - kLastMoment);
    engine_->drain(Duration::zero());
    engine_.reset();
}

}  // namespace ebb::cli
