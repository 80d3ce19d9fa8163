#include "ebb/sqlite/admin_sql.h"
#include "store/admin_store.h"
#include "store/names.h"
#include "store/sqlite/database.h"
#include "store/sqlite/rows.h"
#include "support/sync.h"

namespace ebb {

namespace {

using sqlite::Database;
using sqlite::OrNull;
using sqlite::Query;
namespace admin_sql = sqlite::admin_sql;

constexpr int kBusyTimeoutMs = 10'000;

/// One connection of its own: an administrator's writes are rare and small.
class SqliteAdminStore : public AdminStore {
 public:
    explicit SqliteAdminStore(const std::string& path)
        : database_(path, Database::Access::ReadWrite, kBusyTimeoutMs) {
        database_.execute(admin_sql::make_admin);
        database_.execute(admin_sql::make_audit);
        database_.execute(admin_sql::index_audit);
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

    bool change(const AdminRow& row) override {
        const Lock lock(mutex_);
        Query query(
            database_, admin_sql::change_admin, row.kind, row.name, row.document, row.expires_at
        );
        return query.run() > 0;
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

    void append_audit(std::span<const AuditRow> rows) override {
        const Lock lock(mutex_);
        sqlite::WriteTransaction transaction(database_);
        for (const AuditRow& row : rows) add(database_, row);
        transaction.commit();
    }

    std::vector<AuditRow> list_audit(const AuditQuery& query) override {
        const Lock lock(mutex_);
        // '~' is greater than every id.
        const std::string_view place =
            query.place.empty() && !query.is_forward ? std::string_view("~") : query.place;
        const std::string names =
            query.workflows.empty() ? "" : sqlite::names_to_json(split_names(query.workflows));
        const OrNull principal(query.principal);
        const OrNull action(query.action);
        const OrNull target(query.target);
        const OrNull workflows(names);
        Query found(
            database_,
            query.is_forward ? admin_sql::list_audit_forward : admin_sql::list_audit_backward,
            place,
            principal,
            action,
            target,
            workflows,
            query.since,
            query.limit
        );
        std::vector<AuditRow> rows;
        while (found.step()) rows.push_back(audit_row_of(found));
        return rows;
    }

    std::int64_t remove_audit(std::string_view id) override {
        const Lock lock(mutex_);
        return Query(database_, admin_sql::remove_audit, id).run();
    }

 private:
    static void add(Database& database, const AuditRow& row) {
        Query(
            database,
            admin_sql::add_audit,
            row.id,
            row.at,
            row.principal,
            row.credential,
            row.remote,
            row.request_id,
            row.action,
            row.target,
            row.workflow,
            row.outcome,
            row.detail,
            row.chain,
            row.number,
            row.prev,
            row.hash
        )
            .run();
    }

    static AuditRow audit_row_of(const Query& query) {
        const auto text = [&](int column) { return std::string(query.text(column)); };
        return {
            .id = text(0),
            .at = query.time(1),
            .principal = text(2),
            .credential = text(3),
            .remote = text(4),
            .request_id = text(5),
            .action = text(6),
            .target = text(7),
            .workflow = text(8),
            .outcome = text(9),
            .detail = text(10),
            .chain = text(11),
            .number = query.integer(12),
            .prev = text(13),
            .hash = text(14),
        };
    }

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
