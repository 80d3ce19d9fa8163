#pragma once

#include <atomic>
#include <string>
#include <vector>

#include <ebb/engine.h>
#include <ebb/server.h>

#include "cli/declared.h"
#include "cli/serve_options.h"
#include "cli/serve_stores.h"
#include "cli/session.h"
#include "cli/worker_log.h"
#include "support/secret_box.h"
#include "support/sync.h"

namespace ebb::cli {

/// The settings of a process of `ebb serve`, which are read again while it runs. After begin(), any
/// thread may reload and ask.
class ServedConfig {
 public:
    /// All of it must outlive this object.
    struct Parts {
        Session& session;
        const ServeOptions& options;  ///< with which the process was started
        std::string url;              ///< of the database
        Engine& engine;
        ServeStores& stores;
        const SecretBox* box = nullptr;  ///< null: secrets are stored in clear text
        WorkerLog& log;
    };

    explicit ServedConfig(Parts parts);

    /// Applies what the configuration file declares. Throws Error.
    void begin();
    /// Reads the settings again and takes over those that do not need a restart: all, or none if
    /// something is wrong with one. The log says which. Throws Error in that case.
    ReloadReport reload(Server& server);

    /// For administrators, without secrets.
    ConfigReport shown() const;

    /// Whether the last reload succeeded.
    bool is_good() const { return is_good_; }

    Duration drain_timeout() const { return drain_timeout_; }

    Duration drain_delay() const { return drain_delay_; }

 private:
    DeclaredChanges declare(const std::vector<Declared>& declared);
    ReloadReport apply(Server& server, const ServeOptions& fresh);
    void show(ConfigReport report);

    const Parts parts_;
    std::atomic<bool> is_good_{true};
    std::atomic<Duration> drain_timeout_;
    std::atomic<Duration> drain_delay_;
    Mutex reloading_;
    std::vector<ServeSetting> settings_ EBB_GUARDED_BY(reloading_);  ///< as they were read last
    mutable Mutex mutex_;
    ConfigReport report_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::cli
