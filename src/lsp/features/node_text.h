#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <ebb/definition.h>

// What the server says of a node, as text for people.

namespace ebb::lsp {

/// At most so many bytes, and no part of a character.
std::string_view beginning(std::string_view text, std::size_t bytes_max);

/// A text as a code fence of Markdown. Text of a workspace appears in no other way, so it can hold
/// no link and no other markup.
std::string fenced(std::string_view text);

/// The delays between attempts, without jitter: `1s, 2s, 4s, ...`. Empty if there are none.
std::string delays_text(const AttemptPolicy& attempts);

/// Where the value of a key comes from, such as ` (line 6)`; empty if it is the default.
using Origin = std::function<std::string(const char* key)>;

/// The attempts with their delays and timeouts, and how long all of them take at most.
std::string attempts_text(const AttemptPolicy& attempts, const Origin& origin);

/// A line for each thing that is known of the node. `registered` follows the name of its handler.
std::string node_text(const Node& node, const Origin& origin, const std::string& registered);

}  // namespace ebb::lsp
