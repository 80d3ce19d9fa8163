#include "ebb/postgres/admin_sql.h"
#include "store/admin_store.h"
#include "store/postgres/pooled.h"

namespace ebb {

namespace {

using postgres::Arguments;
using postgres::Connection;
using postgres::Result;
namespace admin_sql = postgres::admin_sql;

/// Few connections of its own: an administrator's reads and writes are rare and small.
PostgresOptions small_pool(PostgresOptions options) {
    options.connections_max = 2;
    return options;
}

class PostgresAdminStore : public AdminStore, private postgres::Pooled {
 public:
    explicit PostgresAdminStore(const PostgresOptions& options)
        : postgres::Pooled(small_pool(options)) {
        if (!read(admin_sql::has_admin, {}).is_empty()) return;
        perform(Repeat::Freely, [](Connection& connection) {
            connection.run(admin_sql::make_admin, {});
            return true;
        });
    }

    bool add(const AdminRow& row) override {
        return !read(admin_sql::add_admin, arguments_of(row)).is_empty();
    }

    void put(const AdminRow& row) override { read(admin_sql::put_admin, arguments_of(row)); }

    std::optional<AdminRow> find(std::string_view kind, std::string_view name) override {
        const Result rows = read(admin_sql::find_admin, Arguments::of(kind, name));
        if (rows.is_empty()) return std::nullopt;
        return row_of(kind, rows, 0);
    }

    std::vector<AdminRow> list(std::string_view kind) override {
        const Result rows = read(admin_sql::list_admin, Arguments::of(kind));
        std::vector<AdminRow> found;
        for (int row = 0; row < rows.rows(); ++row) found.push_back(row_of(kind, rows, row));
        return found;
    }

    bool remove(std::string_view kind, std::string_view name) override {
        // Not repeated if its answer was lost: the second time it would find nothing.
        return perform(Repeat::IsInDoubt, [&](Connection& connection) {
            return !connection.run(admin_sql::remove_admin, Arguments::of(kind, name)).is_empty();
        });
    }

    void remove_expired(TimePoint now) override {
        read(admin_sql::expire_admin, Arguments::of(now));
    }

 private:
    static Arguments arguments_of(const AdminRow& row) {
        return Arguments::of(row.kind, row.name, row.document, row.expires_at);
    }

    static AdminRow row_of(std::string_view kind, const Result& rows, int row) {
        return {
            std::string(kind),
            std::string(rows.text(row, 0)),
            std::string(rows.text(row, 1)),
            rows.time(row, 2),
        };
    }
};

}  // namespace

std::unique_ptr<AdminStore> open_postgres_admin_store(const PostgresOptions& options) {
    return std::make_unique<PostgresAdminStore>(options);
}

}  // namespace ebb
