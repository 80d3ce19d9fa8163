#pragma once

#include <vector>

#include <ebb/engine.h>

namespace ebb::cli {

/// Of an Engine or a Client: all events after `after`, page by page; at most `limit` when it is
/// given (> 0).
template <typename Source>
std::vector<HistoryEntry> read_history(
    Source& engine, const InstanceId& id, std::int64_t after, int limit = 0
) {
    constexpr int kPage = 1'000;
    std::vector<HistoryEntry> events;
    while (true) {
        const int left = limit > 0 ? limit - static_cast<int>(events.size()) : kPage;
        const int wanted = left < kPage ? left : kPage;
        if (wanted == 0) return events;
        auto page = engine.history(id, after, wanted);
        const bool is_last = static_cast<int>(page.size()) < wanted;
        for (HistoryEntry& entry : page) events.push_back(std::move(entry));
        if (is_last) return events;
        after = events.back().seq;
    }
}

}  // namespace ebb::cli
