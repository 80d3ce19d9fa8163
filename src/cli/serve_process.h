#pragma once

#include <string>
#include <vector>

#include "cli/definition_file.h"
#include "cli/serve_options.h"
#include "cli/serve_stores.h"
#include "cli/session.h"

namespace ebb::cli {

class Demo;
class WorkerLog;

struct ServeParts {
    WorkerLog& log;
    Demo* demo = nullptr;  ///< null unless it is asked for
    ServeStores stores;
};

/// Serves the API and the web UI, and runs due tasks, until a signal stops it. `url`: of the
/// database; `files`: of the command line. Returns the exit code.
int serve_until_signal(
    Session& session,
    const ServeOptions& options,
    const std::string& url,
    const std::vector<DefinitionFile>& files,
    ServeParts parts
);

}  // namespace ebb::cli
