#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include <ebb/error.h>
#include <ebb/telemetry.h>

namespace ebb {

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;
using Variable = std::function<std::optional<std::string>(const std::string&)>;

[[noreturn]] void refuse(const std::string& name, std::string_view why) {
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} {}", name, why));
}

/// An empty variable counts as not set, as the specification says.
std::optional<std::string> given(const Variable& variable, const std::string& name) {
    auto value = variable(name);
    return value && !value->empty() ? value : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// `%2C` is a comma.
std::string decoded(const std::string& name, std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain += text[i];
            continue;
        }
        unsigned byte = 0;
        const char* begin = text.data() + i + 1;
        const bool is_long_enough = i + 2 < text.size();
        if (!is_long_enough || std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2) {
            refuse(name, "has a % that two hexadecimal digits do not follow.");
        }
        plain += static_cast<char>(byte);
        i += 2;
    }
    return plain;
}

/// `a=1,b=2`, with percent-encoded values.
Pairs read_pairs(const Variable& variable, const std::string& name) {
    Pairs pairs;
    const auto value = given(variable, name);
    if (!value) return pairs;
    std::string_view rest = *value;
    while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        const std::string_view pair = trimmed(rest.substr(0, comma));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
        if (pair.empty()) continue;
        const std::size_t equals = pair.find('=');
        if (equals == std::string_view::npos || equals == 0) {
            refuse(name, "is not a list such as name=value,other=value.");
        }
        pairs.emplace_back(
            trimmed(pair.substr(0, equals)), decoded(name, trimmed(pair.substr(equals + 1)))
        );
    }
    return pairs;
}

/// The share of the instances; 0 = none.
double read_sampled(const Variable& variable) {
    const std::string sampler = given(variable, "OTEL_TRACES_SAMPLER").value_or("always_on");
    if (sampler == "always_on" || sampler == "parentbased_always_on") return 1;
    if (sampler == "always_off" || sampler == "parentbased_always_off") return 0;
    if (sampler != "traceidratio" && sampler != "parentbased_traceidratio") {
        refuse("OTEL_TRACES_SAMPLER", "is not always_on, always_off or traceidratio.");
    }
    const auto text = given(variable, "OTEL_TRACES_SAMPLER_ARG");
    if (!text) return 1;
    double ratio = 0;
    const char* end = text->data() + text->size();
    const auto read = std::from_chars(text->data(), end, ratio);
    if (read.ec != std::errc() || read.ptr != end || !(ratio >= 0 && ratio <= 1)) {
        refuse("OTEL_TRACES_SAMPLER_ARG", "is not a number from 0 to 1.");
    }
    return ratio;
}

void check_url(const char* name, std::string_view url) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (url.starts_with(scheme) && url.size() > scheme.size()) return;
    }
    refuse(name, "is not a URL that begins with http:// or https://.");
}

std::optional<std::string> read_url(const Variable& variable) {
    constexpr const char* kTraces = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    constexpr const char* kAll = "OTEL_EXPORTER_OTLP_ENDPOINT";
    auto url = given(variable, kTraces);
    if (url) check_url(kTraces, *url);
    if (url) return url;
    url = given(variable, kAll);
    if (!url) return std::nullopt;
    check_url(kAll, *url);
    if (!url->ends_with('/')) *url += '/';
    return *url + "v1/traces";
}

}  // namespace

std::optional<TelemetryOptions> telemetry_from_environment(const Variable& variable) {
    if (given(variable, "OTEL_SDK_DISABLED") == "true") return std::nullopt;
    if (given(variable, "OTEL_TRACES_EXPORTER") == "none") return std::nullopt;
    const auto url = read_url(variable);
    if (!url) return std::nullopt;
    TelemetryOptions options{.url = *url, .sampled = read_sampled(variable)};
    if (options.sampled == 0) return std::nullopt;
    options.headers = read_pairs(variable, "OTEL_EXPORTER_OTLP_HEADERS");
    for (auto& [name, value] : read_pairs(variable, "OTEL_RESOURCE_ATTRIBUTES")) {
        if (name == "service.name") {
            options.service_name = std::move(value);
        } else {
            options.resource.emplace_back(name, std::move(value));
        }
    }
    if (auto name = given(variable, "OTEL_SERVICE_NAME")) options.service_name = *std::move(name);
    return options;
}

}  // namespace ebb
