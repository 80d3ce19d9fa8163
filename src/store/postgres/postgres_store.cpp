#include "store/postgres/postgres_store.h"

#include <algorithm>

#include <fmt/format.h>

#include <ebb/error.h>

#include "ebb/postgres/sql.h"
#include "store/agreement.h"
#include "store/postgres/call_rows.h"
#include "store/postgres/schema.h"

namespace ebb {

namespace sql = postgres::sql;
using postgres::Arguments;
using postgres::Connection;

namespace {

/// While one commit waits for the disk, the server works at the others; measured: two leave a third
/// of it idle, and more than four gain nothing.
constexpr int kCommitsAtOnceMax = 4;

}  // namespace

StorePtr make_postgres_store(const PostgresOptions& options, const Clock& clock) {
    return StorePtr(new PostgresStore(options, &clock));
}

StorePtr open_postgres_store(const PostgresOptions& options) {
    return StorePtr(new PostgresStore(options, options.clock));
}

PostgresStore::PostgresStore(const PostgresOptions& options, const Clock* clock)
    : postgres::Pooled(options),
      clock_(clock),
      plain_settings_(settings_.plain()),
      transactions_(plain_settings_) {
    if (settings_.migrates) {
        migrate();
    } else {
        perform(Repeat::Freely, [](Connection& connection) {
            postgres::check_schema(connection);
            return true;
        });
    }
    const SteadyPoint sent = server_clock_.steady_now();
    learn_time(sent, read(sql::server_time, {}).time(0, 0));
}

StoreTraits PostgresStore::traits() const {
    return {
        .name = "postgresql",
        .is_durable = true,
        .is_shared_between_processes = true,
        .commits_at_once = std::clamp(settings_.connections_max / 2, 1, kCommitsAtOnceMax),
        .has_transactions = true,
        // The server's clock is taken for the system's: they are the same but for a skew.
        .clock = clock_ != nullptr ? clock_ : &system_clock_,
    };
}

std::optional<TimePoint> PostgresStore::given_time() const {
    if (clock_ == nullptr) return std::nullopt;
    return clock_->now();
}

TimePoint PostgresStore::now() const {
    return clock_ != nullptr ? clock_->now() : server_clock_.now();
}

void PostgresStore::learn_time(SteadyPoint sent, TimePoint server) {
    server_clock_.learn(sent, server, server_clock_.steady_now());
    const Duration skew = server_clock_.skew();
    if (clock_ != nullptr || std::chrono::abs(skew) < kSkewNoticed) return;
    notices_.add(
        "clock_skew",
        {},
        fmt::format(
            "The clock of this machine is {} {} that of PostgreSQL at {}. Ebb uses the server's "
            "clock; correct the clock of this machine.",
            format_duration(std::chrono::floor<std::chrono::seconds>(std::chrono::abs(skew))),
            skew > Duration::zero() ? "ahead of" : "behind",
            settings_.target()
        )
    );
}

void PostgresStore::on_loss() {
    claim_marks_.forget();
    lease_marks_.forget();
}

void PostgresStore::migrate() {
    perform(Repeat::Freely, [&](Connection& connection) {
        postgres::migrate(connection, given_time());
        return true;
    });
}

void PostgresStore::check_rights() {
    perform(Repeat::Freely, [](Connection& connection) {
        postgres::check_rights(connection);
        return true;
    });
}

void PostgresStore::register_workflow(const WorkflowRow& row) {
    const Arguments add = Arguments::of(
        row.name, std::int32_t{row.version}, row.definition, row.checksum, row.created_at
    );
    const Arguments name = Arguments::of(row.name, std::int32_t{row.version});
    // Another transaction's row is waited for, so the second statement sees whose it is.
    const postgres::CallRows rows(row);
    const Arguments call_rows = rows.arguments();
    std::vector<postgres::Call> calls{{sql::add_workflow, add}, {sql::workflow_checksum, name}};
    if (!rows.is_empty()) calls.push_back({sql::add_calls, call_rows});
    const auto results =
        perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
    const postgres::Result& found = results.at(1);
    if (found.is_empty() || found.text(0, 0) != row.checksum) throw_workflow_conflict(row);
}

}  // namespace ebb
