#include "cli/traces.h"

namespace ebb::cli {

#ifdef EBB_WITH_TELEMETRY

std::shared_ptr<Telemetry> traces_from_environment(
    Session& session, LogSink* log, bool has_messages
) {
    auto options = telemetry_from_environment([&](const std::string& name) {
        return session.streams().environment(name);
    });
    if (!options) return nullptr;
    options->log = log;
    options->has_messages = has_messages;
    return make_telemetry(*options);
}

#else

std::shared_ptr<Telemetry> traces_from_environment(
    Session& /*session*/, LogSink* /*log*/, bool /*has_messages*/
) {
    return nullptr;
}

#endif

}  // namespace ebb::cli
