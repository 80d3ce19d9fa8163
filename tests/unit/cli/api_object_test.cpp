// What the command reads from a server: payloads keep their digits, what is missing is null, and an
// answer that is not of the API is an error that names the member.

#include "cli/api_object.h"

#include <ebb/error.h>

#include "cli/api_call.h"
#include "cli/api_views.h"
#include "support/pch.h"

namespace ebb::cli {
namespace {

std::string refusal(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was refused";
}

TEST(ApiObject, keeps_payloads_as_they_stand_in_the_text) {
    const ApiObject json(R"({"input": {"sum": 1.10, "big": 123456789012345678901}, "none": null})");
    EXPECT_EQ(json.payload("input"), R"({"sum": 1.10, "big": 123456789012345678901})");
    EXPECT_EQ(json.payload("none"), "");
    EXPECT_EQ(json.payload("missing"), "");
}

TEST(ApiObject, reads_what_is_missing_as_null) {
    const ApiObject json(R"({"n": 5, "flag": true, "text": "ü\n"})");
    EXPECT_EQ(json.number("n"), 5);
    EXPECT_EQ(json.number("missing"), std::nullopt);
    EXPECT_EQ(json.integer("missing"), 0);
    EXPECT_TRUE(json.boolean("flag"));
    EXPECT_FALSE(json.boolean("missing"));
    EXPECT_EQ(json.text("text"), "ü\n");
    EXPECT_EQ(json.time("missing", kNever), kNever);
    EXPECT_TRUE(json.objects("missing").empty());
}

TEST(ApiObject, names_what_is_not_as_the_api_describes_it) {
    const ApiObject json(R"({"n": "five", "at": "yesterday", "status": "happy", "id": "x"})");
    EXPECT_NE(refusal([&] { json.integer("n"); }).find(": n:"), std::string::npos);
    EXPECT_NE(refusal([&] { json.time("at"); }).find("at is not a time"), std::string::npos);
    EXPECT_NE(refusal([&] { summary_of(json); }).find("unknown id: \"x\""), std::string::npos);
    EXPECT_NE(refusal([] { ApiObject("<html>"); }).find("the document"), std::string::npos);
}

TEST(ServerAddress, is_a_url_or_a_socket) {
    EXPECT_EQ(parse_server("http://127.0.0.1:8322/").url, "http://127.0.0.1:8322");
    EXPECT_EQ(parse_server("https://ebb.example.com/base/").url, "https://ebb.example.com/base");
    EXPECT_EQ(parse_server("unix:/run/ebb/ebb.sock").socket, "/run/ebb/ebb.sock");
    for (const char* bad :
         {"",
          "ebb.example.com",
          "localhost:8322",
          "ftp://x",
          "unix:",
          "http://",
          "http://x?a=b",
          "http://ann@x"}) {
        EXPECT_NE(refusal([&] { parse_server(bad); }).find("--server"), std::string::npos) << bad;
    }
}

TEST(UrlQuery, escapes_names_and_values) {
    EXPECT_EQ(UrlQuery().text(), "");
    EXPECT_EQ(UrlQuery().add("key", "a b&c").add("n", "1").text(), "?key=a%20b%26c&n=1");
    EXPECT_EQ(escape_segment("key:order/A 1"), "key%3Aorder%2FA%201");
}

}  // namespace
}  // namespace ebb::cli
