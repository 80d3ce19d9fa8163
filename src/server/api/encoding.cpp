#include "server/api/encoding.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#define ZLIB_CONST
#include <zlib.h>

namespace ebb::server {

namespace {

/// Of a response, or empty.
std::string_view value_of(const http::Response& response, std::string_view name) {
    for (const http::Header& header : response.headers) {
        if (http::is_same_name(header.name, name)) return header.value;
    }
    return {};
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// `; q=0.000`, which excludes what precedes it.
bool is_zero_weight(std::string_view parameters) {
    const std::size_t equals = parameters.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view weight = trimmed(parameters.substr(equals + 1));
    return !weight.empty() && weight.find_first_not_of("0.") == std::string_view::npos;
}

/// Those whose answers have neither payloads nor secrets, and may be large.
constexpr std::array<std::string_view, 20> kCompressed{
    "getActivity",          "getGraph",           "getMetrics",
    "getOpenapi",           "getStepStats",       "getWorkflow",
    "getWorkflowLayout",    "getWorkflowVersion", "listAudit",
    "listDefinitionFiles",  "listDelayed",        "listGrants",
    "listInstances",        "listProjects",       "listQueues",
    "listUnserved",         "listWorkers",        "listWorkflows",
    "listWorkflowVersions", "validateWorkflow",
};

bool is_text(std::string_view type) {
    const std::string_view kind = type.substr(0, type.find(';'));
    return kind == "application/json" || kind == "application/x-ndjson" ||
           kind == "application/yaml" || kind == "image/svg+xml" || kind.starts_with("text/");
}

bool fits(const http::Response& response) {
    return response.status == 200 && response.body.size() >= kCompressedBytesMin &&
           response.body.size() <= kCompressedBytesMax &&
           is_text(value_of(response, "Content-Type")) &&
           value_of(response, "Content-Encoding").empty() &&
           value_of(response, "Cache-Control").find("no-store") == std::string_view::npos;
}

/// Empty if it would not be smaller than `plain`.
std::string gzip(const std::string& plain) {
    constexpr int kLevel = 1;  // Others are much slower, and hardly better at JSON.
    constexpr int kMemory = 8;
    z_stream stream{};
    // 16 + the largest window: the gzip format.
    if (deflateInit2(&stream, kLevel, Z_DEFLATED, 16 + MAX_WBITS, kMemory, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        return {};
    }
    std::string packed(plain.size(), '\0');
    stream.next_in = reinterpret_cast<const Bytef*>(plain.data());
    stream.avail_in = static_cast<uInt>(plain.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    const bool is_whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    packed.resize(is_whole ? stream.total_out : 0);
    deflateEnd(&stream);
    return packed;
}

}  // namespace

bool may_compress(std::string_view operation) {
    return std::find(kCompressed.begin(), kCompressed.end(), operation) != kCompressed.end();
}

bool accepts_encoding(const http::Request& request, std::string_view encoding) {
    std::string_view codings = request.header("Accept-Encoding");
    bool accepts_any = false;
    while (!codings.empty()) {
        const std::size_t comma = std::min(codings.find(','), codings.size());
        const std::string_view coding = codings.substr(0, comma);
        codings.remove_prefix(std::min(comma + 1, codings.size()));
        const std::size_t semicolon = std::min(coding.find(';'), coding.size());
        const bool is_excluded = is_zero_weight(coding.substr(semicolon));
        const std::string_view name = trimmed(coding.substr(0, semicolon));
        // What is named counts more than what `*` says of all others.
        if (http::is_same_name(name, encoding)) return !is_excluded;
        if (name == "*") accepts_any = !is_excluded;
    }
    return accepts_any;
}

void compress(http::Response& response, bool is_accepted) {
    if (!fits(response)) return;
    const std::string vary(value_of(response, "Vary"));
    response.set("Vary", vary.empty() ? "Accept-Encoding" : vary + ", Accept-Encoding");
    if (!is_accepted) return;
    std::string packed = gzip(response.body);
    if (packed.empty()) return;
    response.body = std::move(packed);
    response.set("Content-Encoding", "gzip");
    const std::string_view tag = value_of(response, "ETag");
    if (!tag.empty() && !tag.starts_with("W/")) response.set("ETag", "W/" + std::string(tag));
}

}  // namespace ebb::server
