#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/api/query.h"
#include "server/api/service.h"
#include "view/outline.h"

namespace ebb::server {

/// Where an instance stands: what it waits for, at which node, and which worker runs it. No index
/// has this, so it is looked at instance by instance. Only instances that have not ended stand
/// anywhere.
class Standing {
 public:
    /// The parameters `waiting`, `node` and `worker`. Throws Problem.
    static Standing read(Query& query);

    /// Whether every instance will do.
    bool is_empty() const { return waiting_.empty() && !node_ && !worker_; }

    /// Reads at once what holds() needs of these rows.
    void look_at(Service& service, const std::vector<InstanceRow>& rows);
    bool holds(const InstanceRow& row);

 private:
    std::vector<std::string> waiting_;  ///< kinds; empty = any
    std::optional<std::string> node_;
    std::optional<std::string> worker_;
    std::unique_ptr<view::Outliner> outliner_;
    std::set<InstanceId> held_;  ///< by the worker
};

}  // namespace ebb::server
