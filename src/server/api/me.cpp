#include "server/api/me.h"

#include "view/payload_json.h"

namespace ebb::server {

using view::Json;

namespace {

/// Empty = any role.
std::vector<std::string> decision_roles_of(const Principal& principal) {
    std::vector<std::string> roles;
    for (const Grant& grant : principal.grants) {
        if (!grant.has("decisions.decide")) continue;
        if (grant.decision_roles.empty()) return {};
        roles.insert(roles.end(), grant.decision_roles.begin(), grant.decision_roles.end());
    }
    return roles;
}

Json grants_json(const Principal& principal) {
    Json grants = Json::array();
    for (const Grant& grant : principal.grants) {
        grants.push_back({
            {"id", view::text_json(grant.id)},
            {"subject", view::text_json(grant.subject)},
            {"role", to_string(grant.role)},
            {"project", grant.project},
            {"workflows", grant.is_everywhere() ? Json::array({kEverything}) : Json(grant.workflows)
            },
            {"decision_roles", grant.decision_roles},
            {"handlers", grant.handlers},
            {"queues", grant.queues},
            {"act_as", grant.may_act_as},
        });
    }
    return grants;
}

}  // namespace

Json me_json(const Principal& principal) {
    return {
        {"principal", principal.name},
        {"display_name", view::text_json(principal.display_name)},
        {"kind", to_string(principal.kind)},
        {"role", to_string(principal.role())},
        {"decision_roles", decision_roles_of(principal)},
        {"permissions", principal.permissions()},
        {"groups", principal.groups},
        {"grants", grants_json(principal)},
        {"expires_at", view::time_json(principal.expires_at)},
    };
}

}  // namespace ebb::server
