#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <ebb/json.h>
#include <ebb/print.h>

namespace ebb {

/// The status of an instance.
enum class InstanceStatus {
    Running,
    Paused,        ///< by an operator
    Compensating,  ///< it undoes its completed steps
    DeadLetter,    ///< it needs an operator
    Moved,  ///< it continues elsewhere, from a snapshot: nothing happens here until it returns
    Completed,
    Failed,
    Cancelled,
    Aborted,
};

/// The snake_case name: `running`, `dead_letter`, ...
std::string_view to_string(InstanceStatus status);
/// The reverse. Empty if there is no such status.
std::optional<InstanceStatus> parse_status(std::string_view text);
/// Completed, Failed, Cancelled and Aborted never change.
bool is_terminal(InstanceStatus status);

/// Whether this is its name. For tests and scripts; in other code, compare with the enumerators.
inline bool operator==(InstanceStatus status, std::string_view name) {
    return to_string(status) == name;
}

template <detail::JsonObject T>
void to_json(T& json, InstanceStatus status) {
    json = std::string(to_string(status));
}

}  // namespace ebb
