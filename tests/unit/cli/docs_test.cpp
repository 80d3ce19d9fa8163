// docs/reference/cli.md has every command, every option and every exit code.

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "cli/command_info.h"
#include "cli/exit_code.h"
#include "ebb_test_dirs.h"

namespace ebb::cli {
namespace {

std::string page() {
    std::ifstream file(EBB_SOURCE_DIR "/docs/reference/cli.md");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

/// From the heading `## ebb NAME` to the next one.
std::string section(const std::string& text, const std::string& heading) {
    const std::size_t begin = text.find("\n## " + heading + "\n");
    if (begin == std::string::npos) return {};
    return text.substr(begin, text.find("\n## ", begin + 1) - begin);
}

TEST(CliDocs, have_a_section_for_every_command_with_all_its_options) {
    const std::string text = page();
    for (const CommandInfo& command : describe_commands()) {
        const std::string heading = command.name.empty() ? "Options of all commands"
                                                         : fmt::format("`ebb {}`", command.name);
        const std::string described = section(text, heading);
        EXPECT_NE(described, "") << heading;
        for (const OptionInfo& option : command.options) {
            // Every command has it; it is described once.
            if (option.names.front() == "--help" && !command.name.empty()) continue;
            for (const std::string& name : option.names) {
                EXPECT_NE(described.find("`" + name), std::string::npos) << heading << " " << name;
            }
            for (const std::string& choice : option.choices) {
                EXPECT_NE(described.find("`" + choice + "`"), std::string::npos)
                    << heading << " " << option.names.front() << " " << choice;
            }
        }
    }
}

TEST(CliDocs, have_no_option_that_does_not_exist) {
    const std::string text = page();
    for (const CommandInfo& command : describe_commands()) {
        if (command.name.empty()) continue;
        const std::string described = section(text, fmt::format("`ebb {}`", command.name));
        for (std::size_t at = 0; (at = described.find("| `-", at)) != std::string::npos; ++at) {
            const std::size_t begin = at + 3;
            const std::string name =
                described.substr(begin, described.find_first_of("` ", begin) - begin);
            bool is_known = false;
            for (const OptionInfo& option : command.options) {
                for (const std::string& known : option.names) is_known |= known == name;
            }
            EXPECT_TRUE(is_known) << command.name << " " << name;
        }
    }
}

TEST(CliDocs, list_every_command_in_the_table_at_the_top) {
    const std::string text = page();
    const std::string top = text.substr(0, text.find("\n## "));
    for (const CommandInfo& command : describe_commands()) {
        if (command.name.empty()) continue;
        const std::string link = fmt::format("[{0}](#ebb-{0})", command.name);
        EXPECT_NE(top.find(link), std::string::npos) << link;
    }
}

TEST(CliDocs, have_every_exit_code) {
    const std::string codes = section(page(), "Exit codes");
    for (const int code :
         {kOk,
          kEndedBadly,
          kUsage,
          kNotFound,
          kRefused,
          kStore,
          kTimeout,
          kInternal,
          kOutput,
          kInterrupted,
          kOutputClosed}) {
        EXPECT_NE(codes.find(fmt::format("| {} |", code)), std::string::npos) << code;
    }
}

}  // namespace
}  // namespace ebb::cli
