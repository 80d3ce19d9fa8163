#include "view/difference_json.h"

#include <vector>

namespace ebb::view {

namespace {

using model::FieldChange;
using model::NodeChange;

Json fields_json(const std::vector<FieldChange>& fields) {
    Json list = Json::array();
    for (const FieldChange& field : fields) {
        Json json = {{"pointer", field.pointer}};
        if (field.before) json["before"] = Json::parse(*field.before);
        if (field.after) json["after"] = Json::parse(*field.after);
        list.push_back(std::move(json));
    }
    return list;
}

Json node_json(const NodeChange& change) {
    Json json = {
        {"node", change.name},
        {"kind", change.node_kind},
        {"change", model::to_string(change.kind)},
    };
    if (!change.pointer_before.empty()) json["pointer_before"] = change.pointer_before;
    if (!change.pointer_after.empty()) json["pointer_after"] = change.pointer_after;
    json["moved"] = change.is_moved;
    json["fields"] = fields_json(change.fields);
    return json;
}

}  // namespace

Json difference_json(const model::Difference& difference) {
    Json nodes = Json::array();
    for (const NodeChange& change : difference.nodes) nodes.push_back(node_json(change));
    return {
        {"equal", difference.is_empty()},
        {"needs_version", difference.needs_version},
        {"workflow", fields_json(difference.workflow)},
        {"nodes", std::move(nodes)},
    };
}

}  // namespace ebb::view
