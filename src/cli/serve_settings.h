#pragma once

#include <string>
#include <vector>

#include <ebb/metrics.h>
#include <ebb/server.h>

#include "cli/serve_options.h"
#include "plugins/webhooks/deliver.h"
#include "store/admin_store.h"
#include "store/store.h"

namespace ebb::cli {

/// Throws Error for settings that do not go together, and for files that cannot be read.
ServerOptions server_options(
    const ServeOptions& options,
    AdminStore* admin = nullptr,
    LogSink* log = nullptr,
    Metrics* metrics = nullptr
);

/// Throws Error for settings of deliveries that cannot be used.
webhooks::DeliveryOptions delivery_options(const ServeOptions& options, Store& store);
/// Throws the same.
void check_delivery_options(const ServeOptions& options);

/// Which settings of `fresh` differ from those that this process was started with, and are not
/// taken over while it runs.
std::vector<std::string> need_restart(const ServeOptions& now, const ServeOptions& fresh);

/// Which settings of `after` have another value than in `before`, and are taken over by a reload.
std::vector<std::string> changed_live_settings(
    const std::vector<ServeSetting>& before, const std::vector<ServeSetting>& after
);

/// The settings that are in force: of those that need a restart, the ones of `now`, of the others
/// those of `fresh`. Without secrets.
std::vector<SettingReport> setting_reports(
    const ServeOptions& now, const ServeOptions& fresh, const std::string& url
);

}  // namespace ebb::cli
