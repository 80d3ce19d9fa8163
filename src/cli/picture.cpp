#include "cli/picture.h"

#include <array>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "cli/text.h"
#include "core/diagram/svg.h"

namespace ebb::cli {

namespace {

struct Ending {
    std::string_view ending;
    std::string_view format;
};

constexpr std::array<Ending, 7> kEndings{{
    {".svg", "svg"},
    {".mmd", "mermaid"},
    {".puml", "plantuml"},
    {".plantuml", "plantuml"},
    {".dot", "dot"},
    {".gv", "dot"},
    {".txt", "text"},
}};

/// Refuses a file name whose ending promises another format than the one that would be written.
void check_ending(const std::string& command, const std::string& path) {
    for (const std::string_view ending : {".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf"}) {
        if (!path.ends_with(ending)) continue;
        const std::string stem = path.substr(0, path.size() - ending.size());
        const std::string converted = stem + (ending == ".pdf" ? ".pdf" : ".png");
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "`ebb {}` does not write {} files. Write SVG (-o {}) and convert it, for "
                "example with `rsvg-convert {}-o {} {}` (Debian package librsvg2-bin).",
                command,
                ending.substr(1),
                shell_word(stem + ".svg"),
                ending == ".pdf" ? "-f pdf " : "",
                shell_word(converted),
                shell_word(stem + ".svg")
            )
        );
    }
}

}  // namespace

std::string picture_format(
    const std::string& command, const std::string& given, const std::string& output
) {
    check_ending(command, output);
    if (!given.empty()) return given;
    for (const auto& [ending, format] : kEndings) {
        if (output.ends_with(ending)) return std::string(format);
    }
    const std::string ending = std::filesystem::path(output).extension().string();
    for (const auto& [known, format] : kEndings) {
        if (output != format) continue;
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "-o names the file of the picture, and \"{0}\" is a format: use -f {0}, or -o "
                "NAME{1} for a file.",
                output,
                known
            )
        );
    }
    if (ending.empty()) return "text";
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "The ending \"{}\" of --output is not a format: use .svg, .mmd, .puml, .dot, .gv or "
            ".txt{}.",
            one_line(ending),
            command == "diagram" ? ", or give --format" : ""
        )
    );
}

std::string draw_picture(
    const Session& session, const PictureParts& picture, const std::string& format, bool is_shown
) {
    const auto& [definition, options, notes] = picture;
    if (format == "mermaid") return diagram::to_mermaid(definition, options, notes);
    if (format == "plantuml") return diagram::to_plantuml(definition, options, notes);
    if (format == "dot") return diagram::to_dot(definition, options, notes);
    if (format == "svg" && is_shown && session.options().is_json) {
        // A program may ask which node is where.
        return diagram::to_svg_with_names(definition, options, notes);
    }
    if (format == "svg") return diagram::to_svg(definition, options, notes);
    const Style& style = session.out();
    using Charset = TextStyle::Charset;
    using Colors = TextStyle::Colors;
    const TextStyle text_style{
        .charset = style.has_unicode() ? Charset::Unicode : Charset::Ascii,
        .colors = style.has_colors() && is_shown ? Colors::Ansi : Colors::None,
        .columns = is_shown ? session.columns() : 0,
    };
    return diagram::to_text(definition, options, text_style, notes);
}

}  // namespace ebb::cli
