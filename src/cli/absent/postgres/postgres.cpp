// A build without PostgreSQL (EBB_WITH_POSTGRES=OFF): every use of a `postgresql://` URL is refused
// in one sentence.

#include <ebb/error.h>
#include <ebb/store.h>

#include "store/admin_store.h"
#include "store/health.h"
#include "store/migrations.h"
#include "store/rules_surface.h"
#include "store/rules_views.h"
#include "store/wed_flow.h"

namespace ebb {

namespace {

[[noreturn]] void refuse() {
    throw Error(
        ErrorCode::StoreUnavailable,
        "This ebb was built without PostgreSQL. Use a SQLite file (sqlite:PATH), or an ebb that "
        "was built with it."
    );
}

}  // namespace

StorePtr open_postgres_store(const PostgresOptions& /*options*/) {
    refuse();
}

std::unique_ptr<AdminStore> open_postgres_admin_store(const PostgresOptions& /*options*/) {
    refuse();
}

DatabaseHealth postgres_health(const PostgresOptions& /*options*/) {
    refuse();
}

std::vector<Migration> postgres_migrations(const PostgresOptions& /*options*/) {
    refuse();
}

std::string postgres_grants(const PostgresOptions& /*options*/) {
    refuse();
}

std::string postgres_sql_workers(const PostgresOptions& /*options*/) {
    refuse();
}

void install_sql_workers(const PostgresOptions& /*options*/) {
    refuse();
}

std::string postgres_rules_sql(const PostgresOptions& /*options*/) {
    refuse();
}

void install_rules_sql(const PostgresOptions& /*options*/) {
    refuse();
}

void migrate_postgres(const PostgresOptions& /*options*/) {
    refuse();
}

bool partition_postgres(const PostgresOptions& /*options*/, PartitionPeriod /*period*/) {
    refuse();
}

HousekeepingResult housekeep_postgres(const PostgresOptions& /*options*/) {
    refuse();
}

void make_rules_views(const PostgresOptions& /*options*/, const RulesViews& /*views*/) {
    refuse();
}

Payload install_surface(
    const PostgresOptions& /*options*/, const SurfaceOptions& /*surface*/
) {
    refuse();
}

Payload uninstall_surface(
    const PostgresOptions& /*options*/, const std::string& /*workflow*/
) {
    refuse();
}

WedDatabase read_wed_database(const WedSource& /*source*/) {
    refuse();
}

std::int64_t import_wed_database(
    const WedSource& /*source*/, const PostgresOptions& /*target*/, const std::string& /*name*/
) {
    refuse();
}

}  // namespace ebb
