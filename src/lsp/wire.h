#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <ebb/json.h>

namespace ebb::lsp {

struct WireLimits {
    static constexpr std::size_t kMessageBytesMax = std::size_t{16} << 20;
    static constexpr std::size_t kHeaderBytesMax = 4'096;
    static constexpr int kJsonDepthMax = 64;
};

/// The codes of JSON-RPC and the protocol that Ebb sends.
enum class RpcError {
    ParseError = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    InternalError = -32603,
    ServerNotInitialized = -32002,
    RequestFailed = -32803,
    ContentModified = -32801,
    RequestCancelled = -32800,
};

/// Cuts a stream of bytes into messages, however the bytes arrive.
class FrameReader {
 public:
    void feed(std::string_view bytes) { buffer_ += bytes; }

    /// The next whole message's content; empty if more bytes are needed or the stream is broken.
    std::optional<std::string> next();

    /// A header without a usable Content-Length, or too long a message: what follows cannot be
    /// understood.
    bool is_broken() const { return is_broken_; }

 private:
    std::string buffer_;
    bool is_broken_ = false;
};

/// A message with its header.
std::string frame(const Json& message);

/// The message of a frame's content; empty if it is not JSON or too deep.
std::optional<Json> parse_message(std::string_view content);

/// Stands for a content that is not JSON.
Json no_message();

Json make_response(const Json& id, Json result);
Json make_error(const Json& id, RpcError code, const std::string& message);
Json make_notification(std::string_view method, Json params);

}  // namespace ebb::lsp
