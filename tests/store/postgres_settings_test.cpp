// Goal: a URL is taken apart as its writer means it, bad ones get a precise answer, and no answer
// shows a password. Method: read_settings needs no server.

#include <ebb/error.h>

#include "store/postgres/settings.h"

namespace ebb::testing {
namespace {

using postgres::read_settings;
using postgres::Settings;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Settings settings_of(const std::string& url) {
    return read_settings({.url = url});
}

std::string message_of(const PostgresOptions& options) {
    try {
        read_settings(options);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
        return error.what();
    }
    return "was accepted";
}

TEST(PostgresSettings, takes_the_parameters_of_libpq) {
    const Settings settings = settings_of(
        "postgresql://me:s%40crt@one:5432,two:5433/orders?target_session_attrs=read-write"
    );
    EXPECT_EQ(settings.parameters.at("host"), "one,two");
    EXPECT_EQ(settings.parameters.at("port"), "5432,5433");
    EXPECT_EQ(settings.parameters.at("target_session_attrs"), "read-write");
    EXPECT_EQ(settings.parameters.at("password"), "s@crt");
    EXPECT_EQ(settings.parameters.at("application_name"), "ebb");
    EXPECT_EQ(settings.schema, "ebb");
}

TEST(PostgresSettings, takes_its_own_parameters_from_the_url) {
    const Settings settings = settings_of(
        "postgres://h/d?schema=flows&sslmode=require&statement_cache=off&connections_max=3&migrate="
        "off&application_name=mine"
    );
    EXPECT_EQ(settings.schema, "flows");
    EXPECT_FALSE(settings.caches_statements);
    EXPECT_FALSE(settings.migrates);
    EXPECT_EQ(settings.connections_max, 3);
    EXPECT_EQ(settings.parameters.at("sslmode"), "require");
    EXPECT_EQ(settings.parameters.at("application_name"), "mine");
    EXPECT_FALSE(settings.parameters.contains("schema"));
}

TEST(PostgresSettings, lets_the_url_win_over_the_options) {
    const Settings settings =
        read_settings({.url = "postgresql://h/d?schema=a", .schema = "b", .connections_max = 5});
    EXPECT_EQ(settings.schema, "a");
    EXPECT_EQ(settings.connections_max, 5);
}

TEST(PostgresSettings, refuses_what_cannot_be_right) {
    EXPECT_THAT(message_of({.url = "mysql://h/d"}), HasSubstr("postgresql://"));
    EXPECT_THAT(message_of({.url = "postgresql://h/d?hue=red"}), HasSubstr("\"hue\""));
    EXPECT_THAT(
        message_of({.url = "postgresql://h/d?sslmode=require&shema=x"}),
        AllOf(HasSubstr("\"shema\""), HasSubstr("schema, statement_cache"))
    );
    EXPECT_THAT(message_of({.url = "postgresql://h/d?s%20x=1"}), HasSubstr("cannot be read"));
    EXPECT_THAT(message_of({.url = "postgresql://h/d&schema=x"}), HasSubstr("begin with a ?"));
    EXPECT_EQ(message_of({.url = "postgresql://h/d%26schema=x"}), "was accepted");
    EXPECT_EQ(message_of({.url = "postgresql://me:a&b=c@h"}), "was accepted");
    const std::string url = "postgresql://h/d";
    for (const char* schema : {"", "Ebb", "a-b", "1a", "pg_ebb", "a b", "\"a\""}) {
        EXPECT_THAT(message_of({.url = url, .schema = schema}), HasSubstr("a-z, 0-9")) << schema;
    }
    EXPECT_EQ(message_of({.url = url, .schema = std::string(63, 'a')}), "was accepted");
    EXPECT_THAT(message_of({.url = url, .schema = std::string(64, 'a')}), HasSubstr("at most 63"));
    for (const char* query :
         {"?connections_max=0", "?connections_max=1001", "?connections_max=x"}) {
        EXPECT_THAT(message_of({.url = url + query}), HasSubstr("1 to 1000")) << query;
    }
    EXPECT_EQ(message_of({.url = url + "?connections_max=1000"}), "was accepted");
    EXPECT_THAT(message_of({.url = url + "?statement_cache=maybe"}), HasSubstr("on or off"));
}

TEST(PostgresSettings, shows_no_password) {
    const Settings settings = settings_of("postgresql://me:secret@host:1/orders");
    EXPECT_EQ(settings.target(), "postgresql://me@host:1/orders");
    EXPECT_EQ(settings.without_password("secret: no \"secret\""), "[redacted]: no \"[redacted]\"");
    // A password that was not encoded ends up in other parts of the URL.
    for (const char* url : {"postgresql://me:sec/ret@host/db", "postgresql://me:sec%ret@host/db"}) {
        const std::string message = message_of({.url = url});
        EXPECT_THAT(message, Not(HasSubstr("sec"))) << url;
        EXPECT_THAT(message, HasSubstr("encoded")) << url;
    }
    // Nor is it taken for a parameter.
    EXPECT_EQ(settings_of("postgresql://me:x?sec=ret@host/db").password, "x?sec=ret");
    EXPECT_THAT(message_of({.url = "postgresql://h/d?sec=ret@host"}), Not(HasSubstr("sec")));
}

TEST(PostgresSettings, puts_the_schema_where_ebb_is_meant) {
    Settings settings;
    EXPECT_EQ(settings.in_schema("SELECT 1 FROM ebb.tasks"), "SELECT 1 FROM ebb.tasks");
    settings.schema = "my";
    EXPECT_EQ(
        settings.in_schema("CREATE SCHEMA ebb; ON ebb.a (ebb.b, webb.c, ebb_d, x.ebb.e, 'ebb')"),
        "CREATE SCHEMA \"my\"; ON \"my\".a (\"my\".b, webb.c, ebb_d, x.ebb.e, 'ebb')"
    );
}

}  // namespace
}  // namespace ebb::testing
