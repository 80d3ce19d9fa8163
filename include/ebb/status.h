#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include <ebb/json.h>

namespace ebb {

/// How an instance stands.
enum class InstanceStatus {
    Running,
    Paused,        ///< by an operator
    Compensating,  ///< it undoes what was done
    DeadLetter,    ///< it needs an operator
    Moved,  ///< it goes on elsewhere, from a snapshot: nothing happens here until it arrives again
    Completed,
    Failed,
    Cancelled,
    Aborted,
};

/// The snake_case name: `running`, `dead_letter`, ...
std::string_view to_string(InstanceStatus status);
/// The reverse. Empty when there is no such status.
std::optional<InstanceStatus> parse_status(std::string_view text);
/// Completed, Failed, Cancelled and Aborted never change any more.
bool is_terminal(InstanceStatus status);

/// Is this its name? For tests and scripts; code that runs compares with the enumerators.
inline bool operator==(InstanceStatus status, std::string_view name) {
    return to_string(status) == name;
}

std::ostream& operator<<(std::ostream& out, InstanceStatus status);

template <detail::JsonObject T>
void to_json(T& json, InstanceStatus status) {
    json = std::string(to_string(status));
}

}  // namespace ebb
