#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "server/http/http.h"

// What the head of a request must be like: RFC 9112, and nothing of what it leaves to the tolerance
// of a server. Every byte of the head is judged here before the HTTP library sees it, so that no
// two programs on the way to us can understand it differently.

namespace ebb::http {

/// What follows the head.
struct Framing {
    std::uint64_t content_length = 0;
    bool is_chunked = false;
    bool keeps_alive = true;
    bool expects_continue = false;
    bool is_http10 = false;
};

struct Head {
    Request request;
    Framing framing;
};

/// Where the head ends in `bytes`, which begin with it: behind its empty line. Empty if more bytes
/// are needed. A refusal as soon as it cannot become a valid head.
std::variant<std::size_t, Refusal> find_head_end(std::string_view bytes, const Limits& limits);

/// Reads a whole head, its empty line included.
std::variant<Head, Refusal> read_head(std::string_view head, const Limits& limits);

/// What find_head_end yields when more bytes are needed.
inline constexpr std::size_t kMoreBytes = 0;

/// `host` or `host:port` of a Host header, or of a URL's authority, without user information.
bool is_valid_authority(std::string_view authority);

}  // namespace ebb::http
