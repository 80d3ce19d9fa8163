#include "ebb/sqlite/admin_sql.h"
#include "store/admin_store.h"
#include "store/sqlite/database.h"
#include "support/sync.h"

namespace ebb {

namespace {

using sqlite::Database;
using sqlite::Query;
namespace admin_sql = sqlite::admin_sql;

constexpr int kBusyTimeoutMs = 10'000;

/// One connection of its own: an administrator's writes are rare and small.
class SqliteAdminStore : public AdminStore {
 public:
    explicit SqliteAdminStore(const std::string& path)
        : database_(path, Database::Access::ReadWrite, kBusyTimeoutMs) {
        database_.execute(admin_sql::make_admin);
    }

    bool add(const AdminRow& row) override {
        const Lock lock(mutex_);
        Query query(
            database_, admin_sql::add_admin, row.kind, row.name, row.document, row.expires_at
        );
        return query.run() > 0;
    }

    void put(const AdminRow& row) override {
        const Lock lock(mutex_);
        Query(database_, admin_sql::put_admin, row.kind, row.name, row.document, row.expires_at)
            .run();
    }

    std::optional<AdminRow> find(std::string_view kind, std::string_view name) override {
        const Lock lock(mutex_);
        Query query(database_, admin_sql::find_admin, kind, name);
        if (!query.step()) return std::nullopt;
        return row_of(kind, query);
    }

    std::vector<AdminRow> list(std::string_view kind) override {
        const Lock lock(mutex_);
        std::vector<AdminRow> rows;
        Query query(database_, admin_sql::list_admin, kind);
        while (query.step()) rows.push_back(row_of(kind, query));
        return rows;
    }

    bool remove(std::string_view kind, std::string_view name) override {
        const Lock lock(mutex_);
        return Query(database_, admin_sql::remove_admin, kind, name).run() > 0;
    }

    void remove_expired(TimePoint now) override {
        const Lock lock(mutex_);
        Query(database_, admin_sql::expire_admin, now).run();
    }

 private:
    static AdminRow row_of(std::string_view kind, const Query& query) {
        return {
            std::string(kind),
            std::string(query.text(0)),
            std::string(query.text(1)),
            query.time(2),
        };
    }

    Mutex mutex_;
    Database database_ EBB_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<AdminStore> open_sqlite_admin_store(const std::string& path) {
    return std::make_unique<SqliteAdminStore>(path);
}

}  // namespace ebb
