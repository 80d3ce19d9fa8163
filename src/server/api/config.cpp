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

/// A fault of the settings is none of the request.
ReloadReport reload(const Service& service) {
    if (!service.reload) {
        throw Problem("not_found", "The program that serves does not read its settings again.");
    }
    try {
        return service.reload();
    } catch (const ConfigError& error) {
        throw Problem("invalid_config", error.what()).with("place", error.place());
    } catch (const Error& error) {
        if (error.code() != ErrorCode::InvalidArgument) throw;
        throw Problem("invalid_config", error.what());
    }
}

http::Response reload_config(Service& service, Call& call) {
    call.query.check_all_used();
    const ReloadReport report = reload(service);
    return json_response(
        200,
        Json{
            {"changed", report.changed},
            {"applied", report.applied},
            {"removed", report.removed},
            {"needs_restart", report.needs_restart},
        }
    );
}

}  // namespace

void add_config_routes(Routes& routes, Service& service) {
    routes.push_back(plain_route(service, "GET", "/admin/config", "getConfig", "admin", get_config)
    );
    routes.push_back(
        {.method = "POST",
         .path = "/admin/reload",
         .operation = "reloadConfig",
         .permission = "admin",
         .handle = [&service](Call& call) { return reload_config(service, call); }}
    );
}

}  // namespace ebb::server
