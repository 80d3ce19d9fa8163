#include <map>
#include <utility>

#include "store/admin_store.h"
#include "store/names.h"
#include "support/sync.h"

namespace ebb {

namespace {

class MemoryAdminStore : public AdminStore {
 public:
    bool add(const AdminRow& row) override {
        const Lock lock(mutex_);
        return rows_.emplace(std::pair(row.kind, row.name), row).second;
    }

    void put(const AdminRow& row) override {
        const Lock lock(mutex_);
        rows_.insert_or_assign(std::pair(row.kind, row.name), row);
    }

    bool change(const AdminRow& row) override {
        const Lock lock(mutex_);
        const auto found = rows_.find({row.kind, row.name});
        if (found == rows_.end()) return false;
        found->second = row;
        return true;
    }

    std::optional<AdminRow> find(std::string_view kind, std::string_view name) override {
        const Lock lock(mutex_);
        const auto found = rows_.find({std::string(kind), std::string(name)});
        if (found == rows_.end()) return std::nullopt;
        return found->second;
    }

    std::vector<AdminRow> list(std::string_view kind) override {
        const Lock lock(mutex_);
        std::vector<AdminRow> found;
        for (const auto& [key, row] : rows_) {
            if (key.first == kind) found.push_back(row);
        }
        return found;
    }

    bool remove(std::string_view kind, std::string_view name) override {
        const Lock lock(mutex_);
        return rows_.erase({std::string(kind), std::string(name)}) > 0;
    }

    void remove_expired(TimePoint now) override {
        const Lock lock(mutex_);
        std::erase_if(rows_, [&](const auto& entry) { return entry.second.expires_at < now; });
    }

    void append_audit(std::span<const AuditRow> rows) override {
        const Lock lock(mutex_);
        for (const AuditRow& row : rows) audit_.emplace(row.id, row);
    }

    std::vector<AuditRow> list_audit(const AuditQuery& query) override {
        const Lock lock(mutex_);
        std::vector<AuditRow> found;
        const auto take = [&](const AuditRow& row) {
            if (std::ssize(found) < query.limit && matches(query, row)) found.push_back(row);
        };
        if (query.is_forward) {
            for (auto at = audit_.upper_bound(query.place); at != audit_.end(); ++at) {
                take(at->second);
            }
            return found;
        }
        auto at = query.place.empty() ? audit_.end() : audit_.lower_bound(query.place);
        while (at != audit_.begin()) take((--at)->second);
        return found;
    }

    std::int64_t remove_audit(std::string_view id) override {
        const Lock lock(mutex_);
        const std::string last(id);
        return static_cast<std::int64_t>(std::erase_if(audit_, [&](const auto& entry) {
            return entry.first <= last;
        }));
    }

 private:
    static bool matches(const AuditQuery& query, const AuditRow& row) {
        const auto fits = [](const std::string& wanted, const std::string& value) {
            return wanted.empty() || wanted == value;
        };
        return fits(query.principal, row.principal) && fits(query.action, row.action) &&
               fits(query.target, row.target) && row.at >= query.since &&
               passes_names(query.workflows, row.workflow);
    }

    Mutex mutex_;
    std::map<std::string, AuditRow> audit_ EBB_GUARDED_BY(mutex_);
    std::map<std::pair<std::string, std::string>, AdminRow> rows_ EBB_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<AdminStore> make_memory_admin_store() {
    return std::make_unique<MemoryAdminStore>();
}

}  // namespace ebb
