#include "lsp/features/picture.h"

#include <nlohmann/json.hpp>

#include "core/diagram/svg.h"

namespace ebb::lsp {

void add_picture(Json& answer, const Json& params, const Picture& picture) {
    const auto& [definition, options, notes] = picture;
    const std::string format = params.value("format", std::string("svg"));
    if (format == "svg") {
        answer["svg"] = diagram::to_svg_with_names(definition, options, notes);
    } else if (format == "mermaid") {
        answer["text"] = diagram::to_mermaid(definition, options, notes);
    } else if (format == "plantuml") {
        answer["text"] = diagram::to_plantuml(definition, options, notes);
    } else if (format == "dot") {
        answer["text"] = diagram::to_dot(definition, options, notes);
    } else if (format == "text") {
        answer["text"] = diagram::to_text(definition, options, {}, notes);
    } else {
        throw Error(
            ErrorCode::InvalidArgument,
            "The format of a picture is svg, mermaid, plantuml, dot or text."
        );
    }
}

}  // namespace ebb::lsp
