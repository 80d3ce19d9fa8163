// The process of `ebb serve`, from its start until a signal stops it.

#ifdef EBB_WITH_SERVER

#include "cli/serve_process.h"

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include <ebb/metrics.h>
#include <ebb/server.h>

#include "cli/beating_store.h"
#include "cli/definition_folder.h"
#include "cli/demo.h"
#include "cli/draining.h"
#include "cli/exit_code.h"
#include "cli/folder_watch.h"
#include "cli/later_workers.h"
#include "cli/process_mark.h"
#include "cli/secret_key.h"
#include "cli/serve_settings.h"
#include "cli/served_config.h"
#include "cli/service_notice.h"
#include "cli/serving.h"
#include "cli/state_signal.h"
#include "cli/traces.h"
#include "cli/watched_handlers.h"
#include "cli/worker_log.h"
#include "engine/bulk.h"
#include "engine/webhook.h"
#include "plugins/webhooks/deliver.h"
#include "server/api/callback_links.h"
#include "server/auth/audit.h"
#include "server/auth/sealed_rows.h"
#include "store/store.h"

namespace ebb::cli {

namespace {

/// How often it looks whether another process has its name.
constexpr auto kLook = std::chrono::milliseconds(200);
/// How often the folder of definitions is read, even if nothing is heard of it.
constexpr auto kFolderScan = std::chrono::seconds(10);
/// How often old rows of the audit are removed.
constexpr auto kAuditPurge = std::chrono::hours(1);
/// A folder is read when nothing has changed in it for so long.
constexpr auto kFolderQuiet = std::chrono::milliseconds(200);
/// How long requests that are under way may take when the server stops.
constexpr auto kRequestLimit = std::chrono::seconds(10);
/// An engine that has sent no heartbeat for so long is stuck.
constexpr auto kStuckAfter = std::chrono::seconds(10);

/// Null if this build has none.
std::shared_ptr<Metrics> new_metrics() {
#ifdef EBB_WITH_METRICS
    return make_metrics();
#else
    return nullptr;
#endif
}

/// `GET /events 12.5s, POST /worker/poll 3s`: the oldest first.
std::string open_requests_text(const std::vector<Server::OpenRequest>& requests) {
    std::string text;
    for (const Server::OpenRequest& each : requests) {
        const auto age = std::chrono::floor<std::chrono::milliseconds>(each.age);
        if (!text.empty()) text += ", ";
        text += fmt::format("{} {} {}", each.method, each.route, format_duration(age));
    }
    return text;
}

class Serving {
 public:
    Serving(
        Session& session,
        const ServeOptions& options,
        const std::string& url,
        const std::vector<DefinitionFile>& files,
        WorkerLog& log,
        Demo* demo,
        ServeStores stores
    )
        : session_(session),
          options_(options),
          url_(url),
          log_(log),
          demo_(demo),
          box_(open_secret_box(session, {.key = options.key, .old_key = options.old_key})),
          stores_(std::move(stores)),
          folder_(new_folder()),
          files_(with_folder(files)),
          policy_(session, files_, options.may_exec),
          metrics_(new_metrics()),
          traces_(traces_from_environment(session, &log_, !options.hides_payloads)),
          measured_(metrics_ ? metrics_->measure(*stores_.store) : nullptr),
          worker_store_(measured_ ? *measured_ : *stores_.store, policy_),
          beating_store_(worker_store_, *session.streams().clock),
          known_handlers_(make_handlers()),
          handlers_(watch_handlers(
              known_handlers_,
              *session.streams().clock,
              [this](const CallStarted& call) { log_.write(call); }
          )),
          engine_(
              beating_store_,
              handlers_,
              {.worker_id = options.id.empty() ? process_worker_id() : options.id,
               .threads = options.threads,
               .log = &log_}
          ),
          later_workers_({
              .session = session,
              .store = measured_ ? *measured_ : *stores_.store,
              .policy = policy_,
              .log = log_,
              .metrics = metrics_.get(),
              .traces = traces_,
              .known = known_handlers_,
              .directory = directory(),
              .id = engine_.worker_id(),
              .threads = options.threads,
          }),
          config_({
              .session = session,
              .options = options,
              .url = url,
              .engine = engine_,
              .stores = stores_,
              .box = box_.get(),
              .log = log_,
          }),
          server_(engine_, *stores_.store, *stores_.reads, all_server_options()),
          notice_(session.streams().environment("NOTIFY_SOCKET")),
          watchdog_pause_(ServiceNotice::watchdog_pause(
              session.streams().environment("WATCHDOG_USEC"),
              session.streams().environment("WATCHDOG_PID")
          )) {
        worker_store_.guard(engine_);
        if (const int sealed = server::seal_rows(*stores_.store, *stores_.admin, box_.get())) {
            const LogField fields[] = {{"rows", sealed}};
            log_.write(LogLevel::Info, "secrets_encrypted", fields);
        }
        engine_.add_observer(make_observer([this](const auto& instance, const auto& events) {
            log_.write(instance, events);
        }));
        if (traces_) engine_.add_observer(traces_);
        tell_unreadable(engine_, served_);
        for (const DefinitionFile& file : files_) engine_.register_workflow(file.definition);
        config_.begin();
        if (metrics_) metrics_->add([this] { return own_metrics(); });
    }

    int go() {
        // A terminal that closes ends its commands. A service has no terminal; there the signal
        // requests a reload.
        if (!session_.streams().err.is_terminal) interrupts_.take_hangups_as_reloads();
        const auto caught = session_.streams().catch_signals(interrupts_);
        const StateSignal asked(interrupts_);
        if (!options_.has_no_worker) end_leases_of_dead_processes(*stores_.store);
        engine_.run();
        server_.start();
        greet();
        if (demo_ && !options_.has_no_worker) starter_ = demo_->begin(engine_);
        if (options_.audit_retention > Duration::zero()) {
            housekeeper_ = std::jthread([this](const auto& stop) { purge_audit(stop); });
        }
        if (folder_) follower_ = std::jthread([this](const auto& stop) { follow_folder(stop); });
        notice_.send(fmt::format("READY=1\nSTATUS=Serving {}", server_.url()));
        while (interrupts_.count() == 0 && !engine_.is_displaced()) {
            interrupts_.wait(kLook);
            if (interrupts_.take_reload()) {
                try {
                    reload();
                } catch (const Error&) {
                    // It is in the log.
                }
            }
            if (StateSignal::take()) log_state();
            feed_watchdog();
        }
        notice_.send("STOPPING=1");
        return stop();
    }

 private:
    std::unique_ptr<DefinitionFolder> new_folder() {
        if (options_.definitions.empty()) return nullptr;
        using Strictness = DefinitionFolder::Strictness;
        return std::make_unique<DefinitionFolder>(
            options_.definitions,
            options_.is_dev ? Strictness::Skipped : Strictness::Invalid,
            session_,
            log_
        );
    }

    std::vector<DefinitionFile> with_folder(std::vector<DefinitionFile> files) {
        if (!folder_) return files;
        // What the database has in other words must not be run in the words of the file.
        const HandlerRegistry none;
        Engine registrar(*stores_.store, none);
        for (const DefinitionFile& found : folder_->scan()) {
            folder_->put(found, [&](DefinitionFile& file) {
                take(registrar, file);
                files.push_back(file);
            });
        }
        return files;
    }

    /// Registers the definition. In development, what the database has in other words becomes the
    /// next version.
    void take(Engine& engine, DefinitionFile& file) {
        Definition& definition = file.definition;
        if (options_.is_dev) {
            const auto newest = stores_.store->find_workflow(definition.name, std::nullopt);
            if (newest) definition.version = std::max(definition.version, newest->version);
        }
        try {
            engine.register_workflow(definition);
        } catch (const Error& error) {
            if (!options_.is_dev || error.code() != ErrorCode::WorkflowConflict) throw;
            ++definition.version;
            engine.register_workflow(definition);
        }
    }

    /// From which the relative paths of workflows are meant that no file on the command line has.
    std::filesystem::path directory() const {
        return options_.definitions.empty() ? std::filesystem::current_path()
                                            : std::filesystem::absolute(options_.definitions);
    }

    /// With those of Ebb's own workflows, which every server runs.
    HandlerRegistry make_handlers() {
        HandlerRegistry handlers = users_handlers();
        webhooks::DeliveryOptions delivery = delivery_options(options_, *stores_.store);
        delivery.admin = stores_.admin.get();
        delivery.box = box_.get();
        // It is called only after the engine runs.
        delivery.labels = [this](const InstanceId& id) {
            const auto summary = engine_.find(id);
            return summary ? summary->labels : Labels();
        };
        if (stores_.admin) {
            const auto links =
                std::make_shared<server::CallbackLinks>(*stores_.store, *stores_.admin, box_.get());
            delivery.decision_link = [links, site = delivery.site](
                                         const InstanceId& id,
                                         const std::string& node,
                                         const std::string& by,
                                         TimePoint event
                                     ) {
                const std::string token =
                    links->make({.instance = id, .node = node, .by = by, .since = event});
                return token.empty() ? std::string() : site + server::callback_path(token);
            };
        }
        webhooks::add_deliver_handler(
            handlers, *stores_.store, *session_.streams().clock, delivery
        );
        engine::add_bulk_handler(handlers, *stores_.store, [this]() -> Engine& { return engine_; });
        return handlers;
    }

    HandlerRegistry users_handlers() {
        if (options_.has_no_worker) return {};
        if (demo_) return demo_->handlers();
        served_ = served_workflows(*stores_.store, files_, directory());
        report_refused(log_, take_refused(served_.all, policy_));
        return handlers_of(*stores_.store, served_.all, files_, policy_, directory());
    }

    ServerOptions all_server_options() {
        ServerOptions server = server_options(options_, stores_.admin.get(), &log_, metrics_.get());
        server.telemetry = traces_;
        server.box = box_.get();
        server.config = [this] { return config_.shown(); };
        server.reload = [this] { return reload(); };
        if (folder_) server.definition_files = [this] { return folder_->reports(); };
        return server;
    }

    /// For SIGHUP, and for the API.
    ReloadReport reload() {
        notice_.send("RELOADING=1");
        try {
            ReloadReport report = config_.reload(server_);
            notice_.send("READY=1");
            return report;
        } catch (const Error&) {
            notice_.send("READY=1");
            throw;
        }
    }

    /// Takes over what has changed in the folder. What the database does not take now is taken at
    /// the next look.
    void read_folder() {
        for (const DefinitionFile& file : folder_->scan()) {
            try {
                folder_->put(file, [&](DefinitionFile& taken) {
                    take(engine_, taken);
                    policy_.give(taken);
                    if (!options_.has_no_worker) later_workers_.serve(taken);
                });
            } catch (const Error& error) {
                const LogField fields[] = {{"file", file.path}, {"error", error.what()}};
                log_.write(LogLevel::Warning, "definition_delayed", fields);
            }
        }
    }

    void follow_folder(const std::stop_token& stop) {
        FolderWatch watch(options_.definitions);
        while (!stop.stop_requested()) {
            read_folder();
            watch.wait(kFolderScan, kFolderQuiet, stop);
        }
    }

    void purge_audit(const std::stop_token& stop) {
        std::mutex mutex;
        std::condition_variable_any nothing;
        std::unique_lock lock(mutex);
        do {
            try {
                server::purge_audit(
                    *stores_.admin,
                    *session_.streams().clock,
                    &log_,
                    options_.audit_retention,
                    "ebb serve"
                );
            } catch (const Error& error) {
                const LogField fields[] = {{"error", error.what()}};
                log_.write(LogLevel::Warning, "audit_purge_failed", fields);
            }
            nothing.wait_for(lock, stop, kAuditPurge, [] { return false; });
        } while (!stop.stop_requested());
    }

    std::vector<Metric> own_metrics() {
        Metric reload{
            .name = "ebb_config_last_reload_successful",
            .help = "Whether the last reload of the settings succeeded.",
            .values = {{.value = config_.is_good() ? 1.0 : 0.0}},
        };
        Metric definitions{
            .name = "ebb_definitions",
            .help = "Files of the definitions folder, by their outcome.",
        };
        std::map<std::string, int> states;
        if (folder_) {
            for (const char* state : {"registered", "invalid", "refused", "unreadable", "gone"}) {
                states[state] = 0;
            }
            for (const DefinitionFileReport& report : folder_->reports()) ++states[report.state];
        }
        for (const auto& [state, count] : states) {
            definitions.values.push_back({{{"state", state}}, static_cast<double>(count)});
        }
        return {std::move(reload), std::move(definitions)};
    }

    void greet() {
        if (session_.options().is_json) {
            nlohmann::ordered_json json = {{"event", "serving"}, {"url", server_.url()}};
            json["addresses"] = server_.addresses();
            const std::string login =
                prints_login() ? server_.login_link(session_.by(""), "admin") : std::string();
            if (!login.empty()) json["login"] = login;
            session_.print(json.dump() + "\n");
            return;
        }
        session_.print(fmt::format(
            "Ebb {} on {}  (store {}, worker {}{})\n",
            EBB_VERSION,
            server_.url(),
            shown_url(url_),
            options_.has_no_worker ? "off" : "on",
            options_.is_dev ? ", for development" : ""
        ));
        if (demo_) {
            const bool is_kept = parse_store_url(url_).kind != StoreUrl::Kind::Memory;
            session_.print(fmt::format(
                "The demo shows a month of sample data. {}\n",
                is_kept ? "The next `ebb serve --demo` with this database continues."
                        : "Data in memory ends with the demo."
            ));
        }
        if (!prints_login()) {
            if (!options_.has_no_login) session_.print("Log in: `ebb login-link` makes a link.\n");
            return;
        }
        const std::string link = server_.login_link(session_.by(""), "admin");
        session_.print(
            link.empty()
                ? "Log in: a browser cannot open a Unix socket; `ebb login-link --url URL` makes a "
                  "link to the proxy before it.\n"
                : fmt::format("Log in: {}  (once, within 10 minutes)\n", link)
        );
    }

    /// A link that logs in as an administrator is for a person, and not for a file of logs.
    bool prints_login() const {
        if (options_.has_no_login) return false;
        return options_.prints_login || session_.streams().out.is_terminal;
    }

    /// Notifies the service manager that this process makes progress, if it does: an engine or a
    /// server that is stuck is then restarted, but not because a database does not answer.
    void feed_watchdog() {
        if (watchdog_pause_ == Duration::zero()) return;
        const SteadyPoint now = session_.streams().clock->steady_now();
        if (now < next_feeding_ || !is_alive()) return;
        next_feeding_ = now + watchdog_pause_;
        notice_.send("WATCHDOG=1");
    }

    bool is_alive() const { return server_.is_alive() && beating_store_.is_beating(kStuckAfter); }

    /// For the day on which something is stuck: SIGUSR1.
    void log_state() {
        const EngineCounters engine = engine_.counters();
        std::vector<LogField> fields{
            {"alive", is_alive()},
            {"engine_beating", beating_store_.is_beating(kStuckAfter)},
            {"started", engine.started},
            {"finished", engine.finished},
            {"steps", engine.steps},
            {"attempts_failed", engine.attempts_failed},
            {"commits", engine.commits},
            {"conflicts", engine.conflicts},
            {"claims", engine.claims},
            {"tasks_claimed", engine.tasks_claimed},
            {"leases_lost", engine.leases_lost},
            {"store_errors", engine.store_errors},
            {"in_flight", engine.in_flight},
            {"stuck_handlers", engine.stuck_handlers},
        };
        const auto counters = server_.state();
        for (const auto& [name, value] : counters) fields.emplace_back(name, value);
        const std::string requests = open_requests_text(server_.open_requests());
        fields.emplace_back("open_requests", requests);
        log_.write(LogLevel::Info, "state", fields);
    }

    int stop() {
        starter_ = {};
        follower_ = {};
        housekeeper_ = {};
        server_.begin_drain();
        wait_for_balancers();
        const bool has_answered_all = server_.drain(kRequestLimit);
        int heard = interrupts_.count();
        Draining draining(engine_, interrupts_, config_.drain_timeout());
        bool is_later_clean = true;
        std::jthread later([&](const std::stop_token& hurry) {
            is_later_clean = later_workers_.drain(config_.drain_timeout(), hurry);
        });
        while (!draining.is_over()) {
            interrupts_.wait(std::chrono::hours(1));
            if (interrupts_.count() > heard) {
                heard = interrupts_.count();
                draining.hurry();
                later.request_stop();
            }
        }
        const bool is_front_clean = draining.finish();
        later.join();
        const bool is_clean = is_front_clean && is_later_clean && has_answered_all;
        if (engine_.is_displaced()) return kRefused;
        return is_clean ? kOk : kTimeout;
    }

    /// Load balancers see that /readyz is not ready any more, and send their requests elsewhere. A
    /// second signal ends the wait.
    void wait_for_balancers() {
        const Clock& clock = *session_.streams().clock;
        const SteadyPoint end = clock.steady_now() + config_.drain_delay();
        const int heard = interrupts_.count();
        while (interrupts_.count() == heard && clock.steady_now() < end) {
            interrupts_.wait(std::chrono::ceil<std::chrono::milliseconds>(
                std::min<Duration>(end - clock.steady_now(), std::chrono::hours(1))
            ));
            feed_watchdog();
        }
    }

    Session& session_;
    const ServeOptions& options_;
    const std::string url_;
    Interrupts interrupts_;
    WorkerLog& log_;
    Demo* const demo_;                      ///< null unless it is asked for
    std::shared_ptr<const SecretBox> box_;  ///< null: secrets are stored in clear text
    ServeStores stores_;
    std::unique_ptr<DefinitionFolder> folder_;  ///< null unless it is asked for
    const std::vector<DefinitionFile> files_;   ///< those of the command line first
    ExecPolicy policy_;
    std::shared_ptr<Metrics> metrics_;   ///< null if this build has none
    std::shared_ptr<Telemetry> traces_;  ///< null if nothing asks for them
    StorePtr measured_;
    GuardedStore worker_store_;
    BeatingStore beating_store_;
    ServedWorkflows served_;
    HandlerRegistry known_handlers_;
    HandlerRegistry handlers_;
    Engine engine_;
    LaterWorkers later_workers_;
    ServedConfig config_;
    Server server_;
    ServiceNotice notice_;
    const Duration watchdog_pause_;  ///< zero: the service manager has no watchdog
    SteadyPoint next_feeding_{};
    std::jthread starter_;      ///< of the demo
    std::jthread follower_;     ///< reads the folder of definitions
    std::jthread housekeeper_;  ///< of the audit
};

}  // namespace

int serve_until_signal(
    Session& session,
    const ServeOptions& options,
    const std::string& url,
    const std::vector<DefinitionFile>& files,
    ServeParts parts
) {
    return Serving(session, options, url, files, parts.log, parts.demo, std::move(parts.stores))
        .go();
}

}  // namespace ebb::cli

#endif
