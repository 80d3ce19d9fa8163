#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <ebb/engine.h>
#include <ebb/metrics.h>

#include "cli/serving.h"
#include "cli/worker_log.h"

namespace ebb::cli {

/// Runs the handlers whose names came after the server's own engine had begun, because a registry
/// is constant while its engine runs. There is one engine for all of them; when further names come,
/// another takes its place, and it ends when its calls have returned.
class LaterWorkers {
 public:
    /// All of it must outlive the workers.
    struct Parts {
        Session& session;
        Store& store;  ///< the engine's, before any policy
        const ExecPolicy& policy;
        WorkerLog& log;
        Metrics* metrics = nullptr;          ///< null = none
        std::shared_ptr<Observer> traces{};  ///< null = none
        const HandlerRegistry& known;        ///< those of the server's own engine
        std::filesystem::path directory{};   ///< from which relative paths are meant
        std::string id{};                    ///< of the server's own engine
        int threads = 0;
    };

    explicit LaterWorkers(Parts parts);
    ~LaterWorkers();
    LaterWorkers(const LaterWorkers&) = delete;
    LaterWorkers& operator=(const LaterWorkers&) = delete;

    /// From now on also runs the handlers of `file`. One caller at a time.
    void serve(const DefinitionFile& file);

    /// As Engine::drain, of all of them. Not at the same time as `serve`.
    bool drain(Duration limit, const std::stop_token& hurry = {});

 private:
    class Worker;

    bool has_new_names(const DefinitionFile& file) const;
    void replace();

    const Parts parts_;
    std::vector<DefinitionFile> files_;
    /// The last one works. Those before it have ended or will, and stay for their counters.
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<std::jthread> endings_;
};

}  // namespace ebb::cli
