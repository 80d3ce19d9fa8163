#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"

namespace ebb::cli {

namespace {

/// The kinds of stores of this build.
constexpr auto kStores = std::to_array<std::string_view>({
    "memory",
    "sqlite",
#ifdef EBB_WITH_POSTGRES
    "postgresql",
#endif
});

}  // namespace

int show_version(Session& session) {
    if (session.options().is_json) {
        session.print_json({{"version", EBB_VERSION}, {"stores", kStores}});
        return kOk;
    }
    session.print(fmt::format("ebb {} (stores: {})\n", EBB_VERSION, fmt::join(kStores, ", ")));
    return kOk;
}

}  // namespace ebb::cli
