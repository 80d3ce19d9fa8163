#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace ebb::server {

/// A bundle of permissions.
enum class Role { Viewer, Approver, Operator, Developer, Admin, Worker, Starter };

std::string_view to_string(Role role);
std::optional<Role> parse_role(std::string_view text);

/// The permissions that routes need: `instances.read`, `queues.write`, ... Two are special: `any`
/// (every logged-in user) and `none` (no login is needed). No role has `act_as`: a grant gives it.
using Permission = std::string_view;

bool has_permission(Role role, Permission permission);
std::vector<Permission> permissions_of(Role role);

}  // namespace ebb::server
