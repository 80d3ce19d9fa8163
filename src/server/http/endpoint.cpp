#include <algorithm>
#include <array>
#include <charconv>

#include <arpa/inet.h>
#include <fmt/format.h>

#include <ebb/error.h>

#include "server/http/http.h"
#include "server/http/listening.h"

namespace ebb::http {

namespace {

[[noreturn]] void throw_malformed(std::string_view text, std::string_view why) {
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "\"{}\" is not an address to listen on: {}. Write HOST:PORT such as 127.0.0.1:8322, "
            "[::1]:PORT, unix:PATH, unix:PATH?mode=0660&group=NAME or fd:N.",
            text,
            why
        )
    );
}

template <class Number>
bool read_number(std::string_view text, Number& number, int base = 10) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    return error == std::errc() && end == text.data() + text.size();
}

/// `mode=0660&group=www-data`, of the file of a Unix socket.
void read_file_options(std::string_view text, std::string_view options, Endpoint& endpoint) {
    constexpr std::string_view kMode = "mode=";
    constexpr std::string_view kGroup = "group=";
    while (!options.empty()) {
        const std::size_t end = std::min(options.find('&'), options.size());
        const std::string_view option = options.substr(0, end);
        options.remove_prefix(std::min(end + 1, options.size()));
        if (option.starts_with(kMode) && !endpoint.mode) {
            unsigned mode = 0;
            if (!read_number(option.substr(kMode.size()), mode, 8) || mode > 0777U) {
                throw_malformed(text, "the mode is not octal, such as 0660");
            }
            endpoint.mode = mode;
        } else if (option.size() > kGroup.size() && option.starts_with(kGroup) &&
                   endpoint.group.empty()) {
            endpoint.group = option.substr(kGroup.size());
        } else {
            throw_malformed(text, "after the path come mode=MODE and group=NAME, each once");
        }
    }
}

}  // namespace

std::string Endpoint::name() const {
    if (kind == Kind::Unix) return "unix:" + host;
    if (kind == Kind::Descriptor) return fmt::format("fd:{}", descriptor);
    const bool is_v6 = host.find(':') != std::string::npos;
    return is_v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

bool Endpoint::is_local() const {
    if (kind == Kind::Unix) return true;
    if (kind == Kind::Descriptor) return is_local_socket(descriptor);
    return host == "localhost" || host == "::1" || host.starts_with("127.");
}

Endpoint parse_endpoint(std::string_view text) {
    Endpoint endpoint;
    if (text.starts_with("unix:")) {
        endpoint.kind = Endpoint::Kind::Unix;
        const std::size_t mark = std::min(text.find('?'), text.size());
        endpoint.host = text.substr(5, mark - 5);
        if (endpoint.host.empty()) throw_malformed(text, "the path is missing");
        if (mark < text.size()) read_file_options(text, text.substr(mark + 1), endpoint);
        return endpoint;
    }
    if (text.starts_with("fd:")) {
        endpoint.kind = Endpoint::Kind::Descriptor;
        if (!read_number(text.substr(3), endpoint.descriptor) || endpoint.descriptor < 3) {
            throw_malformed(text, "a descriptor is a number from 3");
        }
        return endpoint;
    }
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) throw_malformed(text, "the port is missing");
    if (!read_number(text.substr(colon + 1), endpoint.port)) {
        throw_malformed(text, "the port is not a number from 0 to 65535");
    }
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    endpoint.host = host;
    std::array<unsigned char, sizeof(in6_addr)> address{};
    const bool is_numeric = inet_pton(AF_INET, endpoint.host.c_str(), address.data()) == 1 ||
                            inet_pton(AF_INET6, endpoint.host.c_str(), address.data()) == 1;
    if (!is_numeric && endpoint.host != "localhost") {
        throw_malformed(text, "the host is not a numeric address or localhost");
    }
    return endpoint;
}

}  // namespace ebb::http
