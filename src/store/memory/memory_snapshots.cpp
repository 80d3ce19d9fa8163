#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <ebb/snapshot_store.h>

#include "store/snapshot_rows.h"
#include "support/clock.h"
#include "support/sync.h"

namespace ebb::stateless {

namespace {

/// A map behind a mutex: the model of the other snapshot stores.
class MemorySnapshotStore final : public SnapshotStore {
 public:
    explicit MemorySnapshotStore(const SnapshotStoreOptions& options) : SnapshotStore(options) {}

 private:
    SaveResult insert_row(const Row& row) override {
        const Lock lock(mutex_);
        const TimePoint now = this->now();
        if (StoredSnapshot* there = find_live(row.info.id, now)) return compare(*there, row);
        return put(row, now, now);
    }

    SaveResult update_row(const Row& row, std::int64_t expected_version) override {
        const Lock lock(mutex_);
        const TimePoint now = this->now();
        const StoredSnapshot* there = find_live(row.info.id, now);
        if (there == nullptr) return {SaveResult::Kind::NotFound, {}};
        const bool is_expected =
            there->info.version == expected_version && there->info.run_id == row.info.run_id;
        if (!is_expected) return compare(*there, row);
        return put(row, there->info.created_at, now);
    }

    std::optional<StoredSnapshot> find_row(std::string_view id) override {
        const Lock lock(mutex_);
        const StoredSnapshot* there = find_live(id, now());
        return there == nullptr ? std::nullopt : std::optional(*there);
    }

    SaveResult remove_row(std::string_view id, const Expected& expected) override {
        const Lock lock(mutex_);
        const StoredSnapshot* there = find_live(id, now());
        if (there == nullptr) return {SaveResult::Kind::NotFound, {}};
        SaveResult result{SaveResult::Kind::Saved, there->info};
        if (!is_expected(there->info, expected.version, expected.run_id)) {
            result.kind = SaveResult::Kind::Conflict;
            return result;
        }
        rows_.erase(rows_.find(id));
        return result;
    }

    std::vector<SnapshotInfo> list_rows(const SnapshotQuery& query) override {
        const Lock lock(mutex_);
        const TimePoint now = this->now();
        std::vector<SnapshotInfo> found;
        for (auto row = rows_.upper_bound(query.after); row != rows_.end(); ++row) {
            if (found.size() == static_cast<std::size_t>(query.limit)) break;
            const SnapshotInfo& info = row->second.info;
            if (info.expires_at <= now) continue;
            if (query.status.value_or(info.status) == info.status) found.push_back(info);
        }
        return found;
    }

    std::vector<SnapshotInfo> due_rows(const DueQuery& query) override {
        const Lock lock(mutex_);
        const TimePoint now = this->now();
        const auto place = [&](const SnapshotInfo& info) {
            return std::tie(query.retries_only ? info.next_retry_at : info.next_due_at, info.id);
        };
        std::vector<SnapshotInfo> found;
        for (const auto& [id, row] : rows_) {
            const bool is_due = std::get<0>(place(row.info)) <= now && row.info.expires_at > now &&
                                row.info.updated_at <= now - query.idle_for;
            const bool is_behind = query.after_id.empty() ||
                                   place(row.info) > std::tie(query.after_due, query.after_id);
            if (is_due && is_behind) found.push_back(row.info);
        }
        std::sort(found.begin(), found.end(), [&](const auto& left, const auto& right) {
            return place(left) < place(right);
        });
        if (found.size() > static_cast<std::size_t>(query.limit)) {
            found.resize(static_cast<std::size_t>(query.limit));
        }
        return found;
    }

    int purge_rows(int limit) override {
        const Lock lock(mutex_);
        const TimePoint now = this->now();
        std::vector<std::pair<TimePoint, std::string>> over;
        for (const auto& [id, row] : rows_) {
            if (row.info.expires_at <= now) over.emplace_back(row.info.expires_at, id);
        }
        std::sort(over.begin(), over.end());
        const std::size_t count = std::min(over.size(), static_cast<std::size_t>(limit));
        for (std::size_t i = 0; i < count; ++i) rows_.erase(over[i].second);
        return static_cast<int>(count);
    }

    TimePoint now() const {
        return options().clock != nullptr ? options().clock->now() : clock_.now();
    }

    StoredSnapshot* find_live(std::string_view id, TimePoint now) EBB_REQUIRES(mutex_) {
        const auto found = rows_.find(id);
        return found == rows_.end() || found->second.info.expires_at <= now ? nullptr
                                                                            : &found->second;
    }

    SaveResult put(const Row& row, TimePoint created_at, TimePoint now) EBB_REQUIRES(mutex_) {
        StoredSnapshot& stored = rows_[row.info.id];
        stored = {row.info, row.json};
        stored.info.created_at = created_at;
        stored.info.updated_at = now;
        stored.info.expires_at = row.keep_for ? now + *row.keep_for : kNever;
        return {SaveResult::Kind::Saved, stored.info};
    }

    static SaveResult compare(const StoredSnapshot& there, const Row& row) {
        return unwritten(row.info, there.info);
    }

    const SystemClock clock_;
    Mutex mutex_;
    std::map<std::string, StoredSnapshot, std::less<>> rows_ EBB_GUARDED_BY(mutex_);
};

}  // namespace

SnapshotStorePtr open_memory_snapshot_store(const SnapshotStoreOptions& options) {
    return std::make_unique<MemorySnapshotStore>(options);
}

}  // namespace ebb::stateless
