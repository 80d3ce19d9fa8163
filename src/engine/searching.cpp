// Instances by a filter, and verbs for many of them.

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "core/filter/filter.h"
#include "engine/core.h"
#include "engine/view.h"

namespace ebb {

namespace {

constexpr int kPageMax = 1'000;

/// What the options ask for but for their filter, as an InstanceQuery or an InstanceSearch.
template <typename Wanted>
Wanted unfiltered(const ListOptions& options) {
    Wanted wanted{
        .statuses = options.statuses,
        .workflow = options.workflow,
        .version = options.version,
        .key = options.key,
        .before = options.before,
        .limit = options.limit,
        .order = options.order,
    };
    if (options.after) wanted.from = next_id(*options.after);
    return wanted;
}

InstanceSearch search_of(const ListOptions& options, TimePoint now) {
    if (options.limit < 1 || options.limit > kPageMax) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("The limit {} must be from 1 to {}.", options.limit, kPageMax)
        );
    }
    auto search = unfiltered<InstanceSearch>(options);
    if (!options.where.empty()) search.where = filter::compile(options.where, now);
    return search;
}

/// Whether the next instance may nevertheless do it.
bool concerns_one(ErrorCode code) {
    constexpr std::array kCodes = {
        ErrorCode::InstanceNotFound,
        ErrorCode::InvalidState,
        ErrorCode::NotWaiting,
        ErrorCode::NotAllowed,
        ErrorCode::RevisionChanged,
        ErrorCode::CorruptState,
        ErrorCode::LimitExceeded,
    };
    return std::find(kCodes.begin(), kCodes.end(), code) != kCodes.end();
}

}  // namespace

InstanceQuery engine::query_of(const ListOptions& options) {
    return unfiltered<InstanceQuery>(options);
}

InstancePage Engine::list_page(const ListOptions& options) {
    engine::Environment& environment = core_->environment;
    const InstanceHits hits = environment.store.search(search_of(options, environment.now()));
    InstancePage page{.instances = {}, .next = hits.next};
    for (const InstanceRow& row : hits.rows) page.instances.push_back(engine::to_summary(row));
    return page;
}

std::vector<InstanceCount> Engine::count(const ListOptions& options) {
    engine::Environment& environment = core_->environment;
    InstanceSearch search = search_of(options, environment.now());
    std::map<std::pair<std::string, InstanceStatus>, std::int64_t> counts;
    do {
        const InstanceTally tally = environment.store.tally(search);
        for (const StatusCount& count : tally.counts) {
            counts[{count.workflow, count.status}] += count.count;
        }
        search.before = tally.next;
    } while (search.before);
    std::vector<InstanceCount> result;
    for (const auto& [key, count] : counts) {
        result.push_back({.workflow = key.first, .status = key.second, .count = count});
    }
    return result;
}

BulkPage Engine::for_page(
    const ListOptions& options, const std::function<bool(const InstanceId&)>& verb
) {
    const InstancePage page = list_page(options);
    BulkPage result{.next = page.next};
    for (const InstanceSummary& summary : page.instances) {
        try {
            ++(verb(summary.id) ? result.done : result.unchanged);
        } catch (const Error& error) {
            if (!concerns_one(error.code())) throw;
            result.skipped.push_back({summary.id, error.code(), error.what()});
        }
    }
    return result;
}

}  // namespace ebb
