#pragma once

#include <string>
#include <vector>

#include "cli/session.h"

// Commands for the first hour with Ebb, with their options.

namespace ebb::cli {

struct DevOptions {
    std::vector<std::string> files{};
    std::string input{};
    int threads = 0;
};

struct InitOptions {
    std::string folder{};
    std::string name{};
    bool is_yaml = false;
};

int develop(Session& session, const DevOptions& options);
int make_project(Session& session, const InitOptions& options);

}  // namespace ebb::cli
