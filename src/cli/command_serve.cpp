// `ebb serve`: the API and the web UI over one database, until a signal stops it.

#ifdef EBB_WITH_SERVER

#include <fmt/format.h>

#include <ebb/server.h>

#include "cli/admin.h"
#include "cli/draining.h"
#include "cli/serve_options.h"
#include "cli/serving.h"
#include "cli/watched_handlers.h"
#include "cli/worker_log.h"
#include "store/store.h"

namespace ebb::cli {

namespace {

/// How often it looks whether another process has its name.
constexpr auto kLook = std::chrono::milliseconds(200);
/// How long requests that are under way may take when the server stops.
constexpr auto kRequestLimit = std::chrono::seconds(10);

/// Two handles of one database, so that no dashboard waits for a commit or the reverse. A database
/// in memory has one.
struct Stores {
    Stores(Session& session, const std::string& url)
        : store(session.streams().open_store(url, OpenMode::MayCreate)) {
        const bool is_memory = parse_store_url(url).kind == StoreUrl::Kind::Memory;
        if (!is_memory) own_reads = session.streams().open_store(url, OpenMode::MayCreate);
        reads = is_memory ? store.get() : own_reads.get();
        admin = open_admin_store(url);
    }

    StorePtr store;
    StorePtr own_reads;
    Store* reads = nullptr;
    std::unique_ptr<AdminStore> admin;
};

LogLevel level_of(Session& session, const ServeOptions& options) {
    if (session.options().is_quiet) return LogLevel::Warning;
    return options.is_verbose ? LogLevel::Debug : LogLevel::Info;
}

ServerOptions server_options(const ServeOptions& options, AdminStore& admin, LogSink& log) {
    ServerOptions server{
        .tls_certificate = options.tls_certificate,
        .tls_key = options.tls_key,
        .behind_proxy = options.behind_proxy,
        .allows_plaintext = options.is_plaintext_allowed,
        .needs_login = !options.has_no_login,
        .base_path = options.base_path,
        .allowed_hosts = options.allowed_hosts,
        .title = options.title,
        .has_worker = !options.has_no_worker,
        .admin = &admin,
        .log = &log,
    };
    if (!options.listen.empty()) server.listen = options.listen;
    return server;
}

class Serving {
 public:
    Serving(
        Session& session,
        const ServeOptions& options,
        const std::string& url,
        const std::vector<DefinitionFile>& files
    )
        : session_(session),
          options_(options),
          url_(url),
          log_(session, level_of(session, options)),
          stores_(session, url),
          policy_(session, files, true),
          known_handlers_(make_handlers(files)),
          handlers_(watch_handlers(
              known_handlers_,
              *session.streams().clock,
              [this](const CallStarted& call) { log_.write(call); }
          )),
          engine_(
              *stores_.store,
              handlers_,
              {.worker_id = options.id, .threads = options.threads, .log = &log_}
          ),
          server_(
              engine_, *stores_.store, *stores_.reads, server_options(options, *stores_.admin, log_)
          ) {
        engine_.add_observer(make_observer([this](const auto& instance, const auto& events) {
            log_.write(instance, events);
        }));
        for (const DefinitionFile& file : files) engine_.register_workflow(file.definition);
    }

    int go() {
        const auto caught = session_.streams().catch_signals(interrupts_);
        engine_.run();
        server_.start();
        greet();
        while (interrupts_.count() == 0 && !engine_.is_displaced()) interrupts_.wait(kLook);
        return stop();
    }

 private:
    HandlerRegistry make_handlers(const std::vector<DefinitionFile>& files) {
        if (options_.has_no_worker) return {};
        const std::vector<Served> served = served_workflows(*stores_.store, files);
        return handlers_of(*stores_.store, served, files, policy_);
    }

    void greet() {
        if (session_.options().is_json) {
            nlohmann::ordered_json json = {{"event", "serving"}, {"url", server_.url()}};
            json["addresses"] = server_.addresses();
            if (!options_.has_no_login)
                json["login"] = server_.login_link(session_.by(""), "admin");
            session_.print(json.dump() + "\n");
            return;
        }
        session_.print(fmt::format(
            "Ebb {} on {}  (store {}, worker {})\n",
            EBB_VERSION,
            server_.url(),
            shown_url(url_),
            options_.has_no_worker ? "off" : "on"
        ));
        if (options_.has_no_login) return;
        session_.print(fmt::format(
            "Log in: {}  (once, within 10 minutes)\n", server_.login_link(session_.by(""), "admin")
        ));
    }

    int stop() {
        server_.begin_drain();
        const bool has_answered_all = server_.drain(kRequestLimit);
        int heard = interrupts_.count();
        Draining draining(engine_, interrupts_, options_.drain_timeout);
        while (!draining.is_over()) {
            interrupts_.wait(std::chrono::hours(1));
            if (interrupts_.count() > heard) {
                heard = interrupts_.count();
                draining.hurry();
            }
        }
        const bool is_clean = draining.finish() && has_answered_all;
        if (engine_.is_displaced()) return kRefused;
        return is_clean ? kOk : kTimeout;
    }

    Session& session_;
    const ServeOptions& options_;
    const std::string url_;
    Interrupts interrupts_;
    WorkerLog log_;
    Stores stores_;
    ExecPolicy policy_;
    HandlerRegistry known_handlers_;
    HandlerRegistry handlers_;
    Engine engine_;
    Server server_;
};

}  // namespace

int run_server(Session& session, const ServeOptions& options) {
    std::vector<DefinitionFile> files;
    for (const std::string& path : options.files) {
        files.push_back(load_definition_file(path, session));
    }
    return Serving(session, options, served_url(session), files).go();
}

}  // namespace ebb::cli

#endif
