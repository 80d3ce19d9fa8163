#include "view/workflow_json.h"

#include <map>

namespace ebb::view {

Json workflow_json(const WorkflowRow& row, std::span<const VersionCount> counts) {
    Json own = Json::object();
    std::map<std::string, std::int64_t> all;
    for (const VersionCount& count : counts) {
        if (count.workflow != row.name) continue;
        const std::string status(to_string(count.status));
        all[status] += count.count;
        if (count.version == row.version) own[status] = count.count;
    }
    return {
        {"name", row.name},
        {"version", row.version},
        {"checksum", row.checksum},
        {"created_at", time_json(row.created_at)},
        {"instances", std::move(own)},
        {"instances_of_all_versions", std::move(all)},
    };
}

}  // namespace ebb::view
