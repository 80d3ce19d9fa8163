#pragma once

#include <functional>
#include <string_view>

#include "cli/client.h"
#include "cli/options.h"
#include "cli/session.h"

namespace ebb::cli {

/// A verb for all instances that a filter holds for.
struct BulkVerb {
    std::string_view name;  ///< `cancel`
    std::string_view done;  ///< `Cancelled`
    /// Returns whether it has changed anything.
    std::function<bool(const InstanceId&)> act;
    // For the histories, if a server acts.
    std::string by{};
    std::string reason{};
};

/// Goes through the instances by pages, the newest first. Only those that were started before it
/// began are concerned. An instance that cannot do it is counted as skipped. Ctrl-C ends it between
/// two instances: it may be repeated. With --detach a server does all of it, and the id of the
/// operation is printed.
int run_bulk(Session& session, Client& client, const BulkOptions& options, const BulkVerb& verb);

/// Throws InvalidArgument if a command has neither instances nor a filter.
void check_named(
    const std::vector<std::string>& instances, const BulkOptions& options, std::string_view verb
);

}  // namespace ebb::cli
