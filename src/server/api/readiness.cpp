#include "server/api/readiness.h"

#include <algorithm>
#include <chrono>

#include "server/api/service.h"

namespace ebb::server {

namespace {

double seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

}  // namespace

bool is_health(std::string_view path) {
    return path == "/livez" || path == "/readyz" || path == "/healthz";
}

bool is_verbose(std::string_view query) {
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view parameter = query.substr(0, end);
        if (parameter.substr(0, parameter.find('=')) == "verbose") return true;
        query.remove_prefix(std::min(end + 1, query.size()));
    }
    return false;
}

http::Response health_response(std::string_view trouble) {
    http::Response response{.status = trouble.empty() ? 200 : 503};
    response.body = std::string(trouble.empty() ? "ok" : trouble) + "\n";
    response.set("Content-Type", "text/plain; charset=utf-8");
    response.set("Cache-Control", "no-store");
    return response;
}

std::string trouble_of(const std::vector<ReadinessCheck>& checks) {
    const auto failed =
        std::find_if(checks.begin(), checks.end(), [](const auto& check) { return !check.is_ok; });
    return failed == checks.end() ? std::string() : failed->reason;
}

http::Response readiness_response(const std::vector<ReadinessCheck>& checks, bool shows_details) {
    using nlohmann::ordered_json;
    ordered_json items = ordered_json::array();
    bool is_ready = true;
    for (const ReadinessCheck& check : checks) {
        is_ready = is_ready && check.is_ok;
        const std::string& reason =
            shows_details && !check.detail.empty() ? check.detail : check.reason;
        items.push_back(
            {{"name", check.name},
             {"ok", check.is_ok},
             {"age_seconds", seconds(check.age)},
             {"latency_seconds", seconds(check.latency)},
             {"reason", reason.empty() ? ordered_json(nullptr) : ordered_json(reason)}}
        );
    }
    auto response = json_response(
        is_ready ? 200 : 503, ordered_json{{"ready", is_ready}, {"checks", std::move(items)}}
    );
    response.set("Cache-Control", "no-store");
    return response;
}

}  // namespace ebb::server
