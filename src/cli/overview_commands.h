#pragma once

#include <string>
#include <string_view>

#include "cli/session.h"

// Commands about the whole database, with their options.

namespace ebb::cli {

/// What tasks without a handler are, which any worker can run.
inline constexpr std::string_view kOwnTasks = "a timer, the end of a step, or a request";

struct TopOptions {
    Duration every = std::chrono::seconds(2);
    bool is_once = false;
};

int print_stats(Session& session);
int show_top(Session& session, const TopOptions& options);
int examine_deployment(Session& session);

}  // namespace ebb::cli
