#pragma once

#include <string>

#include "cli/session.h"

// Commands about the whole database, with their options.

namespace ebb::cli {

struct TopOptions {
    Duration every = std::chrono::seconds(2);
    bool is_once = false;
};

int print_stats(Session& session);
int show_top(Session& session, const TopOptions& options);
int examine_deployment(Session& session);

}  // namespace ebb::cli
