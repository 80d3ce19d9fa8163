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
            "[::1]:PORT, unix:PATH or fd:N.",
            text,
            why
        )
    );
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

bool Endpoint::is_local() const {
    if (kind == Kind::Unix) return true;
    if (kind == Kind::Descriptor) return is_local_socket(descriptor);
    return host == "localhost" || host == "::1" || host.starts_with("127.");
}

Endpoint parse_endpoint(std::string_view text) {
    Endpoint endpoint;
    if (text.starts_with("unix:")) {
        endpoint.kind = Endpoint::Kind::Unix;
        endpoint.host = text.substr(5);
        if (endpoint.host.empty()) throw_malformed(text, "the path is missing");
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
