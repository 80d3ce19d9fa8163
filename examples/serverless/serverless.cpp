// One process per step, as a function platform would run it: load the snapshot, do one step, save
// it if nobody else has saved it meanwhile, end. The whole state lies in one row of the user's own
// table.
//
//   serverless orders.db start order-17 '{"cents": 4200}'   a new order of 42.00
//   serverless orders.db tick order-17           the next step, if one is due
//   serverless orders.db send order-17 '{"by": "ann"}'   the approval that it waits for
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <ebb/ebb.h>

#include "executions.h"

namespace {

constexpr ebb::Duration kRetryAfter = std::chrono::milliseconds(200);

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
            throw ebb::PermanentError("nobody ships to nowhere");
        }
        std::printf("ship\n");
        return approval;
    });
    return handlers;
}

/// False: another process was faster, and what was done here is to be discarded.
bool save(Executions& executions, const ebb::stateless::Snapshot& snapshot, std::int64_t read) {
    if (snapshot.version() == read) {
        std::printf("%s: nothing is due\n", snapshot.workflow_id().c_str());
        return true;
    }
    //! [save]
    const std::string status(to_string(snapshot.status()));
    if (!executions.update(
            snapshot.workflow_id(), read, snapshot.version(), status, snapshot.to_json()
        )) {
        std::printf("%s: another process was faster\n", snapshot.workflow_id().c_str());
        return false;
    }
    //! [save]
    const std::string node = snapshot.current_node();
    std::printf(
        "%s: version %lld, %s%s%s\n",
        snapshot.workflow_id().c_str(),
        static_cast<long long>(snapshot.version()),
        status.c_str(),
        node.empty() ? "" : " at ",
        node.c_str()
    );
    return true;
}

/// The next step. If another process has done it meanwhile, there is nothing more to do.
void tick(Executions& executions, const ebb::stateless::Engine& engine, const std::string& id) {
    const ebb::stateless::Snapshot snapshot = engine.parse(executions.load(id));
    save(executions, engine.step(snapshot), snapshot.version());
}

/// What comes from outside must not get lost: it is applied to what the faster process has left.
void send(
    Executions& executions,
    const ebb::stateless::Engine& engine,
    const std::string& id,
    const std::string& payload
) {
    bool is_saved = false;
    while (!is_saved) {
        const ebb::stateless::Snapshot snapshot = engine.parse(executions.load(id));
        const auto next = engine.signal(snapshot, "approval", payload);
        is_saved = save(executions, next, snapshot.version());
    }
}

int run(int count, char** values) {
    if (count < 4) throw std::runtime_error("use: serverless DB start|tick|send ID [AMOUNT|JSON]");
    const std::string verb = values[2];
    const std::string id = values[3];
    const std::string argument = count > 4 ? values[4] : "";

    const ebb::HandlerRegistry handlers = order_handlers();
    ebb::stateless::Engine engine(handlers);
    engine.add(order_workflow());
    Executions executions(values[1]);

    if (verb == "start") {
        const auto snapshot = engine.start("order", argument, {.workflow_id = id});
        const bool is_new = executions.insert(id, "active", snapshot.to_json());
        std::printf("%s: %s\n", id.c_str(), is_new ? "started" : "was started before");
        return 0;
    }
    if (verb == "send") {
        send(executions, engine, id, argument);
    } else {
        tick(executions, engine, id);
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
