#include <algorithm>

#include <ebb/label.h>

#include "server/auth/access.h"
#include "support/sha256.h"

namespace ebb::server {

namespace {

constexpr Permission kReadInstances = "instances.read";

bool is_for_all(Permission permission) {
    return permission == "any" || permission == "none";
}

template <class Fits>
bool has(const std::vector<Grant>& grants, Permission permission, Fits fits) {
    return std::any_of(grants.begin(), grants.end(), [&](const Grant& grant) {
        return grant.has(permission) && fits(grant);
    });
}

}  // namespace

std::string_view to_string(Principal::Kind kind) {
    static constexpr std::string_view kKinds[] = {
        "token", "session", "anonymous", "proxy", "oidc", "certificate"
    };
    return kKinds[static_cast<std::size_t>(kind)];
}

bool Principal::may(Permission permission) const {
    return is_for_all(permission) || has(grants, permission, [](const Grant& grant) {
               return grant.is_everywhere() || !grant.workflows.empty();
           });
}

bool Principal::may_everywhere(Permission permission) const {
    return is_for_all(permission) || has(grants, permission, [&](const Grant& grant) {
               return grant.is_everywhere() && !grant.is_limited_to_own(permission);
           });
}

bool Principal::may_with(Permission permission, const std::string& workflow) const {
    return is_for_all(permission) || has(grants, permission, [&](const Grant& grant) {
               return grant.has_workflow(workflow) && !grant.is_limited_to_own(permission);
           });
}

bool Principal::may_with_own(Permission permission, const std::string& workflow) const {
    return is_for_all(permission) || has(grants, permission, [&](const Grant& grant) {
               return grant.has_workflow(workflow);
           });
}

bool Principal::has_own() const {
    return !may_everywhere(kReadInstances) && has(grants, kReadInstances, [](const Grant& grant) {
        return grant.is_limited_to_own(kReadInstances);
    });
}

std::string Principal::owner() const {
    return name.size() <= LabelLimits::kTextBytesMax ? name : sha256_hex(name);
}

bool Principal::may_with_queue(Permission permission, const std::string& queue) const {
    return has(grants, permission, [&](const Grant& grant) { return grant.has_queue(queue); });
}

std::optional<std::vector<std::string>> Principal::decision_roles(const std::string& workflow
) const {
    std::vector<std::string> roles;
    for (const Grant& grant : grants) {
        if (!grant.has("decisions.decide") || !grant.has_workflow(workflow)) continue;
        if (grant.decision_roles.empty()) return std::nullopt;
        roles.insert(roles.end(), grant.decision_roles.begin(), grant.decision_roles.end());
    }
    std::sort(roles.begin(), roles.end());
    roles.erase(std::unique(roles.begin(), roles.end()), roles.end());
    return roles;
}

Role Principal::role() const {
    Role widest = Role::Viewer;
    std::size_t most = 0;
    for (const Grant& grant : grants) {
        const std::size_t count = permissions_of(grant.role).size();
        if (count <= most) continue;
        most = count;
        widest = grant.role;
    }
    return widest;
}

std::vector<Permission> Principal::permissions() const {
    std::vector<Permission> all;
    for (const Permission permission : permissions_of(Role::Admin)) {
        if (may(permission)) all.push_back(permission);
    }
    if (may("act_as")) all.emplace_back("act_as");
    return all;
}

}  // namespace ebb::server
