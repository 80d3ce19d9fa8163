#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"

namespace ebb::cli {

int show_version(Session& session) {
    if (session.options().is_json) {
        session.print_json(
            {{"version", EBB_VERSION}, {"stores", {"memory", "sqlite", "postgresql"}}}
        );
        return kOk;
    }
    session.print(fmt::format("ebb {} (stores: memory, sqlite, postgresql)\n", EBB_VERSION));
    return kOk;
}

}  // namespace ebb::cli
