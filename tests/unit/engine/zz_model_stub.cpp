#include <map>
#include <mutex>

#include <nlohmann/json.hpp>

#include <ebb/definition.h>

namespace ebb {
static std::map<std::string, Definition> g;
static std::mutex m;

std::vector<Diagnostic> validate(const Definition&) {
    return {};
}

Json definition_to_json(const Definition& d) {
    std::lock_guard l(m);
    auto k = d.name + "#" + std::to_string(d.version);
    g[k] = d;
    return Json{{"k", k}};
}

Definition parse_definition_json(std::string_view t) {
    std::lock_guard l(m);
    return g.at(Json::parse(t)["k"].get<std::string>());
}

std::string definition_checksum(const Definition& d) {
    return d.name + std::to_string(d.steps.size());
}
}  // namespace ebb
#include "support/clock.h"
namespace ebb {
std::string format_duration(Duration d) { return std::to_string(d.count()) + "us"; }
std::optional<Duration> parse_duration(std::string_view t) { if (t.empty()) return {}; long n = std::stol(std::string(t)); char u = t.back(); return std::chrono::seconds(u == 'd' ? n * 86400 : u == 'h' ? n * 3600 : u == 'm' ? n * 60 : n); }
}
