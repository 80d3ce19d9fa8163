// `ebb/diagram`: the picture of the text in the editor, also of an invalid one.

#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include <ebb/diagram.h>

#include "core/model/walk.h"
#include "lsp/features/cpp.h"
#include "lsp/features/names.h"
#include "lsp/features/picture.h"
#include "lsp/lsp.h"

namespace ebb::lsp {

namespace {

/// Where the nodes are in the text as it is written: branches can be a map or a list there.
class NodePlaces {
 public:
    explicit NodePlaces(const Document& document) : document_(document), tree_(document.tree()) {}

    Json run(const Definition& definition) {
        for (const NamePlace& place : names_of(tree_)) {
            if (place.kind != NameKind::Node || !place.is_declaration) continue;
            const int parent = tree_.at(place.node).parent;
            const bool is_item = tree_.at(parent).kind == yaml::TreeNode::Kind::List;
            add(place.name, is_item ? place.node : parent);
        }
        const model::Walk walk(definition);
        for (const model::Placed& placed : walk.nodes()) {
            if (!known_.contains(placed.node->name)) {
                add(placed.node->name, tree_.find_path(placed.path));
            }
        }
        return std::move(nodes_);
    }

 private:
    const Document& document_;
    const yaml::LineTree& tree_;
    std::set<std::string, std::less<>> known_;
    Json nodes_ = Json::array();

    void add(const std::string& name, int node) {
        if (node < 0) return;
        known_.insert(name);
        const yaml::TreeRange& range = tree_.at(node).whole;
        nodes_.push_back(
            {{"path", tree_.path(node)},
             {"name", name},
             {"range", range_json(document_.lines(), range.begin, range.end)}}
        );
    }
};

}  // namespace

Json Server::draw(const Json& params) {
    Document* document = either_document_of(params);
    if (document == nullptr) {
        throw Error(ErrorCode::InvalidArgument, "This document is not open, or no workflow.");
    }
    document->is_drawn = true;
    document->is_picture_old = false;
    const bool is_right = params.value("direction", std::string("down")) == "right";
    const bool is_bare = !params.value("compensations", true);
    const DiagramOptions options{
        .compensations =
            is_bare ? DiagramOptions::Compensations::Hide : DiagramOptions::Compensations::Show,
        .direction = is_right ? DiagramOptions::Direction::Right : DiagramOptions::Direction::Down,
    };
    if (document->is_cpp()) return cpp_diagram_json(*document, params, options);
    const source::CheckedText& checked = document->checked(settings());
    Json answer = {
        {"nodes", NodePlaces(*document).run(checked.definition)},
        {"version", document->version},
        {"problems", checked.problems.size()},
    };
    add_picture(answer, params, {.definition = checked.definition, .options = options});
    return answer;
}

}  // namespace ebb::lsp
