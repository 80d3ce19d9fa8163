#pragma once

#include <cstddef>
#include <string_view>

#include "server/http/http.h"

// Compressed answers.

namespace ebb::server {

/// Shorter bodies are sent as they are: compression would hardly make them smaller.
inline constexpr std::size_t kCompressedBytesMin = std::size_t{1} << 10;
/// Longer ones, too: their compression would keep a thread busy for long.
inline constexpr std::size_t kCompressedBytesMax = std::size_t{16} << 20;

/// Whether answers of the operation may be compressed. Those with payloads or secrets may not: an
/// attacker who adds text beside a secret, and sees the size of the answer, could guess it
/// (BREACH).
bool may_compress(std::string_view operation);

/// Whether Accept-Encoding of the request allows `encoding`, by name or by `*`.
bool accepts_encoding(const http::Request& request, std::string_view encoding);

/// Compresses the body by gzip if its size is within the two limits above, its type is JSON or
/// text, and it becomes smaller by that; `is_accepted`: the client accepts gzip. Otherwise the body
/// stays as it is. Any answer that may be compressed says so (Vary), and an ETag becomes weak if it
/// is. An answer that must not be stored stays as it is, because it may contain a secret.
void compress(http::Response& response, bool is_accepted);

}  // namespace ebb::server
