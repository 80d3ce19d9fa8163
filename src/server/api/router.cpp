#include "server/api/router.h"

#include <algorithm>

#include "support/json.h"

namespace ebb::server {

namespace {

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// Calls each(segment) for what is between the slashes of `/a/b`.
template <class Each>
void for_each_segment(std::string_view path, Each each) {
    if (!path.empty() && path.front() == '/') path.remove_prefix(1);
    if (path.empty()) return;
    while (true) {
        const std::size_t slash = path.find('/');
        each(path.substr(0, slash));
        if (slash == std::string_view::npos) return;
        path.remove_prefix(slash + 1);
    }
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text) {
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            decoded += text[at];
            continue;
        }
        if (text.size() - at < 3) return std::nullopt;
        const int high = hex_value(text[at + 1]);
        const int low = hex_value(text[at + 2]);
        if (high < 0 || low < 0 || high + low == 0) return std::nullopt;
        decoded += static_cast<char>(high * 16 + low);
        at += 2;
    }
    if (clean_text(decoded, decoded.size()) != decoded) return std::nullopt;
    return decoded;
}

std::string percent_encode(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string encoded;
    for (const char c : text) {
        const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                              (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.' ||
                              c == '~';
        if (is_plain) {
            encoded += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        encoded += '%';
        encoded += kDigits[byte >> 4U];
        encoded += kDigits[byte & 0xfU];
    }
    return encoded;
}

struct Router::Node {
    std::map<std::string, std::unique_ptr<Node>, std::less<>> fixed;
    std::unique_ptr<Node> parameter;
    std::string parameter_name;
    std::map<std::string, std::size_t, std::less<>> routes;  ///< by method
};

Router::Router() : root_(std::make_unique<Node>()) {}

Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;
Router::~Router() = default;

void Router::add(std::string_view method, std::string_view path, std::size_t route) {
    Node* node = root_.get();
    for_each_segment(path, [&](std::string_view segment) {
        const bool is_parameter = segment.starts_with('{') && segment.ends_with('}');
        auto& next = is_parameter ? node->parameter : node->fixed[std::string(segment)];
        if (!next) next = std::make_unique<Node>();
        if (is_parameter) node->parameter_name = segment.substr(1, segment.size() - 2);
        node = next.get();
    });
    node->routes.emplace(method, route);
}

Router::Found Router::find(std::string_view method, std::string_view path) const {
    Found found;
    Match match;
    const Node* node = root_.get();
    for_each_segment(path, [&](std::string_view segment) {
        if (node == nullptr) return;
        if (const auto fixed = node->fixed.find(segment); fixed != node->fixed.end()) {
            node = fixed->second.get();
            return;
        }
        auto value = percent_decode(segment);
        const bool fits = node->parameter && value && !value->empty();
        if (fits) match.parameters[node->parameter_name] = std::move(*value);
        node = fits ? node->parameter.get() : nullptr;
    });
    if (node == nullptr || node->routes.empty()) return found;
    for (const auto& [name, route] : node->routes) found.allowed.push_back(name);
    auto route = node->routes.find(method);
    if (route == node->routes.end() && method == "HEAD") route = node->routes.find("GET");
    if (route == node->routes.end()) return found;
    match.route = route->second;
    found.match = std::move(match);
    return found;
}

}  // namespace ebb::server
