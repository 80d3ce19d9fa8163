#include "lsp/wire.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "support/json.h"

namespace ebb::lsp {

namespace {

/// The value of Content-Length; empty if there is none that can be used.
std::optional<std::size_t> content_length(std::string_view header) {
    constexpr std::string_view kName = "content-length:";
    while (!header.empty()) {
        std::string_view line = header.substr(0, header.find("\r\n"));
        header.remove_prefix(std::min(line.size() + 2, header.size()));
        std::string name(line.substr(0, kName.size()));
        for (char& c : name) {
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        }
        if (name != kName) continue;
        line.remove_prefix(kName.size());
        while (line.starts_with(' ')) line.remove_prefix(1);
        std::size_t size = 0;
        const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), size);
        if (error != std::errc() || end != line.data() + line.size()) return std::nullopt;
        return size;
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> FrameReader::next() {
    if (is_broken_) return std::nullopt;
    constexpr std::string_view kEnd = "\r\n\r\n";
    const std::size_t end = buffer_.find(kEnd);
    if (end == std::string::npos || end > WireLimits::kHeaderBytesMax) {
        is_broken_ = buffer_.size() > WireLimits::kHeaderBytesMax;
        return std::nullopt;
    }
    const std::size_t begin = end + kEnd.size();
    const auto size = content_length(std::string_view(buffer_).substr(0, end));
    if (!size || *size > WireLimits::kMessageBytesMax) {
        is_broken_ = true;
        buffer_.clear();
        return std::nullopt;
    }
    if (buffer_.size() - begin < *size) return std::nullopt;
    std::string content = buffer_.substr(begin, *size);
    buffer_.erase(0, begin + *size);
    return content;
}

std::string frame(const Json& message) {
    const std::string text = to_text(message);
    return fmt::format("Content-Length: {}\r\n\r\n{}", text.size(), text);
}

std::optional<Json> parse_message(std::string_view content) {
    if (json_depth(content) > WireLimits::kJsonDepthMax) return std::nullopt;
    Json json = Json::parse(content, nullptr, false);
    if (json.is_discarded()) return std::nullopt;
    return json;
}

Json no_message() {
    return Json(Json::value_t::discarded);
}

Json make_response(const Json& id, Json result) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json make_error(const Json& id, RpcError code, const std::string& message) {
    return {
        {"jsonrpc", "2.0"},
        {"id", id},
        {"error", {{"code", static_cast<int>(code)}, {"message", message}}}
    };
}

Json make_notification(std::string_view method, Json params) {
    return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

}  // namespace ebb::lsp
