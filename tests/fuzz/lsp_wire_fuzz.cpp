// The bytes that an editor sends: cut into messages whatever they are, and the same however they
// arrive.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "lsp/wire.h"

namespace {

void require(bool condition) {
    if (!condition) __builtin_trap();
}

std::vector<std::string> messages_of(std::string_view bytes, std::size_t piece) {
    ebb::lsp::FrameReader frames;
    std::vector<std::string> messages;
    while (!bytes.empty()) {
        frames.feed(bytes.substr(0, piece));
        bytes.remove_prefix(std::min(piece, bytes.size()));
        while (auto content = frames.next()) messages.push_back(std::move(*content));
    }
    return messages;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const std::vector<std::string> messages = messages_of(bytes, size + 1);
    require(messages_of(bytes, 7) == messages);
    for (const std::string& message : messages) {
        if (const auto json = ebb::lsp::parse_message(message)) require(!json->is_discarded());
    }
    return 0;
}
