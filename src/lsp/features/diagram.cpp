// `ebb/diagram`: the picture of the text in the editor, also of an invalid one.

#include <nlohmann/json.hpp>

#include <ebb/diagram.h>

#include "core/model/walk.h"
#include "lsp/lsp.h"

namespace ebb::lsp {

Json Server::draw(const Json& params) {
    const Document* document = document_of(params);
    if (document == nullptr) {
        throw Error(ErrorCode::InvalidArgument, "This document is not open, or no workflow.");
    }
    const source::CheckedText& checked = document->checked(settings());
    const bool is_right = params.value("direction", std::string("down")) == "right";
    const bool is_bare = !params.value("compensations", true);
    const DiagramOptions options{
        .compensations =
            is_bare ? DiagramOptions::Compensations::Hide : DiagramOptions::Compensations::Show,
        .direction = is_right ? DiagramOptions::Direction::Right : DiagramOptions::Direction::Down,
    };
    Json nodes = Json::array();
    const model::Walk walk(checked.definition);
    for (const model::Placed& placed : walk.nodes()) {
        const int found = document->tree().find_path(placed.path);
        if (found < 0) continue;
        const yaml::TreeNode& node = document->tree().at(found);
        nodes.push_back(
            {{"path", placed.path},
             {"name", placed.node->name},
             {"range", range_json(document->lines(), node.whole.begin, node.whole.end)}}
        );
    }
    return {
        {"svg", to_svg(checked.definition, options)},
        {"nodes", std::move(nodes)},
        {"version", document->version},
        {"problems", checked.problems.size()},
    };
}

}  // namespace ebb::lsp
