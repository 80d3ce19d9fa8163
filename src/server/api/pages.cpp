#include "server/api/pages.h"

#include <fmt/format.h>

#include "server/api/encoding.h"
#include "server/api/guard.h"
#include "server/api/problem.h"
#include "server/assets/assets.h"
#include "support/sha256.h"

namespace ebb::server {

namespace {

/// Keeps something for as long as the stream lives.
class KeptStream : public http::Stream {
 public:
    KeptStream(std::shared_ptr<http::Stream> stream, std::shared_ptr<const void> kept)
        : stream_(std::move(stream)), kept_(std::move(kept)) {}

    bool send(std::string bytes) override { return stream_->send(std::move(bytes)); }

    void close() override { stream_->close(); }

    bool is_closed() const override { return stream_->is_closed(); }

 private:
    std::shared_ptr<http::Stream> stream_;
    std::shared_ptr<const void> kept_;
};

http::Response asset_response(const http::Request& request, const Asset& asset) {
    const std::string etag = fmt::format("\"{}\"", asset.etag);
    http::Response response;
    response.set("ETag", etag);
    response.set("Vary", "Accept-Encoding");
    response.set(
        "Cache-Control", asset.is_immutable ? "public, max-age=31536000, immutable" : "no-cache"
    );
    if (request.header("If-None-Match").find(etag) != std::string_view::npos) {
        response.status = 304;
        return response;
    }
    response.set("Content-Type", std::string(asset.type));
    if (accepts_encoding(request, "br") && !asset.brotli.empty()) {
        response.set("Content-Encoding", "br");
        response.body = asset.brotli;
    } else if (accepts_encoding(request, "gzip") && !asset.gzip.empty()) {
        response.set("Content-Encoding", "gzip");
        response.body = asset.gzip;
    } else {
        response.body = plain_bytes(asset);
    }
    return response;
}

http::Response html(std::string page) {
    http::Response response;
    response.set("Content-Type", "text/html; charset=utf-8");
    response.body = std::move(page);
    return response;
}

http::Response index_response(const http::Request& request, const std::string& base_path) {
    http::Response response = html(index_page(base_path));
    const std::string etag = fmt::format("\"{}\"", sha256_hex(response.body).substr(0, 16));
    response.set("ETag", etag);
    response.set("Cache-Control", "no-cache");
    if (request.header("If-None-Match").find(etag) != std::string_view::npos) {
        response.status = 304;
        response.body.clear();
    }
    return response;
}

http::Response problem_page(std::string_view code) {
    for (const ProblemKind& kind : problem_kinds()) {
        if (kind.code != code) continue;
        return html(fmt::format(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{0}</title>"
            "<h1>{0}</h1><p>Code <code>{1}</code>, status {2}.</p><p>{3}</p></html>\n",
            kind.title,
            kind.code,
            kind.status,
            kind.hint
        ));
    }
    throw Problem("not_found", "There is no such kind of problem.");
}

}  // namespace

http::Response page_response(
    const http::Request& request, std::string_view path, const std::string& base_path
) {
    constexpr std::string_view kProblems = "/problems/";
    if (path.starts_with(kProblems)) return problem_page(path.substr(kProblems.size()));
    if (const Asset* asset = find_asset(path); asset != nullptr && path != "/index.html") {
        return asset_response(request, *asset);
    }
    const std::string_view last = path.substr(path.rfind('/') + 1);
    if (last.find('.') != std::string_view::npos) {
        throw Problem("not_found", "There is no such file.");
    }
    return index_response(request, base_path);
}

std::shared_ptr<http::Stream> Relay::stream(http::Response head) {
    add_security_headers(head, false);
    for (const http::Header& header : stream_headers_) head.headers.push_back(header);
    return std::make_shared<KeptStream>(respond_.stream(std::move(head)), kept_);
}

}  // namespace ebb::server
