#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <ebb/engine.h>
#include <ebb/id.h>
#include <ebb/json.h>

#include "store/store.h"

// Starting the work of an instance again, as a new instance.

namespace ebb::engine {

struct RerunRequest {
    std::optional<Payload> input{};  ///< absent = that of the old instance
    std::optional<int> version{};    ///< absent = the newest: the old one may be what failed
    std::string key{};               ///< of the new instance; the old key stays with the old one
    std::string by{};
};

/// The label of an instance that a rerun has started: the id of the old instance, as a text.
inline constexpr std::string_view kRerunOfLabel = "ebb.rerun_of";

/// Starts the work of `old` again: an instance of its workflow with its input, its labels and its
/// priority, and with kRerunOfLabel. `old` stays as it is. Throws Error as Engine::start, and as
/// check_rerun for one instance.
StartedInstance rerun(
    Engine& engine, Store& store, const InstanceRow& old, const RerunRequest& request
);

/// The start key of the instance that a rerun of many makes of `old`: `rerun:ID`. With it, the work
/// of an instance starts again once, however often reruns are repeated.
std::string rerun_key(const InstanceId& old);
inline constexpr std::string_view kRerunKey = "rerun:";

/// How the instances of a rerun were named.
enum class RerunScope { One, Many };

/// Throws InvalidState if the work of an instance of this status does not start again: it must have
/// ended. A rerun of many also leaves alone what has ended with success, so that a filter that
/// matches too much repeats no work that is done.
void check_rerun(InstanceStatus status, RerunScope scope);

}  // namespace ebb::engine
