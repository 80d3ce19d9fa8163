#include "cli/label_argument.h"

#include <fmt/format.h>

#include <ebb/error.h>

#include "cli/text.h"
#include "core/model/label_values.h"
#include "support/clock.h"

namespace ebb::cli {

namespace {

std::string value_text(const LabelValue& value) {
    switch (value.type()) {
        case LabelType::Text:
            return one_line(value.text());
        case LabelType::Number:
            return fmt::format("{}", value.number());
        case LabelType::Bool:
            return value.boolean() ? "true" : "false";
        case LabelType::Time:
            return format_time(value.time());
    }
    return {};
}

}  // namespace

Labels read_labels(const std::vector<std::string>& arguments) {
    Labels labels;
    for (const std::string& argument : arguments) {
        const std::size_t equals = argument.find('=');
        if (equals == std::string::npos) {
            throw Error(
                ErrorCode::InvalidArgument,
                fmt::format(
                    "--label: \"{}\" is not NAME=VALUE, or NAME:TYPE=VALUE with the type text, "
                    "number, bool or time.",
                    one_line(argument)
                )
            );
        }
        const std::string head = argument.substr(0, equals);
        const std::size_t colon = head.find(':');
        const std::string name = head.substr(0, colon);
        const LabelType type = colon == std::string::npos
                                   ? LabelType::Text
                                   : parse_label_type(std::string_view(head).substr(colon + 1));
        LabelValue value = parse_label(name, type, std::string_view(argument).substr(equals + 1));
        if (!labels.emplace(name, std::move(value)).second) {
            throw Error(
                ErrorCode::InvalidArgument,
                fmt::format(
                    "--label: \"{}\" is given twice; a label has one value.", one_line(name)
                )
            );
        }
    }
    check_labels(labels);
    return labels;
}

std::string labels_text(const Labels& labels) {
    std::string text;
    for (const auto& [name, value] : labels) {
        if (!text.empty()) text += ' ';
        text += name;
        if (value.type() != LabelType::Text) text += fmt::format(":{}", to_string(value.type()));
        text += '=' + value_text(value);
    }
    return text;
}

}  // namespace ebb::cli
