// The values that --db accepts, and the errors if there is no such database.

#include <ebb/error.h>

#include "cli/open_store.h"
#include "cli_world.h"
#include "store/store.h"

namespace ebb::cli {
namespace {

using Kind = StoreUrl::Kind;

TEST(CliStoreUrl, names_a_kind_and_a_path) {
    EXPECT_EQ(parse_store_url("memory:"), (StoreUrl{Kind::Memory, ""}));
    EXPECT_EQ(parse_store_url("sqlite:orders.db"), (StoreUrl{Kind::Sqlite, "orders.db"}));
    EXPECT_EQ(parse_store_url("sqlite:///tmp/x.db"), (StoreUrl{Kind::Sqlite, "/tmp/x.db"}));
    EXPECT_EQ(parse_store_url("orders.db"), (StoreUrl{Kind::Sqlite, "orders.db"}));
    EXPECT_EQ(parse_store_url("./a:b.db"), (StoreUrl{Kind::Sqlite, "./a:b.db"}));
    EXPECT_EQ(parse_store_url("postgresql://host/db").kind, Kind::Postgres);
    EXPECT_EQ(parse_store_url("postgres://host/db").kind, Kind::Postgres);
}

ErrorCode code_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.code();
    }
    return ErrorCode::Internal;
}

TEST(CliStoreUrl, refuses_other_schemes_and_empty_paths) {
    EXPECT_EQ(code_of([] { parse_store_url("mysql://x"); }), ErrorCode::InvalidArgument);
    EXPECT_EQ(code_of([] { parse_store_url("sqlite:"); }), ErrorCode::InvalidArgument);
    EXPECT_EQ(code_of([] { parse_store_url(""); }), ErrorCode::InvalidArgument);
}

TEST(CliStoreUrl, recognizes_server_parameters_that_are_not_a_url) {
    for (const char* text : {"host=db dbname=orders", " dbname = orders", "service=orders"}) {
        try {
            parse_store_url(text);
            FAIL() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
            EXPECT_THAT(error.what(), ::testing::HasSubstr("postgresql://USER@HOST"));
        }
    }
    EXPECT_EQ(parse_store_url("a=b.db").path, "a=b.db");
    EXPECT_EQ(parse_store_url("sqlite:host=db").path, "host=db");
}

TEST(CliStoreUrl, reading_does_not_create_a_database) {
    const testing::CliWorld world;
    const std::string path = world.path("none.db");
    EXPECT_EQ(code_of([&] { open_store(path, OpenMode::MustExist); }), ErrorCode::StoreUnavailable);
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_TRUE(open_store(path, OpenMode::MayCreate)->traits().is_durable);
    EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(CliStoreUrl, never_shows_a_password) {
    EXPECT_EQ(shown_url("orders.db"), "orders.db");
    EXPECT_EQ(shown_url("sqlite:a:b@c.db"), "sqlite:a:b@c.db");
    EXPECT_EQ(shown_url("postgresql://me@host:5432/db"), "postgresql://me@host:5432/db");
    EXPECT_EQ(shown_url("postgresql://host:5432/db"), "postgresql://host:5432/db");
    EXPECT_EQ(shown_url("postgresql://me:secret@host/db"), "postgresql://me@host/db");
    EXPECT_EQ(shown_url("postgres://me:se@cr/et@host/db"), "postgres://me@host/db");
    EXPECT_EQ(shown_url("postgres://me:se?c@ret@host/db"), "postgres://me@host/db");
    EXPECT_EQ(
        shown_url("postgres://me@host/db?password=secret&a=b&password=secret"),
        "postgres://me@host/db?&a=b&"
    );
    EXPECT_EQ(
        shown_url("postgresql://host/db?user=me&password=secret&sslmode=require"),
        "postgresql://host/db?user=me&&sslmode=require"
    );
    EXPECT_EQ(shown_url("postgresql://host/db?password=secret"), "postgresql://host/db?");
}

TEST(CliStoreUrl, says_that_a_server_does_not_answer) {
    const testing::CliWorld world;
    try {
        open_store(
            "postgresql://me:secret@/orders?host=" + world.path("nowhere"), OpenMode::MustExist
        );
        FAIL() << "opened";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::StoreUnavailable);
        EXPECT_THAT(error.what(), ::testing::HasSubstr("cannot be reached"));
        EXPECT_THAT(error.what(), ::testing::HasSubstr("/orders"));
        EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("secret")));
    }
}

}  // namespace
}  // namespace ebb::cli
