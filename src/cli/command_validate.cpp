#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/diagram.h>

#include "cli/commands.h"
#include "cli/report.h"
#include "view/problem_json.h"

namespace ebb::cli {

namespace {

nlohmann::ordered_json file_json(const DefinitionFile& file) {
    const bool is_valid = file.problems.empty();
    nlohmann::ordered_json json = {{"file", file.path}, {"valid", is_valid}};
    json["workflow"] = is_valid ? nlohmann::ordered_json(file.definition.name) : nullptr;
    json["version"] = is_valid ? nlohmann::ordered_json(file.definition.version) : nullptr;
    json["problems"] = view::problems_json(file.problems);
    return json;
}

TextStyle text_style(const Style& style) {
    return {
        .charset = style.has_unicode() ? TextStyle::Charset::Unicode : TextStyle::Charset::Ascii,
        .colors = style.has_colors() ? TextStyle::Colors::Ansi : TextStyle::Colors::None,
    };
}

void tell(Session& session, const DefinitionFile& file) {
    if (file.problems.empty()) {
        const Style& style = session.out();
        session.print(fmt::format(
            "{} {}: {} v{} is valid\n",
            style.paint(Style::Color::Green, style.glyphs().done),
            file.path,
            file.definition.name,
            file.definition.version
        ));
        if (!session.options().is_quiet)
            session.print(to_text(file.definition, {}, text_style(style)));
        return;
    }
    std::string text;
    for (const Diagnostic& problem : file.problems) {
        text += diagnostic_text(file, problem, session.err());
    }
    session.streams().err.write(text);
}

}  // namespace

int validate_files(Session& session, const ValidateOptions& options) {
    nlohmann::ordered_json report = nlohmann::ordered_json::array();
    std::size_t problems = 0;
    for (const std::string& path : options.files) {
        DefinitionFile file = read_definition_file(path, session);
        check_types(file, session);
        problems += file.problems.size();
        if (session.options().is_json) {
            report.push_back(file_json(file));
        } else {
            tell(session, file);
        }
    }
    if (session.options().is_json) {
        session.print_json(report);
    } else if (problems > 0) {
        session.note(fmt::format("{} problem{}\n", problems, problems == 1 ? "" : "s"));
    }
    return problems == 0 ? kOk : kUsage;
}

}  // namespace ebb::cli
