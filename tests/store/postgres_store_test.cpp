// Goal: the PostgreSQL store does what every store must.
// Method: the conformance suite on a real server, in a fresh schema per case. What only PostgreSQL
// can get wrong is in the other postgres_*_test.cpp files.

#include "store/postgres/postgres_store.h"

#include "store/instantiate.h"
#include "support/postgres_server.h"

namespace ebb::testing {
namespace {

EBB_INSTANTIATE_STORE_TESTS(
    Postgres,
    (StoreKind{
        "postgres",
        [](const Clock& clock, const TempDir&) {
            return make_postgres_store(
                {.url = postgres_server().url(), .schema = fresh_schema()}, clock
            );
        }
    })
);

// Every verb must also hold where a lost race is told by an error of class 40, as distributed
// databases do: they are tried again inside the store.
EBB_INSTANTIATE_STORE_TESTS(
    PostgresSerializable,
    (StoreKind{
        "postgres_serializable",
        [](const Clock& clock, const TempDir&) {
            const std::string isolation =
                "&options=-c%20default_transaction_isolation%3Dserializable";
            return make_postgres_store(
                {.url = postgres_server().url() + isolation, .schema = fresh_schema()}, clock
            );
        }
    })
);

TEST(PostgresStore, commits_on_half_of_its_connections_and_on_four_at_most) {
    const ManualClock clock(kStart);
    const std::string schema = fresh_schema();
    const auto commits_at_once = [&](int connections) {
        const PostgresOptions options{
            .url = postgres_server().url(), .schema = schema, .connections_max = connections
        };
        return make_postgres_store(options, clock)->traits().commits_at_once;
    };
    EXPECT_EQ(commits_at_once(1), 1);
    EXPECT_EQ(commits_at_once(5), 2);
    EXPECT_EQ(commits_at_once(8), 4);
    EXPECT_EQ(commits_at_once(20), 4);
}

}  // namespace
}  // namespace ebb::testing
