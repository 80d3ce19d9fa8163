#include "lsp/features/request.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ebb::lsp {

std::size_t offset_in(const Document& document, const Json& params) {
    const Json& position = params.at("position");
    return document.lines().offset(
        {.line = position.at("line").get<std::size_t>(),
         .character = position.at("character").get<std::size_t>()}
    );
}

void keep_handlers(const Document& document, const std::vector<NamePlace>& places, Json& edits) {
    const yaml::LineTree& tree = document.tree();
    for (std::size_t i = 0; i < places.size(); ++i) {
        const NamePlace& place = places[i];
        if (!place.is_declaration) continue;
        const yaml::TreeNode& node = tree.at(place.node);
        const bool is_item = tree.at(node.parent).kind == yaml::TreeNode::Kind::List;
        Json& edit = edits[i];
        const std::string name = edit["newText"].get<std::string>();
        if (is_item) {
            // `- pay` becomes a map.
            edit["newText"] = fmt::format("{{step: {}, handler: {}}}", name, place.name);
            continue;
        }
        const int map = node.parent;
        if (tree.key(place.node) != "step" || tree.find(map, "handler") >= 0) continue;
        if (tree.at(map).is_flow) {
            // The quotes around the name go on around the handler's.
            const bool is_plain = node.style == model::Document::Style::Plain;
            const char quote = document.text()[place.begin - 1];
            edit["newText"] =
                is_plain ? fmt::format("{}, handler: {}", name, place.name)
                         : fmt::format("{0}{1}, {1}handler{1}: {1}{2}", name, quote, place.name);
        } else if (node.style == model::Document::Style::Plain) {
            edit["newText"] =
                fmt::format("{}\n{:{}}handler: {}", name, "", tree.at(map).indent, place.name);
        }
    }
}

}  // namespace ebb::lsp
