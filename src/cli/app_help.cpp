// What `--help` prints.

#include "cli/app_help.h"

#include <algorithm>
#include <string_view>

namespace ebb::cli {

namespace {

/// A name and what it is: the words of the description fill lines that begin at one column.
std::string entry(const std::string& name, std::string_view description) {
    std::string text = "  " + name;
    const std::string margin = "\n" + std::string(HelpFormatter::kColumn, ' ');
    if (description.empty()) return text + "\n";
    if (text.size() >= HelpFormatter::kColumn) {
        text += margin;
    } else {
        text.resize(HelpFormatter::kColumn, ' ');
    }
    std::size_t column = HelpFormatter::kColumn;
    while (!description.empty()) {
        const std::string_view word = description.substr(0, description.find(' '));
        description.remove_prefix(std::min(word.size() + 1, description.size()));
        if (column > HelpFormatter::kColumn) {
            const bool fits = column + 1 + word.size() <= HelpFormatter::kWidth;
            text += fits ? " " : margin;
            column = fits ? column + 1 : HelpFormatter::kColumn;
        }
        text += word;
        column += word.size();
    }
    return text + "\n";
}

}  // namespace

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
    return entry(
        make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option)
    );
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
    std::string text;
    if (option->get_type_size() == 0) return text;
    const std::string type = option->get_type_name();
    // CLI11 gives every option that reads a text this type; the name of an argument says more.
    const bool is_named = option->get_positional() && type == "TEXT";
    if (!type.empty() && !is_named) text += " " + type;
    if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
    const bool is_list = option->get_expected_max() == CLI::detail::expected_max_vector_size;
    if (is_list && !type.ends_with("...")) text += " ...";
    if (option->get_required()) text += " REQUIRED";
    return text;
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
    return entry(command->get_display_name(true), command->get_description());
}

}  // namespace ebb::cli
