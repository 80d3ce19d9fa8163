#include "cli/later_workers.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/watched_handlers.h"

namespace ebb::cli {

namespace {

/// How long the calls of a worker that was replaced may take.
constexpr Duration kEnding = std::chrono::hours(24);

}  // namespace

/// One engine with the handlers that the server's own engine lacks.
class LaterWorkers::Worker {
 public:
    Worker(const Parts& parts, const std::vector<DefinitionFile>& files, std::size_t number)
        : store_(parts.store, parts.policy),
          known_(lacking(parts, files)),
          handlers_(watch_handlers(
              known_,
              *parts.session.streams().clock,
              [&log = parts.log](const CallStarted& call) { log.write(call); }
          )),
          engine_(
              store_,
              handlers_,
              {.worker_id = fmt::format("{}-later-{}", parts.id, number),
               .threads = parts.threads,
               .log = &parts.log}
          ) {
        store_.guard(engine_);
        engine_.add_observer(make_observer([&log = parts.log](
                                               const InstanceSummary& instance, const auto& events
                                           ) { log.write(instance, events); }));
        if (parts.metrics != nullptr) parts.metrics->watch(engine_);
        if (parts.traces) engine_.add_observer(parts.traces);
    }

    Engine& engine() { return engine_; }

    bool has(const std::string& handler) const { return known_.find(handler) != nullptr; }

 private:
    static HandlerRegistry lacking(const Parts& parts, const std::vector<DefinitionFile>& files) {
        std::vector<Served> served;
        for (const DefinitionFile& file : files) {
            served.push_back({file.definition, file.directory()});
        }
        const HandlerRegistry all =
            handlers_of(parts.store, served, files, parts.policy, parts.directory);
        HandlerRegistry lacking;
        for (const std::string& name : all.names()) {
            if (parts.known.find(name) == nullptr) lacking.add_raw(name, *all.find(name));
        }
        return lacking;
    }

    GuardedStore store_;
    const HandlerRegistry known_;
    const HandlerRegistry handlers_;
    Engine engine_;
};

LaterWorkers::LaterWorkers(Parts parts) : parts_(std::move(parts)) {}

LaterWorkers::~LaterWorkers() {
    drain(Duration::zero());
}

bool LaterWorkers::has_new_names(const DefinitionFile& file) const {
    return std::any_of(
        file.definition.handlers.begin(),
        file.definition.handlers.end(),
        [&](const auto& entry) {
            const bool is_served = !workers_.empty() && workers_.back()->has(entry.first);
            return !is_served && parts_.known.find(entry.first) == nullptr;
        }
    );
}

void LaterWorkers::serve(const DefinitionFile& file) {
    files_.push_back(file);
    if (has_new_names(file)) replace();
}

void LaterWorkers::replace() {
    auto fresh = std::make_unique<Worker>(parts_, files_, workers_.size() + 1);
    fresh->engine().run();
    workers_.push_back(std::move(fresh));
    if (workers_.size() < 2) return;
    Engine& old = workers_[workers_.size() - 2]->engine();
    endings_.emplace_back([&old](const std::stop_token& stop) { old.drain(kEnding, stop); });
}

bool LaterWorkers::drain(Duration limit, const std::stop_token& hurry) {
    bool is_clean = true;
    if (!workers_.empty()) is_clean = workers_.back()->engine().drain(limit, hurry);
    // They have had longer; a request to stop ends their limit.
    endings_.clear();
    return is_clean;
}

}  // namespace ebb::cli
