#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/diagram.h>

#include "cli/commands.h"
#include "cli/definition_file.h"
#include "cli/instance_ref.h"
#include "cli/output_file.h"
#include "cli/payload_argument.h"
#include "cli/report.h"
#include "cli/text.h"

namespace ebb::cli {

namespace {

struct Picture {
    Definition definition;
    DiagramOptions options;
    DefinitionFile file{};  ///< of a picture of a file, with its problems
};

Picture picture_of(Session& session, const std::string& subject) {
    if (names_file(subject)) {
        DefinitionFile file = read_definition_file(subject, session);
        // What could be read of an invalid file is drawn, too; without any node there is no
        // picture.
        const bool is_empty = file.definition.steps.empty() && !file.definition.rules;
        if (!file.problems.empty() && is_empty) throw InvalidDefinitionFile{std::move(file)};
        return {file.definition, {}, std::move(file)};
    }
    Client& engine = session.connect("diagram");
    const InstanceView view = engine.show(resolve_instance(engine, subject));
    const auto definition = engine.definition(view.summary.workflow, view.summary.version);
    return {*definition, {.marks = marks_of(view)}};
}

std::string draw(
    Session& session, const Picture& picture, const std::string& format, bool is_shown
) {
    if (format == "mermaid") return to_mermaid(picture.definition, picture.options);
    if (format == "dot") return to_dot(picture.definition, picture.options);
    if (format == "svg") return to_svg(picture.definition, picture.options);
    const Style& style = session.out();
    using Charset = TextStyle::Charset;
    using Colors = TextStyle::Colors;
    const TextStyle text_style{
        .charset = style.has_unicode() ? Charset::Unicode : Charset::Ascii,
        .colors = style.has_colors() && is_shown ? Colors::Ansi : Colors::None,
    };
    return to_text(picture.definition, picture.options, text_style);
}

/// Refuses a file name whose ending promises another format than the one that would be written.
void check_ending(const std::string& path) {
    for (const std::string_view ending : {".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf"}) {
        if (!path.ends_with(ending)) continue;
        const std::string stem = path.substr(0, path.size() - ending.size());
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "`ebb diagram` does not write {} files. Write SVG (-o {}) and convert it, for "
                "example with `rsvg-convert {}-o {} {}` (Debian package librsvg2-bin).",
                ending.substr(1),
                shell_word(stem + ".svg"),
                ending == ".pdf" ? "-f pdf " : "",
                shell_word(path),
                shell_word(stem + ".svg")
            )
        );
    }
}

std::string format_for(const DiagramCommandOptions& options) {
    check_ending(options.output);
    if (!options.format.empty()) return options.format;
    if (options.output.ends_with(".svg")) return "svg";
    if (options.output.ends_with(".dot") || options.output.ends_with(".gv")) return "dot";
    if (options.output.ends_with(".mmd")) return "mermaid";
    const std::string ending = std::filesystem::path(options.output).extension().string();
    if (ending.empty() || ending == ".txt") return "text";
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "The ending \"{}\" of --output is not a format: use .svg, .mmd, .dot, .gv or .txt, or "
            "give --format.",
            one_line(ending)
        )
    );
}

}  // namespace

int draw_diagram(Session& session, const DiagramCommandOptions& options) {
    const std::string format = format_for(options);
    const Picture picture = picture_of(session, options.subject);
    const std::string text = draw(session, picture, format, options.output.empty());
    if (!options.output.empty()) {
        write_file(options.output, text);
        session.note(fmt::format("Wrote {}\n", one_line(options.output)));
    } else if (session.options().is_json) {
        session.print_json({{"format", format}, {"diagram", text}});
    } else {
        session.print(text);
    }
    if (picture.file.problems.empty()) return kOk;
    return report_invalid_file(session, picture.file);
}

}  // namespace ebb::cli
