#include "cli/traces.h"

namespace ebb::cli {

#ifdef EBB_WITH_TELEMETRY

std::shared_ptr<Telemetry> traces_from_environment(Session& session, LogSink* log) {
    auto options = telemetry_from_environment([&](const std::string& name) {
        return session.streams().environment(name);
    });
    if (!options) return nullptr;
    options->log = log;
    return make_telemetry(*options);
}

#else

std::shared_ptr<Telemetry> traces_from_environment(Session& /*session*/, LogSink* /*log*/) {
    return nullptr;
}

#endif

}  // namespace ebb::cli
