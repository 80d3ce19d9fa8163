#include "store/postgres/postgres_store.h"

#include <algorithm>

#include <ebb/error.h>

#include "ebb/postgres/sql.h"
#include "store/agreement.h"
#include "store/postgres/schema.h"
#include "store/postgres/sql_error.h"

namespace ebb {

namespace sql = postgres::sql;
using postgres::Arguments;
using postgres::Connection;
using postgres::ConnectionLost;
using postgres::SqlError;

namespace {

/// How often a verb is tried again after it has lost a race.
constexpr int kRaceTriesMax = 12;
constexpr Duration kRacePauseMin = std::chrono::milliseconds(1);
constexpr Duration kRacePauseMax = std::chrono::milliseconds(200);
/// How often a verb is tried again after its connection broke: once on each of the old ones that a
/// restarted server has left behind would be too often, so the second is a new one.
constexpr int kLossTriesMax = 3;

}  // namespace

StorePtr make_postgres_store(const PostgresOptions& options, const Clock& clock) {
    return StorePtr(new PostgresStore(options, &clock));
}

StorePtr open_postgres_store(const PostgresOptions& options) {
    return StorePtr(new PostgresStore(options, nullptr));
}

PostgresStore::PostgresStore(const PostgresOptions& options, const Clock* clock)
    : settings_(postgres::read_settings(options)), clock_(clock), pool_(settings_) {
    if (settings_.migrates) {
        migrate();
        return;
    }
    perform(Repeat::Freely, [](Connection& connection) {
        postgres::check_schema(connection);
        return true;
    });
}

StoreTraits PostgresStore::traits() const {
    return {.name = "postgresql", .is_durable = true, .is_shared_between_processes = true};
}

std::optional<TimePoint> PostgresStore::now() const {
    if (clock_ == nullptr) return std::nullopt;
    return clock_->now();
}

void PostgresStore::forget_marks() {
    claim_marks_.forget();
    lease_marks_.forget();
}

void PostgresStore::recover(postgres::Pool::Lease& connection, Repeat repeat, int tries) {
    try {
        throw;
    } catch (const SqlError& error) {
        const bool is_worth_it = error.is_lost_race() || error.is_stale_plan();
        if (!is_worth_it || tries > kRaceTriesMax) throw;
        if (error.is_stale_plan()) {
            connection.drop();
            return;
        }
        const Duration pause = kRacePauseMin * (1 << std::min(tries, 8));
        pool_.wait_a_little(std::min(pause, kRacePauseMax));
    } catch (const ConnectionLost& error) {
        connection.drop();
        forget_marks();
        if (repeat == Repeat::IsInDoubt) {
            throw Error(
                ErrorCode::StoreInDoubt,
                std::string(error.what()) +
                    " It is not known whether the commit took effect; repeat it."
            );
        }
        if (tries > kLossTriesMax) throw;
    } catch (...) {
        // Whatever it was, its answer may not have been read to the end.
        connection.drop();
        throw;
    }
}

void PostgresStore::migrate() {
    perform(Repeat::Freely, [&](Connection& connection) {
        postgres::migrate(connection, now());
        return true;
    });
}

void PostgresStore::register_workflow(const WorkflowRow& row) {
    const Arguments add = Arguments::of(
        row.name, std::int32_t{row.version}, row.definition, row.checksum, row.created_at
    );
    const Arguments name = Arguments::of(row.name, std::int32_t{row.version});
    // Another transaction's row is waited for, so the second statement sees whose it is.
    const std::vector<postgres::Call> calls{
        {sql::add_workflow, add}, {sql::workflow_checksum, name}
    };
    const auto results =
        perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
    const postgres::Result& found = results.at(1);
    if (found.is_empty() || found.text(0, 0) != row.checksum) throw_workflow_conflict(row);
}

}  // namespace ebb
