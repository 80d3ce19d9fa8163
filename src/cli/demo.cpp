#include "cli/demo.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include <fmt/format.h>

#include <ebb/error.h>

#include "cli/definition_file.h"
#include "cli/demo_life.h"
#include "cli/open_store.h"

namespace ebb::cli {

namespace {

/// For so long instances start every few seconds.
constexpr Duration kLively = std::chrono::minutes(15);
/// More of one kind are not done at one time.
constexpr int kActsMax = 8;

/// Waits unless it is asked to stop. Returns false when it was.
bool rest(const std::stop_token& stop, Duration time) {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    changed.wait_for(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
}

StorePtr open_with_clock(const StoreUrl& url, const Clock& clock) {
    switch (url.kind) {
        case StoreUrl::Kind::Memory:
            return open_memory_store({.clock = &clock});
        case StoreUrl::Kind::Sqlite:
            // What is lost in a power failure can be made again.
            return open_sqlite_store(
                {.path = url.path,
                 .synchronous = SqliteOptions::Synchronous::Normal,
                 .clock = &clock}
            );
        case StoreUrl::Kind::Postgres:
            return open_postgres_store({.url = url.path, .clock = &clock});
    }
    throw Error(ErrorCode::Internal, "A kind of store was forgotten.");
}

/// Whether the store has the demo from an earlier start.
bool is_filled(Store& store, const std::string& url) {
    const HandlerRegistry none;
    Engine engine(store, none);
    const bool has_instances = !engine.list({.limit = 1}).empty();
    const auto known = engine.workflows();
    if (!has_instances && known.empty()) return false;
    for (const DemoWorkflow& workflow : demo_workflows()) {
        const Definition& newest = workflow.versions.back();
        const bool is_there = std::any_of(known.begin(), known.end(), [&](const auto& one) {
            return one.name == newest.name && one.version == newest.version;
        });
        if (is_there && *engine.definition(newest.name, newest.version) == newest) continue;
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "--demo fills an empty database, and {} already has workflows or instances. Give "
                "another --db, or none for a database in memory.",
                shown_url(url)
            )
        );
    }
    return has_instances;
}

/// Does nothing if the instance went on in the meantime, or the database is away.
template <typename Act>
void attempt(const Act& act) {
    try {
        act();
    } catch (const Error&) {
        // The next turn tries again.
    }
}

/// Of the instances that fit, the oldest ones that are more than `most`.
std::vector<InstanceId> beyond(Engine& engine, ListOptions options, int most) {
    options.limit = most + kActsMax;
    const auto rows = engine.list(options);
    std::vector<InstanceId> ids;
    for (std::size_t i = static_cast<std::size_t>(most); i < rows.size(); ++i) {
        ids.push_back(rows[i].id);
    }
    return ids;
}

/// People decide what has waited longest: always above the bound, and sometimes below it.
void decide_oldest(Engine& engine, DemoDice& dice) {
    const auto waiting = engine.decisions({.limit = Demo::kDecisionsMax + kActsMax});
    const int count = static_cast<int>(waiting.size());
    // Two more, because some decisions need two people.
    int acts = count > Demo::kDecisionsMax ? std::min(count, count - Demo::kDecisionsMax + 2) : 0;
    if (acts == 0 && count > Demo::kDecisionsMax / 2 && dice.is(20)) acts = 1;
    for (int i = 0; i < acts; ++i) {
        const AwaitedDecision& decision = waiting[static_cast<std::size_t>(i)];
        const bool is_fine = dice.is(85);
        const std::string role = decision.roles.empty() ? "" : decision.roles.front();
        // Perhaps this person has decided before, and another one does the next time.
        const auto finance = dice.pick<std::string>({"fred", "carla", "otto", "ines"});
        const PersonalDecision made{
            .verdict =
                is_fine ? PersonalDecision::Verdict::Confirm : PersonalDecision::Verdict::Reject,
            .node = decision.node,
            .by = role == "manager" ? std::string("mia") : finance,
            .role = role,
            .comment = is_fine ? "" : "The receipt is missing"
        };
        attempt([&] { engine.decide(decision.instance, made); });
    }
}

}  // namespace

Demo::Demo(const Clock& live, std::uint64_t seed)
    : live_(live), seed_(seed), clock_(live.now() - kPast, live) {}

StorePtr Demo::open(const std::string& text) {
    const StoreUrl url = parse_store_url(text);
    StorePtr store = open_with_clock(url, clock_);
    if (!is_filled(*store, text)) {
        DemoLife(*store, clock_, plans_, seed_).live(live_.now());
    }
    clock_.go_live();
    if (url.kind == StoreUrl::Kind::Memory) return store;
    store.reset();
    return open_store(text, OpenMode::MayCreate);
}

HandlerRegistry Demo::handlers() {
    HandlerRegistry registry;
    for (const DemoWorkflow& workflow : demo_workflows()) {
        for (const Definition& definition : workflow.versions) {
            for (const std::string& name : missing_handlers(definition, registry)) {
                if (name == "ship_abroad") continue;
                registry.add_raw(name, [this](const Payload&, const StepContext& step) {
                    const DemoPlans::Call call = plans_.next(step);
                    rest(step.stop, call.takes);
                    return outcome_of(call);
                });
            }
        }
    }
    return registry;
}

std::jthread Demo::begin(Engine& engine) {
    return std::jthread([this, &engine](const std::stop_token& stop) { go_on(stop, engine); });
}

void Demo::turn(Engine& engine, DemoDice& dice) {
    const std::string name = dice.is(75) ? "order" : dice.is(60) ? "expenses" : "shipment";
    // Keys of earlier starts are not used again.
    if (number_ == 0) number_ = dice.between(100'000, 900'000);
    const DemoStart start = demo_start(name, dice, ++number_);
    engine.start(name, start.input, {.key = start.key, .by = "shop"});
    decide_oldest(engine, dice);
    for (const InstanceId& id :
         beyond(engine, {.statuses = {InstanceStatus::DeadLetter}}, kDeadLettersMax)) {
        attempt([&] { engine.requeue(id, {.by = "ann"}); });
    }
    const ListOptions shipments{.statuses = {InstanceStatus::Running}, .workflow = "shipment"};
    for (const InstanceId& id : beyond(engine, shipments, kShipmentsMax)) {
        attempt([&] { engine.cancel(id, "ben", "Another carrier takes it"); });
    }
}

void Demo::go_on(const std::stop_token& stop, Engine& engine) {
    const TimePoint begin = live_.now();
    DemoDice dice(static_cast<std::uint64_t>(begin.time_since_epoch().count()));
    const auto pause = [&] {
        // Later it is calmer, so that a demo that is forgotten fills no disk.
        const bool is_lively = live_.now() - begin < kLively;
        return std::chrono::seconds(is_lively ? dice.between(2, 9) : dice.between(20, 60));
    };
    while (rest(stop, pause())) {
        try {
            turn(engine, dice);
        } catch (const Error&) {
            // The database is away: the next turn may come through.
        }
    }
}

}  // namespace ebb::cli
