#pragma once

#include <string>
#include <string_view>

#include <ebb/json.h>

#include "cli/streams.h"

namespace ebb::cli {

/// The payload that an option names: JSON as it is, `@FILE` the file's content, `-` what comes from
/// stdin. It is checked here so that the message can say where the JSON came from. Throws Error
/// with InvalidPayload, PayloadTooLarge, or InvalidArgument when the file cannot be read.
Payload read_payload(std::string_view argument, std::string_view option, CliStreams& streams);

/// Throws InvalidArgument: the file does not exist, and which file may be meant, or else `cure`.
[[noreturn]] void throw_missing(const std::string& path, std::string_view cure = {});

/// A file's content. Throws Error with InvalidArgument (it does not exist, is a directory, cannot
/// be read) or LimitExceeded (above `bytes_max`).
std::string read_file(const std::string& path, std::size_t bytes_max);

}  // namespace ebb::cli
