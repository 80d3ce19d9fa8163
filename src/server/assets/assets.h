#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

// The web UI as it is compiled into the program. Nothing here knows HTTP: the server picks an
// encoding and writes the headers.

namespace ebb::server {

/// One file of the UI. All views last as long as the program.
struct Asset {
    std::string_view path;  ///< "/index.html", "/assets/index.1a2b3c4d.js"
    std::string_view type;  ///< for `Content-Type`
    std::string_view etag;  ///< 16 hexadecimal digits of the plain bytes' hash, without quotes
    bool is_immutable;      ///< the name holds a hash of the content: cache it for a year
    std::size_t size;       ///< of the plain bytes
    std::string_view brotli;
    std::string_view gzip;
};

/// Whether this program was built with the UI. Without it there are no assets.
bool has_ui();

/// All files, sorted by path.
std::span<const Asset> assets();

/// The file at `path`, which begins with a slash; null if there is none. It does not fall back to
/// the page.
const Asset* find_asset(std::string_view path);

/// The page that the UI's own addresses answer with: "/" and every path below it whose last part
/// has no dot. Without the UI it is a plain page that links to the API. `base_path` is where the
/// server is mounted: "/" or "/ebb/", with a slash at both ends; it must be safe in HTML.
std::string index_page(std::string_view base_path);

/// The plain bytes of `asset`, for a client that accepts neither brotli nor gzip.
std::string plain_bytes(const Asset& asset);

}  // namespace ebb::server
