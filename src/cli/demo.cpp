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

void Demo::go_on(const std::stop_token& stop, Engine& engine) {
    DemoDice dice(static_cast<std::uint64_t>(live_.now().time_since_epoch().count()));
    // Keys of earlier starts are not used again.
    int number = static_cast<int>(dice.between(100'000, 900'000));
    while (rest(stop, std::chrono::seconds(dice.between(2, 9)))) {
        const std::string name = dice.is(75) ? "order" : dice.is(60) ? "expenses" : "shipment";
        const DemoStart start = demo_start(name, dice, ++number);
        try {
            engine.start(name, start.input, {.key = start.key, .by = "shop"});
        } catch (const Error&) {
            // The database is away: the next one may come through.
        }
    }
}

}  // namespace ebb::cli
