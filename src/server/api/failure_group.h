#pragma once

#include <string>
#include <string_view>

#include <ebb/json.h>

namespace ebb::server {

/// Why an instance failed.
struct Failure {
    std::string step{};
    std::string code = "unknown";
    std::string message{};  ///< its first line, at most 512 bytes
};

/// Reads an error as the engine shows it: {"code", "message", "step"}.
Failure read_failure(const Payload& error);

/// `text` with what differs between occurrences of one failure replaced: UUIDs, numbers,
/// hexadecimal words, quoted texts and paths.
std::string normalise_message(std::string_view text);

/// 16 hexadecimal digits: the same for failures with one cause.
std::string group_of(std::string_view workflow, const Failure& failure);

}  // namespace ebb::server
