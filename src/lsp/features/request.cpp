#include "lsp/features/request.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ebb::lsp {

std::size_t offset_at(const Document& document, const Json& position) {
    return document.lines().offset(
        {.line = position.at("line").get<std::size_t>(),
         .character = position.at("character").get<std::size_t>()}
    );
}

std::size_t offset_in(const Document& document, const Json& params) {
    return offset_at(document, params.at("position"));
}

std::string step_with_handler(
    const Document& document,
    const NamePlace& place,
    const std::string& name,
    const std::string& handler
) {
    const yaml::LineTree& tree = document.tree();
    const yaml::TreeNode& node = tree.at(place.node);
    const bool is_plain = node.style == model::Document::Style::Plain;
    if (tree.at(node.parent).kind == yaml::TreeNode::Kind::List) {
        // `- pay` becomes a map; the quotes of `- "pay"` would be around it.
        return is_plain ? fmt::format("{{step: {}, handler: {}}}", name, handler) : std::string();
    }
    const int map = node.parent;
    if (tree.key(place.node) != "step" || tree.find(map, "handler") >= 0) return {};
    // The quotes around the name go on around the handler's.
    const std::string quote = is_plain ? "" : document.text().substr(place.begin - 1, 1);
    if (tree.at(map).is_flow) {
        return fmt::format("{0}{1}, {1}handler{1}: {1}{2}", name, quote, handler);
    }
    return fmt::format(
        "{0}{1}\n{2:{3}}handler: {1}{4}", name, quote, "", tree.at(map).indent, handler
    );
}

void keep_handlers(const Document& document, const std::vector<NamePlace>& places, Json& edits) {
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (!places[i].is_declaration) continue;
        const std::string name = edits[i]["newText"].get<std::string>();
        std::string both = step_with_handler(document, places[i], name, places[i].name);
        if (!both.empty()) edits[i]["newText"] = std::move(both);
    }
}

}  // namespace ebb::lsp
