#pragma once

#include "cli/session.h"
#include "view/activity_counts.h"
#include "view/payload_json.h"

namespace ebb::cli {

struct ActivityOptions {
    bool is_wanted = false;
    view::ActivityQuery query{};       ///< its step is not set
    Duration step = Duration::zero();  ///< zero = the narrowest that fits
};

/// What every Client can do, too: say what started and ended.
class ActivitySource {
 public:
    virtual ~ActivitySource() = default;

    /// As the API shows it. Of a database it counts until all is counted, or for some seconds.
    virtual view::Json activity(const view::ActivityQuery& query) = 0;
};

int print_activity(Session& session, const ActivityOptions& options);

}  // namespace ebb::cli
