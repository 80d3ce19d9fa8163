#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <ebb/engine.h>

#include "cli/time_text.h"

namespace ebb::cli {

struct EventTextOptions {
    Times times = Times::Relative;
    int value_max = 40;  ///< columns for each value in the text
    std::string_view ellipsis = "...";
};

/// The payload of an event in words, if it is Ebb's own: `after a failure, to the start`, `by ann
/// (too late)`. Nothing if the payload is the application's, or if the reader may not see it.
std::optional<std::string> event_text(const HistoryEntry& event, const EventTextOptions& options);

}  // namespace ebb::cli
