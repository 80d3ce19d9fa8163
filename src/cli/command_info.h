#pragma once

#include <string>
#include <vector>

namespace ebb::cli {

/// The command line as data: for completion scripts, and for the test that compares it with the
/// documentation.
struct OptionInfo {
    std::vector<std::string> names{};  ///< `--input`, `-i`; of a positional its one name
    std::string description{};
    std::vector<std::string> choices{};
    bool takes_value = false;
    bool is_positional = false;
    bool is_list = false;  ///< may be given several times
};

struct CommandInfo {
    std::string name{};  ///< empty: the options of all commands
    std::string description{};
    std::vector<OptionInfo> options{};
};

/// All commands, the global options first.
std::vector<CommandInfo> describe_commands();

}  // namespace ebb::cli
