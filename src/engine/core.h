#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <ebb/engine.h>

#include "engine/claimer.h"
#include "engine/committer.h"
#include "engine/environment.h"
#include "engine/executor.h"
#include "engine/herald.h"
#include "engine/keeper.h"
#include "engine/relay.h"
#include "engine/runner.h"
#include "engine/sweeper.h"
#include "engine/view.h"

namespace ebb {

namespace engine {
struct Beginning;
}

/// The engine's parts put together, and what its callers ask of them.
class Engine::Core {
 public:
    Core(Store& store, const HandlerRegistry& handlers, EngineOptions options);
    ~Core();
    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;

    engine::Environment environment;
    engine::ProgramCache programs{environment};
    engine::ReadyQueue ready;
    engine::Waiters waiters;
    engine::ClaimSignals signals;
    engine::HintBox hints;
    engine::Pace pace;
    engine::Watchdog watchdog;
    engine::Committer committer;
    engine::Executor executor;
    engine::Claimer claimer;
    engine::Keeper keeper;
    engine::Herald herald;
    engine::Sweeper sweeper;
    engine::Relay relay;
    engine::Runner runner;

    /// Of an engine of this process.
    static Core& of(Engine& engine) { return *engine.core_; }

    // starting.cpp
    Registration register_workflow(const Definition& definition);
    /// `keys`: one for each instance, or none at all.
    std::vector<StartedInstance> start_all(
        std::string_view workflow,
        std::span<const Payload> inputs,
        const StartOptions& options,
        std::span<const std::string> keys = {}
    );
    /// Starts one of Ebb's own workflows, which is registered. `id`: the one that a new instance
    /// gets; none = any.
    StartedInstance start_system(
        std::string_view workflow,
        const Payload& input,
        const StartOptions& options,
        const std::optional<InstanceId>& id = {}
    );
    /// Starts the delivery of each row, unless it was started before.
    void start_deliveries(std::span<const OutboxRow> rows);
    StartedInstance start_in(
        const Transaction& transaction,
        std::string_view workflow,
        const Payload& input,
        const StartOptions& options
    );

    // steering.cpp
    struct Asked {
        engine::LivePtr instance;  ///< as the caller has read it
        Event event;
        std::optional<std::int64_t> expected_revision{};  ///< refused if it has another one by then
    };

    /// Makes each event happen to its instance. Returns the answers in the same order.
    std::vector<engine::Reply::Answer> ask_all(std::vector<Asked> asked);
    /// Throws if the request was refused, or if it is unknown whether anything was written.
    static void check(const engine::Reply::Answer& answer);
    /// Ends the tasks that a request has stopped and that no worker holds.
    void end_stopped(const InstanceId& id);

    /// Loads the instance and makes `event` happen to it. Throws what it is refused for.
    engine::Reply::Answer request(
        const InstanceId& id, Event event, std::optional<std::int64_t> expected_revision = {}
    );
    /// The same. Returns whether anything has changed.
    bool request_change(
        const InstanceId& id, Event event, std::optional<std::int64_t> expected_revision
    );
    /// The same, and ends what it stops.
    bool request_stop(
        const InstanceId& id, Event event, std::optional<std::int64_t> expected_revision
    );

    // writing_in.cpp
    /// The same in a transaction of the application. Returns whether anything has changed.
    bool request_in(
        const Transaction& transaction,
        const InstanceId& id,
        Event event,
        std::optional<std::int64_t> expected_revision
    );

    // sending_in.cpp
    /// Leaves `event` in the inbox of the instance, in a transaction of the application.
    void send_in(
        const Transaction& transaction,
        const InstanceId& id,
        const Event& event,
        const RequestOptions& options
    );

    // queues.cpp
    /// Something may have become claimable of which no more is known.
    void wake_workers();
    void set_queue(std::string_view name, const QueueLimits& limits);
    std::vector<QueueView> queues();
    std::vector<WorkerView> workers();
    std::vector<UnservedTasks> unserved();
    /// The handlers of a workflow that neither this engine nor a living worker has. Nothing for an
    /// engine without handlers, which only starts and steers.
    std::vector<std::string> unserved_by_anyone(const Program& program);

    // queries.cpp
    std::shared_ptr<const Program> program(std::string_view workflow, std::optional<int> version);
    InstanceView show(const InstanceId& id, const engine::ShownPayload& shown = {});
    std::string why(const InstanceId& id, const engine::ShownPayload& shown = {});
    std::vector<TraceEntry> trace(const InstanceId& id, Seq after, int limit);
    std::vector<HistoryEvent> history(const InstanceId& id, Seq after, int limit);
    /// The row; throws InstanceNotFound.
    InstanceRow load(const InstanceId& id);

    // driving.cpp
    void run();

    void begin_drain() { environment.worker.is_draining = true; }

    bool drain(Duration limit, const std::stop_token& hurry = {});
    /// The last action of a worker, so that other workers need not wait for its lease to expire. If
    /// it still holds tasks, or never learned which tasks its name holds, they do wait: only then
    /// do they learn what may have been called. Waits for the committer first, at most `limit`.
    void sign_off(Duration limit);
    int poll();
    bool run_one();
    TimePoint next_due();
    Result wait(const InstanceId& id, Duration timeout);

 private:
    /// Stores them, and begins what can run here.
    std::vector<StartedInstance> launch(std::vector<engine::Beginning> beginnings);
    struct Snapshot;

    Snapshot read_snapshot(const InstanceId& id);
    std::string describe_evolution(const Snapshot& snapshot);
    /// The version of the rules that the instance began with.
    std::shared_ptr<const Program> first_version(
        const InstanceRow& row, const std::shared_ptr<const Program>& present
    );
    std::vector<engine::Service*> services();
    void check_may_poll() const;
    /// Throws Error if this thread is in a call of this engine's handler.
    void refuse_inside(std::string_view what) const;
    void check_may_wait(const InstanceId& id) const;
    void check_rights();
    void become_worker();
    int run_ready(Duration at_most);
    bool wait_until_idle(Duration limit, const std::stop_token& hurry = {});
    bool wait_for_committer(Duration limit);
    Duration last_wait() const;
    /// What has just been done, others learn at once: by this thread where there is no other.
    void tell_others();
    std::optional<Result> look(const InstanceId& id);
    int try_poll();

    Mutex poll_mutex_;   // one thread polls at a time
    Mutex drive_mutex_;  // run and drain exclude each other
    bool is_drained_ EBB_GUARDED_BY(drive_mutex_) = false;
    bool has_drained_in_time_ EBB_GUARDED_BY(drive_mutex_) = true;
};

}  // namespace ebb
