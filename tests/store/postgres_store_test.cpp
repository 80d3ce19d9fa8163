// Goal: the PostgreSQL store does what every store must.
// Method: the conformance suite on a real server, in a fresh schema per case. What only PostgreSQL
// can get wrong is in the other postgres_*_test.cpp files.

#include "store/postgres/postgres_store.h"

#include <sstream>

#include <fmt/format.h>

#include "store/instantiate.h"
#include "store/postgres/connection.h"
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

/// A schema in which every kNth statement that writes to a table loses a race. Counting goes on
/// after a rollback.
class LostRaces final : public ::testing::Environment {
 public:
    static constexpr int kNth = 13;  // more than any verb has in one transaction

    /// In all tables that there are.
    void inject(const std::string& schema) {
        std::string sql = fmt::format(
            "CREATE SEQUENCE {0}.writes;"
            "CREATE FUNCTION {0}.lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " IF current_setting('transaction_isolation') <> 'serializable' THEN"
            "  RAISE EXCEPTION 'This transaction is not serializable.'; END IF;"
            " IF nextval('{0}.writes') % {1} = 0 THEN"
            "  RAISE serialization_failure USING MESSAGE = 'lost a race'; END IF;"
            " RETURN NULL; END $$;",
            schema,
            kNth
        );
        std::istringstream tables(postgres_server().execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname <> 'migrations' "
            "AND relnamespace = '" +
            schema + "'::regnamespace"
        ));
        int count = 0;
        for (std::string table; std::getline(tables, table); ++count) {
            sql += fmt::format(
                "CREATE TRIGGER lose BEFORE INSERT OR UPDATE OR DELETE ON {0}.{1}"
                " FOR EACH STATEMENT EXECUTE FUNCTION {0}.lose();",
                schema,
                table
            );
        }
        EXPECT_GE(count, 10);
        postgres_server().execute(sql);
        schemas_.push_back(schema);
    }

    void TearDown() override {
        if (schemas_.empty()) return;
        std::string writes;
        for (const std::string& schema : schemas_) {
            writes += (writes.empty() ? "" : " UNION ALL ") +
                      ("SELECT last_value AS n FROM " + schema + ".writes");
        }
        const std::int64_t lost = std::stoll(postgres_server().execute(
            fmt::format("SELECT sum(w.n / {})::bigint FROM ({}) AS w", kNth, writes)
        ));
        EXPECT_GE(lost, std::ssize(schemas_) / 2) << "hardly a race was lost";
    }

 private:
    std::vector<std::string> schemas_;
};

LostRaces& lost_races() {
    static auto* const environment = dynamic_cast<LostRaces*>(
        ::testing::AddGlobalTestEnvironment(std::make_unique<LostRaces>().release())
    );
    return *environment;
}

// Every verb must also hold if a lost race is an error of class 40, as distributed
// databases do: they are tried again inside the store.
EBB_INSTANTIATE_STORE_TESTS(
    PostgresSerializable,
    (StoreKind{
        "postgres_serializable",
        [](const Clock& clock, const TempDir&) {
            const PostgresOptions options{
                .url = postgres_server().url() +
                       "&options=-c%20default_transaction_isolation%3Dserializable",
                .schema = fresh_schema(),
            };
            const postgres::Settings settings = postgres::read_settings(options);
            postgres::Connection connection(settings);
            EXPECT_EQ(
                connection.run("SHOW default_transaction_isolation", {}).text(0, 0), "serializable"
            );
            StorePtr store = make_postgres_store(options, clock);
            lost_races().inject(options.schema);
            return store;
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
