#include "server/assets/assets.h"

#include <algorithm>

#define ZLIB_CONST
#include <zlib.h>

#include "support/assert.h"

namespace ebb::server {

namespace {

constexpr std::string_view kPageWithoutUi =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Ebb</title>"
    "<p>This server was built without its web UI.</p>"
    "<p>The API is at <a href=\"/api/v1/openapi.json\">/api/v1</a>.</p></html>\n";

void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (std::size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
}

}  // namespace

bool has_ui() {
    return !assets().empty();
}

const Asset* find_asset(std::string_view path) {
    const std::span<const Asset> all = assets();
    const auto found = std::ranges::lower_bound(all, path, {}, &Asset::path);
    return found != all.end() && found->path == path ? &*found : nullptr;
}

std::string index_page(std::string_view base_path) {
    const Asset* page = find_asset("/index.html");
    std::string text = page == nullptr ? std::string(kPageWithoutUi) : plain_bytes(*page);
    if (base_path == "/") return text;
    const std::string quoted = '"' + std::string(base_path);
    replace_all(text, "\"/", quoted);
    return text;
}

std::string plain_bytes(const Asset& asset) {
    std::string bytes(asset.size, '\0');
    z_stream stream = {};
    // 16 + the largest window: the gzip format.
    EBB_ASSERT(inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK, "zlib works");
    stream.next_in = reinterpret_cast<const Bytef*>(asset.gzip.data());
    stream.avail_in = static_cast<uInt>(asset.gzip.size());
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_out = static_cast<uInt>(bytes.size());
    const int result = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    EBB_ASSERT(result == Z_STREAM_END && stream.avail_out == 0, "an embedded file is whole");
    return bytes;
}

}  // namespace ebb::server
