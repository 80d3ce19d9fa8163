#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::server {

/// Percent-decodes. Empty where `text` is not valid: a bad escape, a zero byte, not UTF-8.
std::optional<std::string> percent_decode(std::string_view text);
std::string percent_encode(std::string_view text);

/// Finds the route of a path: a trie of segments, in which a fixed segment goes before a parameter.
class Router {
 public:
    Router();
    Router(Router&&) noexcept;
    Router& operator=(Router&&) noexcept;
    ~Router();

    /// `path` is a template such as `/instances/{id}/why`. `route` is any number from 0.
    void add(std::string_view method, std::string_view path, std::size_t route);

    struct Match {
        std::size_t route = 0;
        std::map<std::string, std::string, std::less<>> parameters{};  ///< decoded
    };

    struct Found {
        std::optional<Match> match{};
        std::vector<std::string> allowed{
        };  ///< methods of this path; empty = there is no such path
    };

    /// HEAD is answered by the route of GET.
    Found find(std::string_view method, std::string_view path) const;

 private:
    struct Node;
    std::unique_ptr<Node> root_;
};

}  // namespace ebb::server
