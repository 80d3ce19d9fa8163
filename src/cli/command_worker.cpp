// `ebb worker`: runs what is due until a signal stops it.

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/draining.h"
#include "cli/process_mark.h"
#include "cli/serving.h"
#include "cli/traces.h"
#include "cli/watched_handlers.h"
#include "cli/worker_log.h"
#include "store/store.h"

namespace ebb::cli {

namespace {

/// How often the worker checks whether another process has its name.
constexpr auto kLook = std::chrono::milliseconds(200);

LogLevel level_of(Session& session, const WorkerOptions& options) {
    if (session.options().is_quiet) return LogLevel::Warning;
    return options.is_verbose ? LogLevel::Debug : LogLevel::Info;
}

std::vector<DefinitionFile> load_files(Session& session, const WorkerOptions& options) {
    std::vector<DefinitionFile> files;
    for (const std::string& path : options.files) {
        files.push_back(load_definition_file(path, session));
    }
    return files;
}

class Worker {
 public:
    Worker(
        Session& session,
        const WorkerOptions& options,
        const std::vector<Served>& served,
        const std::vector<DefinitionFile>& files,
        const ExecPolicy& policy
    )
        : options_(options),
          streams_(session.streams()),
          any_store_(session.any_store()),
          log_(session, level_of(session, options)),
          store_(session.any_store(), policy),
          known_handlers_(handlers_of(session.any_store(), served, files, policy)),
          handlers_(watch_handlers(
              known_handlers_,
              *streams_.clock,
              [this](const CallStarted& call) { log_.write(call); }
          )),
          engine_(
              store_,
              handlers_,
              {.worker_id = options.id.empty() ? process_worker_id() : options.id,
               .threads = options.threads,
               .queues = options.queues,
               .lease = options.lease,
               .stop_grace = options.stop_grace,
               .log = &log_}
          ) {
        store_.guard(engine_);
        engine_.add_observer(make_observer([this](
                                               const InstanceSummary& instance, const auto& events
                                           ) { log_.write(instance, events); }));
        if (auto traces = traces_from_environment(session, &log_, true)) {
            engine_.add_observer(std::move(traces));
        }
    }

    Engine& engine() { return engine_; }

    void report_refused(const std::vector<RefusedWorkflow>& refused) {
        cli::report_refused(log_, refused);
    }

    int go() {
        const auto caught = streams_.catch_signals(interrupts_);
        say("worker_started",
            {{"worker", engine_.worker_id()},
             {"handlers", fmt::format("{}", fmt::join(handlers_.names(), ","))}});
        end_leases_of_dead_processes(any_store_);
        return options_.is_once ? go_once() : go_on();
    }

 private:
    void say(std::string_view event, std::initializer_list<LogField> fields) {
        if (log_.is_enabled(LogLevel::Info)) {
            log_.write(LogLevel::Info, event, std::span(fields.begin(), fields.size()));
        }
    }

    int go_on() {
        engine_.run();
        while (interrupts_.count() == 0 && !engine_.is_displaced()) interrupts_.wait(kLook);
        const int code = drain();
        // To a supervisor this looks like a crash: the other process runs the tasks that this one
        // held.
        return engine_.is_displaced() ? kRefused : code;
    }

    /// The work runs in its own thread, so that this one can listen to signals.
    int go_once() {
        std::atomic<bool> is_done{false};
        std::exception_ptr failure;
        std::jthread working([&] {
            try {
                work_off();
            } catch (...) {
                failure = std::current_exception();
            }
            is_done = true;
            interrupts_.notify();
        });
        while (!is_done && interrupts_.count() == 0) interrupts_.wait(std::chrono::hours(1));
        const int code = drain();
        working.join();
        if (failure) std::rethrow_exception(failure);
        return code;
    }

    /// Runs everything that is due. Throws if that cannot be determined.
    void work_off() {
        while (true) {
            const auto errors = engine_.counters().store_errors;
            if (engine_.poll() > 0) continue;
            if (engine_.counters().store_errors == errors) return;
            throw Error(
                ErrorCode::StoreUnavailable,
                "The database failed before all due work was done. Run the command again for "
                "the rest."
            );
        }
    }

    int drain() {
        const int signal = interrupts_.first_signal();
        int heard = interrupts_.count();
        engine_.begin_drain();
        if (signal != 0) say("draining", {{"signal", signal}});
        Draining draining(engine_, interrupts_, options_.drain_timeout);
        while (!draining.is_over()) {
            interrupts_.wait(std::chrono::hours(1));
            if (interrupts_.count() > heard) {
                heard = interrupts_.count();
                say("stopping_now", {});
                draining.hurry();
            }
        }
        const bool is_clean = draining.finish();
        const EngineCounters counters = engine_.counters();
        say("worker_stopped",
            {{"worker", engine_.worker_id()}, {"steps", counters.steps}, {"clean", is_clean}});
        return is_clean ? kOk : kTimeout;
    }

    const WorkerOptions& options_;
    CliStreams& streams_;
    Store& any_store_;
    Interrupts interrupts_;
    WorkerLog log_;
    GuardedStore store_;
    HandlerRegistry known_handlers_;
    HandlerRegistry handlers_;
    Engine engine_;
};

}  // namespace

int run_worker(Session& session, const WorkerOptions& options) {
    const auto files = load_files(session, options);
    Store& store = session.shared_store("worker", OpenMode::MayCreate);
    store.check_rights();
    const ExecPolicy policy(session, files, options.may_exec);
    ServedWorkflows served = served_workflows(store, files);
    const std::vector<RefusedWorkflow> refused = take_refused(served.all, policy);
    Worker worker(session, options, served.all, files, policy);
    worker.report_refused(refused);
    tell_unreadable(worker.engine(), served);
    for (const DefinitionFile& file : files) worker.engine().register_workflow(file.definition);
    return worker.go();
}

}  // namespace ebb::cli
