#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace ebb {

/// A parsed JSON value. Include <nlohmann/json.hpp> where you use its members.
using Json = nlohmann::json;

/// A JSON document as text: what a handler is given and what it returns. The engine stores and
/// forwards payloads as they are and parses them only where an expression needs them.
using Payload = std::string;

}  // namespace ebb
