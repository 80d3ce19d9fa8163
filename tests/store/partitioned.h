#pragma once

#include <fmt/format.h>

#include "store/conformance.h"
#include "store/postgres/partitions.h"
#include "store/postgres/postgres_store.h"
#include "support/postgres_server.h"

namespace ebb::testing {

/// Divides the tables of the schema, beside what is made ahead of `now`.
inline void divide(
    const std::string& schema,
    TimePoint now = kStart,
    PartitionPeriod period = PartitionPeriod::Month
) {
    postgres::Settings settings = postgres::read_settings({.url = postgres_server().url()});
    settings.schema = schema;
    postgres::Connection connection(settings);
    postgres::partition(connection, period, now);
}

/// A store whose first instances (id_of) are in three partitions and the default one.
inline StorePtr open_partitioned(const Clock& clock, const std::string& schema) {
    StorePtr store = make_postgres_store({.url = postgres_server().url(), .schema = schema}, clock);
    divide(schema);
    const int bounds[] = {0, 2, 3, 5};
    for (std::size_t i = 0; i + 1 < std::size(bounds); ++i) {
        for (const char* table : {"instances", "history"}) {
            postgres_server().execute(fmt::format(
                "CREATE TABLE {0}.{1}_part{2} PARTITION OF {0}.{1} FOR VALUES FROM ('{3}') TO "
                "('{4}')",
                schema,
                table,
                i,
                id_of(bounds[i]).to_string(),
                id_of(bounds[i + 1]).to_string()
            ));
        }
    }
    return store;
}

}  // namespace ebb::testing
