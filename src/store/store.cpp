#include "store/store.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <ebb/store.h>

namespace ebb {

namespace {

// Keeps the rank of "never" and of absurd times clear of overflow whatever the priority is.
constexpr std::int64_t kRankBound = std::int64_t{1} << 61;

}  // namespace

std::int64_t rank_of(TimePoint due, int priority) {
    const std::int64_t at = std::clamp(due.time_since_epoch().count(), -kRankBound, kRankBound);
    return at - std::int64_t{priority} * kHeadStartPerPriority.count();
}

std::vector<VersionCount> Store::count_versions() {
    constexpr int kPage = 1'000;
    std::map<std::tuple<std::string, int, InstanceStatus>, std::int64_t> counts;
    InstanceQuery query{.limit = kPage};
    while (true) {
        const std::vector<InstanceRow> page = list(query);
        for (const InstanceRow& row : page) counts[{row.workflow, row.version, row.status}] += 1;
        if (std::ssize(page) < kPage) break;
        query.before = page.back().id;
    }
    std::vector<VersionCount> result;
    for (const auto& [key, count] : counts) {
        result.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), count});
    }
    return result;
}

void StoreDeleter::operator()(Store* store) const noexcept {
    delete store;
}

}  // namespace ebb
