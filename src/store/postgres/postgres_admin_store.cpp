#include "ebb/postgres/admin_sql.h"
#include "store/admin_store.h"
#include "store/names.h"
#include "store/postgres/pooled.h"

namespace ebb {

namespace {

using postgres::Arguments;
using postgres::Connection;
using postgres::OrNull;
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
        if (read(admin_sql::has_admin, {}).is_empty()) make(admin_sql::make_admin);
        if (!read(admin_sql::has_audit, {}).is_empty()) return;
        make(admin_sql::make_audit);
        make(admin_sql::index_audit);
    }

    bool add(const AdminRow& row) override {
        return !read(admin_sql::add_admin, arguments_of(row)).is_empty();
    }

    void put(const AdminRow& row) override { read(admin_sql::put_admin, arguments_of(row)); }

    bool change(const AdminRow& row) override {
        return !read(admin_sql::change_admin, arguments_of(row)).is_empty();
    }

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

    void append_audit(std::span<const AuditRow> rows) override {
        std::vector<Arguments> arguments;
        for (const AuditRow& row : rows) arguments.push_back(arguments_of(row));
        std::vector<postgres::Call> calls;
        calls.reserve(arguments.size());
        for (const Arguments& each : arguments) calls.push_back({admin_sql::add_audit, each});
        // A repetition changes nothing: ids are unique.
        perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
    }

    std::vector<AuditRow> list_audit(const AuditQuery& query) override {
        // '~' is greater than every id.
        const std::string_view place =
            query.place.empty() && !query.is_forward ? std::string_view("~") : query.place;
        Arguments arguments = Arguments::of(
            place, OrNull(query.principal), OrNull(query.action), OrNull(query.target)
        );
        const postgres::Array workflows = postgres::texts_of(split_names(query.workflows));
        if (workflows.size() == 0) {
            arguments.add_null();
        } else {
            arguments.add(workflows);
        }
        arguments.add(query.since);
        arguments.add(std::int64_t{query.limit});
        const Result found = read(
            query.is_forward ? admin_sql::list_audit_forward : admin_sql::list_audit_backward,
            arguments
        );
        std::vector<AuditRow> rows;
        for (int row = 0; row < found.rows(); ++row) rows.push_back(audit_row_of(found, row));
        return rows;
    }

    std::int64_t remove_audit(std::string_view id) override {
        return perform(Repeat::Freely, [&](Connection& connection) {
            return std::int64_t{connection.run(admin_sql::remove_audit, Arguments::of(id)).rows()};
        });
    }

 private:
    void make(std::string_view statement) {
        perform(Repeat::Freely, [&](Connection& connection) {
            connection.run(statement, {});
            return true;
        });
    }

    static Arguments arguments_of(const AuditRow& row) {
        return Arguments::of(
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
        );
    }

    static AuditRow audit_row_of(const Result& rows, int row) {
        const auto text = [&](int column) { return std::string(rows.text(row, column)); };
        return {
            .id = text(0),
            .at = rows.time(row, 1),
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
            .number = rows.integer(row, 12),
            .prev = text(13),
            .hash = text(14),
        };
    }

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
