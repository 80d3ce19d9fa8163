#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/session.h"

// Commands about the whole deployment, and those for the first hour, with their options.

namespace ebb::cli {

struct ResultOptions {
    std::string instance{};
};

struct RerunOptions {
    std::string instance{};
    std::string input{};  ///< empty = the old one's
    std::string key{};
    std::string by{};
    std::optional<int> version{};
    bool waits = false;
    Duration timeout = Duration::max();
};

struct TopOptions {
    Duration every = std::chrono::seconds(2);
    bool is_once = false;
};

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

int print_result(Session& session, const ResultOptions& options);
int rerun_instance(Session& session, const RerunOptions& options);
int print_stats(Session& session);
int show_top(Session& session, const TopOptions& options);
int examine_deployment(Session& session);
int develop(Session& session, const DevOptions& options);
int make_project(Session& session, const InitOptions& options);

}  // namespace ebb::cli
