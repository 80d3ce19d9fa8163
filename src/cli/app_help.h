#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace ebb::cli {

/// The help texts, none of whose lines is longer than 80 columns. It leaves out which options
/// exclude and need one another: the set of them has no order, and their descriptions say it.
class HelpFormatter final : public CLI::Formatter {
 public:
    static constexpr std::size_t kWidth = 80;
    static constexpr std::size_t kColumn = 32;  ///< where descriptions begin

    HelpFormatter() { column_width(kColumn); }

    std::string make_option(const CLI::Option* option, bool is_positional) const override;
    std::string make_option_opts(const CLI::Option* option) const override;
    std::string make_subcommand(const CLI::App* command) const override;
};

}  // namespace ebb::cli
