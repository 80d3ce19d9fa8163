#pragma once

#include <optional>
#include <string>
#include <vector>

#include <ebb/id.h>
#include <ebb/instance.h>
#include <ebb/status.h>

#include "core/filter/filter.h"
#include "store/retention.h"
#include "support/uuid.h"

namespace ebb {

struct InstanceRow;

/// Which instances to look for, beyond what an index finds.
struct InstanceSearch {
    /// The most that one search reads.
    static constexpr int kScanMax = 20'000;

    std::vector<InstanceStatus> statuses{};  ///< empty = all
    /// Names between commas, as InstanceQuery::workflow; empty = all but those of the system.
    std::string workflow{};
    bool has_system = false;  ///< empty `workflow` = really all
    std::optional<int> version{};
    std::string key{};
    filter::Condition where{};
    std::optional<InstanceId> before{};  ///< only ids below this one
    std::optional<InstanceId> from{};    ///< only ids from this one on
    int limit = 100;
    int scan_max = kScanMax;  ///< 1 to kScanMax: so many are read, whether they fit or not
    InstanceOrder order = InstanceOrder::NewestFirst;  ///< tally() ignores it
};

/// Of an InstanceQuery or an InstanceSearch: only what follows `last` in its order.
template <typename Wanted>
void go_on_after(Wanted& wanted, const InstanceId& last) {
    if (wanted.order == InstanceOrder::NewestFirst) {
        wanted.before = last;
    } else {
        wanted.from = next_id(last);
    }
}

struct InstanceHits {
    std::vector<InstanceRow> rows;  ///< in the order of the search
    /// Where to go on: after this id, see go_on_after(). None: there are no more.
    std::optional<InstanceId> next;
};

/// The same, counted.
struct InstanceTally {
    std::vector<StatusCount> counts;
    std::optional<InstanceId> next;  ///< go on before it
};

/// All that `search` asks for, besides the range of ids, as one condition.
filter::Condition whole_condition(const InstanceSearch& search);

/// Throws InvalidArgument for limits that are not allowed.
void check_search(const InstanceSearch& search);

}  // namespace ebb
