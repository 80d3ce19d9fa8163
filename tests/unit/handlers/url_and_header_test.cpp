// Goal: data stays in its place inside URLs and headers, and the dates of HTTP are read as they are
// written. Method: examples, many of them hostile.
#include "handlers/call_variables.h"
#include "handlers/header.h"
#include "handlers/http_client.h"
#include "handlers/url_template.h"
#include "unit/handlers/handler_harness.h"

namespace ebb {
namespace {

using namespace std::chrono_literals;

std::string render(std::string_view url, const Json& input) {
    const StepContext context = a_context();
    const Payload text = input.dump();
    const CallVariables::Environment none;
    return UrlTemplate::compile(url).render(CallVariables(text, context, none));
}

TEST(UrlTemplate, encodes_what_stands_behind_the_host) {
    EXPECT_EQ(render("https://a/${input}", "x/y z"), "https://a/x%2Fy%20z");
    EXPECT_EQ(render("https://a/b?c=${input}&d", "&e=#f"), "https://a/b?c=%26e%3D%23f&d");
    EXPECT_EQ(render("https://a?c=${input}", "ü"), "https://a?c=%C3%BC");
    EXPECT_EQ(render("https://a/${input}", 42), "https://a/42");
    EXPECT_EQ(render("https://a/${input}", {{"b", 1}}), "https://a/%7B%22b%22%3A1%7D");
    EXPECT_EQ(render("https://a/-._~%20x", nullptr), "https://a/-._~%20x");
}

TEST(UrlTemplate, leaves_scheme_and_host_as_they_are) {
    EXPECT_EQ(render("${input}", "https://a/b?c=d"), "https://a/b?c=d");
    EXPECT_EQ(render("https://${input}:80/", "a.b"), "https://a.b:80/");
    EXPECT_EQ(
        render("${input.base}/items/${input.id}", {{"base", "https://a/v1"}, {"id", "x/y"}}),
        "https://a/v1/items/x%2Fy"
    );
    EXPECT_TRUE(UrlTemplate::compile("https://a${input}/").has_variable_host());
    EXPECT_FALSE(UrlTemplate::compile("https://a/${input}").has_variable_host());
    EXPECT_FALSE(UrlTemplate::compile("https://a/").has_variable_host());
}

TEST(UrlTemplate, finds_the_end_of_expressions_with_braces_and_quotes_in_them) {
    EXPECT_EQ(render("https://a/${{'k': '}'}.k}/${input}", "x"), "https://a/%7D/x");
    EXPECT_EQ(render("https://a/${\"\\\"}\"}/${input}", "x"), "https://a/%22%7D/x");
    EXPECT_EQ(render("https://a/$${b}/${input}", "x"), "https://a/${b}/x");
    EXPECT_THROW(UrlTemplate::compile("https://a/${input"), ExpressionError);
    EXPECT_THROW(UrlTemplate::compile("https://a/${'}"), ExpressionError);
}

TEST(Url, parts_decide_where_a_request_goes) {
    EXPECT_EQ(
        parse_url("HTTPS://user:pw@Host.Test/a/../b?c#d"),
        (UrlParts{.scheme = "https", .host = "host.test", .port = "443", .path = "/a/../b"})
    );
    EXPECT_EQ(parse_url("http://[::1]:8080")->port, "8080");
    EXPECT_EQ(parse_url("no url"), std::nullopt);
    EXPECT_EQ(parse_url(""), std::nullopt);
    EXPECT_EQ(resolve_url("http://a/b/c?d", "../e"), "http://a/e");
    EXPECT_EQ(resolve_url("http://a/b", "//c/d"), "http://c/d");
    EXPECT_EQ(resolve_url("http://a/b", "https://c/"), "https://c/");
}

TEST(Url, public_form_has_no_place_for_secrets) {
    EXPECT_EQ(public_url("https://user:pw@a.test:8443/b?key=secret#frag"), "https://a.test:8443/b");
    EXPECT_EQ(public_url("http://[broken"), "(an invalid URL)");
}

TEST(HeaderValue, has_no_control_characters) {
    EXPECT_TRUE(is_header_value("text, with\ttab and ü"));
    EXPECT_TRUE(is_header_value(""));
    for (const char* value : {"a\rb", "a\nb", "\x7f", "\x01"}) EXPECT_FALSE(is_header_value(value));
    EXPECT_FALSE(is_header_value(std::string_view("a\0b", 3)));
}

TEST(HttpDate, is_read_exactly) {
    EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), TimePoint(784'111'777s));
    EXPECT_EQ(parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT"), TimePoint());
    for (const char* text :
         {"",
          "Sun, 06 Nov 1994 08:49:37",
          "Sun, 06 Nov 1994 08:49:37 CET",
          "Sun, 31 Nov 1994 08:49:37 GMT",
          "Sun, 06 Foo 1994 08:49:37 GMT",
          "Sun, 06 Nov 1994 24:49:37 GMT",
          "Sun, x6 Nov 1994 08:49:37 GMT",
          "Sun, 06 Nov 1994 08:-1:37 GMT",
          "Sunday, 06-Nov-94 08:49:37 GMT"}) {
        EXPECT_EQ(parse_http_date(text), std::nullopt) << text;
    }
}

TEST(RetryAfter, is_seconds_or_a_date_within_bounds) {
    const TimePoint now(784'111'777s);
    EXPECT_EQ(parse_retry_after("120", now), Duration(120s));
    EXPECT_EQ(parse_retry_after("86400", now), Duration(24h));
    EXPECT_EQ(parse_retry_after("86401", now), Duration(24h));
    EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:50:37 GMT", now), Duration(60s));
    EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:40:37 GMT", now), Duration(0s));
    for (const char* text : {"", "1.5", "-1", "1 second", "soon"}) {
        EXPECT_EQ(parse_retry_after(text, now), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace ebb
