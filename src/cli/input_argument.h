#pragma once

#include <string>
#include <string_view>

#include <ebb/json.h>

#include "cli/streams.h"

namespace ebb::cli {

/// `--input` of a command that starts an instance: as read_payload, or `sample:NAME`, a sample of
/// the workflow's file, whose text is `definition` (empty = the workflow is not in a file).
Payload read_input(std::string_view argument, std::string_view definition, CliStreams& streams);

}  // namespace ebb::cli
