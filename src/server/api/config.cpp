// The settings of the program that serves, and where each comes from.

#include "server/api/plain_route.h"
#include "view/payload_json.h"

namespace ebb::server {

namespace {

using view::Json;

Json setting_json(const SettingReport& setting) {
    return {
        {"key", setting.key},
        {"value", view::text_json(setting.value)},
        {"origin", setting.origin},
        {"place", view::text_json(setting.place)},
        {"about", setting.about},
        {"is_live", setting.is_live},
        {"needs_restart", setting.needs_restart},
    };
}

http::Response get_config(Service& service, Call& call) {
    call.query.check_all_used();
    const ConfigReport report = service.config ? service.config() : ConfigReport();
    Json settings = Json::array();
    for (const SettingReport& setting : report.settings) settings.push_back(setting_json(setting));
    return json_response(
        200,
        Json{
            {"settings", std::move(settings)},
            {"loaded_at", view::time_json(report.loaded_at)},
            {"error", view::text_json(report.error)},
        }
    );
}

}  // namespace

void add_config_routes(Routes& routes, Service& service) {
    routes.push_back(plain_route(service, "GET", "/admin/config", "getConfig", "admin", get_config)
    );
}

}  // namespace ebb::server
