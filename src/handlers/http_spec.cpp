#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "handlers/header.h"
#include "handlers/spec.h"
#include "handlers/spec_reader.h"

namespace ebb {

namespace {

constexpr std::array<std::string_view, 6> kMethods = {
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
};

/// Those that Ebb or the connection sets.
constexpr std::array<std::string_view, 6> kReservedHeaders = {
    "idempotency-key",
    "content-length",
    "transfer-encoding",
    "connection",
    "host",
    "expect",
};

void read_method(SpecReader& reader, HttpSpec& spec) {
    spec.method = reader.text("method", "POST");
    if (std::find(kMethods.begin(), kMethods.end(), spec.method) != kMethods.end()) return;
    reader.note(
        "invalid_value",
        "/method",
        fmt::format("\"method\" must be one of {}.", fmt::join(kMethods, ", "))
    );
}

void check_url(SpecReader& reader, const std::string& text, const HttpSpec& spec) {
    if (spec.url.has_variable_host()) {
        if (spec.allow_hosts.empty()) {
            reader.note(
                "missing_key",
                "/allow_hosts",
                "An expression decides about the host of \"url\", so \"allow_hosts\" must list the "
                "hosts that may be "
                "called."
            );
        }
    } else if (!text.starts_with("https://") && !text.starts_with("http://")) {
        reader.note("invalid_value", "/url", "\"url\" must begin with https:// or http://.");
    }
}

void read_url(SpecReader& reader, HttpSpec& spec) {
    if (reader.find("allow_hosts") != nullptr) {
        spec.allow_hosts = reader.texts("allow_hosts", HandlerLimits::kVariablesMax);
    }
    for (std::string& host : spec.allow_hosts) host = to_lower(host);
    if (reader.find("url") == nullptr) {
        reader.note("missing_key", "/url", "An http handler needs a \"url\".");
        return;
    }
    const std::string text = reader.text("url");
    if (text.empty()) return;
    try {
        spec.url = UrlTemplate::compile(text);
        reader.check_variables(spec.url.variables_read(), "/url");
        check_url(reader, text, spec);
    } catch (const ExpressionError& error) {
        reader.note("invalid_expression", "/url", error.what());
    }
}

void read_headers(SpecReader& reader, HttpSpec& spec) {
    for (auto& [name, value] : reader.templates("headers")) {
        const std::string lower = to_lower(name);
        const bool is_reserved =
            lower.starts_with("ebb-") ||
            std::find(kReservedHeaders.begin(), kReservedHeaders.end(), lower) !=
                kReservedHeaders.end();
        if (!is_header_name(name) || is_reserved) {
            reader.note(
                "invalid_value",
                "/headers/" + escape_pointer(name),
                is_reserved
                    ? fmt::format("The header \"{}\" is set by Ebb.", clean_text(name, 100))
                    : fmt::format("\"{}\" is not a name of a header.", clean_text(name, 100))
            );
        }
        spec.headers.emplace_back(name, value);
    }
}

void read_body(SpecReader& reader, HttpSpec& spec) {
    const Json* body = reader.find("body");
    if (body == nullptr) return;
    if (spec.method == "GET" || spec.method == "HEAD") {
        reader.note("conflicting_keys", "/body", fmt::format("A {} has no body.", spec.method));
    }
    spec.body = reader.compile(*body, "/body");
}

std::filesystem::path read_path(
    SpecReader& reader, std::string_view key, const std::filesystem::path& base_directory
) {
    return reader.find(key) == nullptr ? std::filesystem::path()
                                       : base_directory / reader.text(key);
}

}  // namespace

HttpSpec read_http_spec(SpecReader& reader, const std::filesystem::path& base_directory) {
    HttpSpec spec;
    reader.allow_only(
        {"method",
         "url",
         "headers",
         "body",
         "pass_env",
         "allow_hosts",
         "proxy",
         "ca_file",
         "client_cert",
         "client_key",
         "timeout",
         "max_response",
         "output"}
    );
    read_method(reader, spec);
    read_url(reader, spec);
    read_headers(reader, spec);
    read_body(reader, spec);
    spec.pass_environment = reader.variable_names("pass_env");
    spec.proxy = reader.text("proxy");
    spec.ca_file = read_path(reader, "ca_file", base_directory);
    spec.client_cert = read_path(reader, "client_cert", base_directory);
    spec.client_key = read_path(reader, "client_key", base_directory);
    if (!spec.client_key.empty() && spec.client_cert.empty()) {
        reader.note("missing_key", "/client_cert", "\"client_key\" needs \"client_cert\".");
    }
    spec.timeout = reader.duration("timeout", spec.timeout, HandlerLimits::kTimeoutMax);
    spec.response_bytes_max = reader.bytes(
        "max_response", HandlerLimits::kOutputBytesDefault, HandlerLimits::kOutputBytesMax
    );
    spec.output = reader.output_mode();
    return spec;
}

}  // namespace ebb
