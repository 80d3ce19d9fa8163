#include "server/auth/roles.h"

#include <algorithm>
#include <array>

namespace ebb::server {

namespace {

struct NamedRole {
    Role role;
    std::string_view name;
};

constexpr std::array kRoles = std::to_array<NamedRole>({
    {Role::Viewer, "viewer"},
    {Role::Approver, "approver"},
    {Role::Operator, "operator"},
    {Role::Developer, "developer"},
    {Role::Admin, "admin"},
    {Role::Worker, "worker"},
    {Role::Starter, "starter"},
});

constexpr unsigned bit(Role role) {
    return 1U << static_cast<unsigned>(role);
}

constexpr unsigned kViewer = bit(Role::Viewer);
constexpr unsigned kApprover = bit(Role::Approver);
constexpr unsigned kOperator = bit(Role::Operator);
constexpr unsigned kDeveloper = bit(Role::Developer);
constexpr unsigned kAdmin = bit(Role::Admin);
constexpr unsigned kWorker = bit(Role::Worker);
constexpr unsigned kStarter = bit(Role::Starter);
constexpr unsigned kReaders = kViewer | kApprover | kOperator | kDeveloper | kAdmin;
constexpr unsigned kSteerers = kOperator | kDeveloper | kAdmin;

struct RolesOf {
    Permission permission;
    unsigned roles;
};

constexpr std::array kGrants = std::to_array<RolesOf>({
    {"workflows.read", kReaders | kStarter},
    {"workflows.write", kDeveloper | kAdmin},
    {"instances.read", kReaders | kStarter},
    {"instances.start", kDeveloper | kAdmin | kStarter},
    {"instances.cancel", kSteerers},
    {"instances.pause", kSteerers},
    {"instances.requeue", kSteerers},
    {"instances.rerun", kSteerers | kStarter},
    {"bulk", kSteerers},
    {"instances.signal", kSteerers | kStarter},
    {"instances.write", kSteerers | kStarter},
    {"instances.move", kAdmin},
    {"payloads.read", kSteerers | kApprover | kStarter},
    {"payloads.sensitive", kAdmin | kStarter},
    {"decisions.read", kReaders},
    {"decisions.decide", kApprover | kAdmin},
    {"workers.read", kReaders},
    {"queues.write", kOperator | kAdmin},
    {"webhooks.write", kAdmin},
    {"hooks.write", kDeveloper | kAdmin},
    {"retention.write", kAdmin},
    {"purge", kAdmin},
    {"stats.read", kReaders},
    {"worker", kWorker | kAdmin},
    {"audit.read", kOperator | kDeveloper | kAdmin},
    {"ops", kAdmin},
    {"admin", kAdmin},
});

}  // namespace

std::string_view to_string(Role role) {
    for (const NamedRole& named : kRoles) {
        if (named.role == role) return named.name;
    }
    return {};
}

std::optional<Role> parse_role(std::string_view text) {
    for (const NamedRole& named : kRoles) {
        if (named.name == text) return named.role;
    }
    return std::nullopt;
}

bool has_permission(Role role, Permission permission) {
    if (permission == "any" || permission == "none") return true;
    const auto found = std::find_if(kGrants.begin(), kGrants.end(), [&](const RolesOf& grant) {
        return grant.permission == permission;
    });
    return found != kGrants.end() && (found->roles & bit(role)) != 0;
}

std::vector<Permission> permissions_of(Role role) {
    std::vector<Permission> permissions;
    for (const RolesOf& grant : kGrants) {
        if ((grant.roles & bit(role)) != 0) permissions.push_back(grant.permission);
    }
    return permissions;
}

}  // namespace ebb::server
