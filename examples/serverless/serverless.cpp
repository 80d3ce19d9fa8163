// One process per step, as a function platform would run it: it loads the snapshot, runs one step,
// saves the snapshot unless another process has saved it in the meantime, and ends. The whole state
// is in one row of a table, which can be in the application's own database.
//
//   serverless orders.db start order-17 '{"cents": 4200}'   a new order of 42.00
//   serverless orders.db tick order-17           the next step, if one is due
//   serverless orders.db send order-17 '{"by": "ann"}'   the approval that it waits for
//   serverless orders.db due                     the orders that a tick would run
//
// Instead of `orders.db`, you can give a PostgreSQL URL: postgresql://...
//
// With an installed Ebb (see ../README.md for CMake):
//
// c++ -std=c++20 serverless.cpp -o serverless $(pkg-config --cflags --libs ebb-sqlite ebb-postgres)
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <ebb/ebb.h>

namespace {

using ebb::stateless::Engine;
using ebb::stateless::Snapshot;
using ebb::stateless::SnapshotStore;
using ebb::stateless::SnapshotStorePtr;
using ebb::stateless::StoredRun;
using ebb::stateless::StoredRunOptions;

constexpr ebb::Duration kRetryAfter = std::chrono::milliseconds(200);
constexpr ebb::Duration kKeepFinished = std::chrono::hours(24 * 30);

ebb::Definition order_workflow() {
    ebb::WorkflowBuilder builder("order");
    builder.step("reserve").compensate("release");
    builder.step("charge").compensate("refund").max_attempts(3).backoff(
        {.strategy = ebb::Backoff::Strategy::Fixed, .initial = kRetryAfter, .jitter = 0}
    );
    builder.signal("approval");
    builder.step("ship").max_attempts(1);
    return builder.build();
}

ebb::HandlerRegistry order_handlers() {
    ebb::HandlerRegistry handlers;
    for (const char* name : {"reserve", "release", "refund"}) {
        handlers.add(name, [name = std::string(name)](const ebb::Json& input) {
            std::printf("%s\n", name.c_str());
            return input;
        });
    }
    handlers.add("charge", [](const ebb::Json& order, const ebb::StepContext& step) {
        if (step.attempt == 1) throw std::runtime_error("the bank does not answer");
        const int cents = order.at("cents").get<int>();
        std::printf("charge %d under the key %s\n", cents, step.idempotency_key.c_str());
        return order;
    });
    handlers.add("ship", [](const ebb::Json& approval) {
        if (approval.value("to", "") == "nowhere") {
            throw ebb::PermanentError("there is no such address");
        }
        std::printf("ship\n");
        return approval;
    });
    return handlers;
}

SnapshotStorePtr open_store(const std::string& place) {
    if (place.starts_with("postgres")) {
        return ebb::stateless::open_postgres_snapshot_store({.url = place});
    }
    return ebb::stateless::open_sqlite_snapshot_store({.path = place});
}

void tell(const StoredRun& run) {
    if (run.kind != StoredRun::Kind::Saved) {
        std::printf("%s\n", run.sentence().c_str());
        return;
    }
    const std::string node = run.snapshot->current_node();
    std::printf(
        "%s: version %lld, %s%s%s\n",
        run.id.c_str(),
        static_cast<long long>(run.snapshot->version()),
        std::string(to_string(run.snapshot->status())).c_str(),
        node.empty() ? "" : " at ",
        node.c_str()
    );
}

/// The next step. If another process has run it in the meantime, there is nothing left to do.
StoredRun tick(SnapshotStore& store, const Engine& engine, const std::string& id) {
    //! [tick]
    StoredRunOptions options{.by = "process " + std::to_string(getpid())};
    options.execute.step_limit = 1;  // and this process ends
    options.keep_finished_for = kKeepFinished;
    return run_stored(store, engine, id, options);
    //! [tick]
}

/// Inputs from outside must not get lost: they are applied to the snapshot of a faster process.
StoredRun send(
    SnapshotStore& store, const Engine& engine, const std::string& id, const std::string& payload
) {
    //! [send]
    return change_stored(store, engine, id, [&](Snapshot snapshot) {
        return engine.signal(std::move(snapshot), "approval", ebb::Payload::text(payload));
    });
    //! [send]
}

int run(int count, char** values) {
    if (count < 3) throw std::runtime_error("use: serverless DB start|tick|send|due [ID] [JSON]");
    const std::string verb = values[2];
    const std::string id = count > 3 ? values[3] : "";
    const std::string argument = count > 4 ? values[4] : "null";

    const ebb::HandlerRegistry handlers = order_handlers();
    Engine engine(handlers);
    engine.add(order_workflow());
    const SnapshotStorePtr store = open_store(values[1]);

    if (verb == "start") {
        const StoredRun run = start_stored(*store, engine, "order", argument, {.workflow_id = id});
        const bool is_new = run.kind == StoredRun::Kind::Saved;
        std::printf("%s: %s\n", id.c_str(), is_new ? "started" : "was started before");
    } else if (verb == "send") {
        tell(send(*store, engine, id, argument));
    } else if (verb == "due") {
        for (const auto& info : store->due()) std::printf("%s\n", info.id.c_str());
    } else {
        tell(tick(*store, engine, id));
    }
    return 0;
}

}  // namespace

int main(int count, char** values) {
    try {
        return run(count, values);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "serverless: %s\n", error.what());
        return 1;
    }
}
