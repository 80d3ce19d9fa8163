// `ebb migrate` creates the tables, reports their state, and says what it would do without doing
// it.

#include <sqlite3.h>

#include "cli_world.h"

namespace ebb::cli::testing {
namespace {

using ::testing::HasSubstr;

TEST(CliMigrate, creates_the_tables_once) {
    CliWorld world;
    const Outcome first = world.run_db({"migrate"});
    EXPECT_EQ(first.code, 0) << first.err;
    EXPECT_EQ(
        first.out,
        "Applied 0001 initial\nApplied 0002 views\nApplied 0003 queues\nApplied 0004 retention\n"
        "Applied 0005 boots\nApplied 0006 skipped_compensations\nApplied 0007 side_rows\n"
        "Applied 0008 outcomes\nApplied 0009 subscriptions\nApplied 0010 labels\n"
        "Applied 0011 inbox\nApplied 0012 failure_index\n"
    );
    EXPECT_EQ(world.run_db({"list", "--json"}).out, "[]\n");
    const Outcome second = world.run_db({"migrate"});
    EXPECT_EQ(second.code, 0);
    EXPECT_EQ(second.out, "");
    EXPECT_EQ(second.err, "The schema is up to date.\n");
    EXPECT_EQ(world.run_db({"migrate", "--json"}).out, "[]\n");
}

TEST(CliMigrate, lists_what_is_applied_and_changes_nothing) {
    CliWorld world;
    EXPECT_EQ(
        normal(world, world.run_db({"migrate", "--status"}).out),
        "NUMBER NAME APPLIED\n0001 initial not yet\n0002 views not yet\n0003 queues not yet\n"
        "0004 retention not yet\n0005 boots not yet\n0006 skipped_compensations not yet\n"
        "0007 side_rows not yet\n0008 outcomes not yet\n0009 subscriptions not yet\n"
        "0010 labels not yet\n0011 inbox not yet\n0012 failure_index not yet\n"
    );
    EXPECT_EQ(
        world.run_db({"migrate", "--status", "--json"}).out,
        "[{\"number\":1,\"name\":\"initial\",\"applied_at\":null},"
        "{\"number\":2,\"name\":\"views\",\"applied_at\":null},"
        "{\"number\":3,\"name\":\"queues\",\"applied_at\":null},"
        "{\"number\":4,\"name\":\"retention\",\"applied_at\":null},"
        "{\"number\":5,\"name\":\"boots\",\"applied_at\":null},"
        "{\"number\":6,\"name\":\"skipped_compensations\",\"applied_at\":null},"
        "{\"number\":7,\"name\":\"side_rows\",\"applied_at\":null},"
        "{\"number\":8,\"name\":\"outcomes\",\"applied_at\":null},"
        "{\"number\":9,\"name\":\"subscriptions\",\"applied_at\":null},"
        "{\"number\":10,\"name\":\"labels\",\"applied_at\":null},"
        "{\"number\":11,\"name\":\"inbox\",\"applied_at\":null},"
        "{\"number\":12,\"name\":\"failure_index\",\"applied_at\":null}]\n"
    );
    EXPECT_EQ(world.run_db({"list"}).code, 5);  // still no database
    const auto applied = Json::parse(world.run_db({"migrate", "--json"}).out);
    EXPECT_EQ(applied[0]["number"], 1);
    EXPECT_EQ(Json::parse(world.run_db({"migrate", "--status", "--json"}).out), applied);
    const Outcome status = world.run_db({"migrate", "--status"});
    EXPECT_THAT(normal(world, status.out), HasSubstr("initial <time>"));
}

TEST(CliMigrate, lists_what_a_newer_program_has_applied) {
    CliWorld world;
    world.run_db({"migrate"});
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(world.path("ebb.db").c_str(), &database), SQLITE_OK);
    const char* add =
        "INSERT INTO migrations (number, name, checksum, applied_at) VALUES (13, 'later', '', 0)";
    ASSERT_EQ(sqlite3_exec(database, add, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
    const std::string why =
        "ebb: store_version: The schema has version 0013 (later), but this program knows only up "
        "to 0012: a newer "
        "ebb has migrated it. Use that one, or any whose `ebb migrate --status` knows 0013.";
    const Outcome status = world.run_db({"migrate", "--status"});
    EXPECT_EQ(status.code, 5);
    const std::string table = normal(world, status.out);
    EXPECT_THAT(table, HasSubstr("\n0006 skipped_compensations <time>"));
    EXPECT_THAT(table, HasSubstr("\n0013 later <time> by a newer ebb\n"));
    EXPECT_EQ(line_of(status.err, 0), why);
    const Outcome json = world.run_db({"migrate", "--status", "--json"});
    EXPECT_EQ(json.code, 5);
    const Json all = Json::parse(json.out);
    EXPECT_EQ(all.back()["number"], 13);
    EXPECT_EQ(all.back()["is_known"], false);
    EXPECT_FALSE(all.front().contains("is_known"));
    EXPECT_EQ(Json::parse(json.err)["error"]["code"], "store_version");
    for (const char* wish : {"--print", "--json"}) {
        const Outcome refused = world.run_db({"migrate", wish});
        EXPECT_EQ(refused.code, 5) << wish;
        EXPECT_EQ(refused.out, "");
    }
}

TEST(CliMigrate, prints_the_pending_sql_and_changes_nothing) {
    CliWorld world;
    const Outcome print = world.run_db({"migrate", "--print"});
    EXPECT_EQ(print.code, 0) << print.err;
    EXPECT_THAT(print.out, ::testing::StartsWith("-- 0001 initial\n-- Takes the write"));
    EXPECT_THAT(print.out, ::testing::EndsWith("COMMIT;\n"));
    EXPECT_EQ(world.run_db({"list"}).code, 5);
    world.run_db({"migrate"});
    EXPECT_EQ(world.run_db({"migrate", "--print"}).out, "");
}

TEST(CliMigrate, prints_the_grants_of_a_schema_without_asking_the_server) {
    CliWorld world;
    const std::string url = "postgresql://nowhere.invalid/shop?schema=orders";
    const Outcome print = world.run({"migrate", "--grants", "--db", url});
    EXPECT_EQ(print.code, 0) << print.err;
    EXPECT_THAT(print.out, HasSubstr("GRANT USAGE ON SCHEMA \"orders\" TO ebb_worker;\n"));
    EXPECT_THAT(print.out, HasSubstr("\"orders\".instances"));
    EXPECT_THAT(print.out, ::testing::Not(HasSubstr("ebb.")));
    EXPECT_EQ(world.run_db({"migrate", "--grants"}).code, 2);
}

TEST(CliMigrate, needs_a_database_and_exactly_one_option) {
    CliWorld world;
    EXPECT_EQ(world.run({"migrate"}).code, 2);
    EXPECT_EQ(world.run({"migrate", "--db", "memory:"}).code, 2);
    EXPECT_EQ(world.run_db({"migrate", "--print", "--status"}).code, 2);
}

}  // namespace
}  // namespace ebb::cli::testing
