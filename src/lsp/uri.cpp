#include "lsp/uri.h"

#include <fmt/format.h>

namespace ebb::lsp {

namespace {

constexpr std::string_view kScheme = "file://";

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~' || c == '/';
}

}  // namespace

std::string path_of_uri(std::string_view uri) {
    if (!uri.starts_with(kScheme)) return {};
    uri.remove_prefix(kScheme.size());
    constexpr std::string_view kLocal = "localhost/";
    if (uri.starts_with(kLocal)) uri.remove_prefix(kLocal.size() - 1);
    if (!uri.starts_with('/')) return {};
    std::string path;
    for (std::size_t i = 0; i < uri.size(); ++i) {
        const bool is_escape = uri[i] == '%' && i + 2 < uri.size() && digit_of(uri[i + 1]) >= 0 &&
                               digit_of(uri[i + 2]) >= 0;
        const char c = is_escape
                           ? static_cast<char>(digit_of(uri[i + 1]) * 16 + digit_of(uri[i + 2]))
                           : uri[i];
        if (c == '\0') return {};
        path += c;
        if (is_escape) i += 2;
    }
    return path;
}

std::string uri_of_path(std::string_view path) {
    std::string uri(kScheme);
    for (const char c : path) {
        if (is_unreserved(c)) {
            uri += c;
        } else {
            uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return uri;
}

std::string canonical_uri(const std::string& uri) {
    const std::string path = path_of_uri(uri);
    return path.empty() ? uri : uri_of_path(path);
}

}  // namespace ebb::lsp
