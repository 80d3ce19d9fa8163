// Goal: no form of a secret that is usual in messages gets out. Method: examples of each form, and
// texts that were cut inside a secret.

#include "support/redact.h"

#include <ebb/error.h>

namespace ebb {
namespace {

using Cut = Redactor::Cut;

const std::string kMark(Redactor::kMark);

TEST(Redactor, hides_a_longer_secret_that_contains_a_shorter_one) {
    const Redactor redactor({"hunter2", "hunter2-and-more"});
    EXPECT_EQ(redactor.text("a hunter2-and-more b"), "a " + kMark + " b");
    EXPECT_EQ(redactor.text("a hunter2 b"), "a " + kMark + " b");
}

TEST(Redactor, hides_all_that_two_overlapping_secrets_cover) {
    const Redactor redactor({"abcdef", "defghi"});
    EXPECT_EQ(redactor.text("xabcdefghix"), "x" + kMark + "x");
}

TEST(Redactor, leaves_short_secrets_and_other_text_alone) {
    const Redactor redactor({"abc", ""});
    EXPECT_TRUE(redactor.is_empty());
    EXPECT_EQ(redactor.text("abc"), "abc");
    EXPECT_EQ(Redactor({"s3cr3t"}).text("s3cr3 t 100% \\ \\u00 %4"), "s3cr3 t 100% \\ \\u00 %4");
}

TEST(Redactor, finds_percent_encoded_secrets_in_every_spelling) {
    const Redactor redactor({"p@ss/w rd"});
    for (const char* text :
         {"p@ss/w rd", "p%40ss%2Fw%20rd", "p%40ss%2fw+rd", "p%40ss/w%20rd", "%70%40ss%2Fw%20r%64"
         }) {
        EXPECT_EQ(
            redactor.text("https://x/?k=" + std::string(text) + "&z"),
            "https://x/?k=" + kMark + "&z"
        ) << text;
    }
    EXPECT_EQ(
        Redactor({"100%25!"}).text("a 100%25! b 100%2525! c"), "a " + kMark + " b " + kMark + " c"
    );
}

TEST(Redactor, finds_secrets_that_are_escaped_as_json) {
    const Redactor redactor({"a\"b\\c\ndé😀"});
    EXPECT_EQ(redactor.text("[a\\\"b\\\\c\\nd\\u00e9\\ud83d\\ude00]"), "[" + kMark + "]");
    EXPECT_EQ(redactor.text("[a\"b\\c\ndé😀]"), "[" + kMark + "]");
    EXPECT_EQ(Redactor({"path/to/key"}).text("\"path\\/to\\/key\""), "\"" + kMark + "\"");
}

TEST(Redactor, finds_secrets_inside_base64) {
    const Redactor redactor({"correct horse"});
    // "correct horse", "u:correct horse", "me:correct horse!", "ab:correct horse" in base64.
    EXPECT_EQ(redactor.text("Basic Y29ycmVjdCBob3JzZQ==."), "Basic " + kMark + "==.");
    EXPECT_THAT(redactor.text("dTpjb3JyZWN0IGhvcnNl"), ::testing::HasSubstr(kMark));
    EXPECT_THAT(redactor.text("bWU6Y29ycmVjdCBob3JzZSE="), ::testing::HasSubstr(kMark));
    EXPECT_THAT(
        redactor.text("dXNlcjpjb3JyZWN0IGhvcnNl"),
        ::testing::Not(testing::HasSubstr("JyZWN0IGhvcn"))
    );
}

TEST(Redactor, hides_before_it_cuts) {
    const Redactor redactor({"top-secret-value"});
    EXPECT_EQ(redactor.excerpt("12345top-secret-value", 12), "12345" + kMark.substr(0, 7));
}

TEST(Redactor, hides_a_part_of_a_secret_at_an_edge_where_text_was_cut) {
    const Redactor redactor({"top-secret-value", "p@ss-word"});
    EXPECT_EQ(redactor.text("log: top-secr", Cut::Back), "log: " + kMark);
    EXPECT_EQ(redactor.text("cret-value: log", Cut::Front), kMark + ": log");
    EXPECT_EQ(redactor.text("40ss-word: log p%40ss", Cut::Both), kMark + ": log " + kMark);
    EXPECT_EQ(redactor.text("cret-value top-secr"), "cret-value top-secr");
    EXPECT_EQ(redactor.text("a letter p", Cut::Both), "a letter p");
}

TEST(Redactor, cleans_strings_and_keys_of_json) {
    const Redactor redactor = Redactor::of({{"a", "s3cr3t\"x"}, {"in", {{"b", "other-one"}}}});
    EXPECT_EQ(
        redactor.payload(R"({"z":["s3cr3t\"x!"],"other-one":1,"n":2})"),
        R"({"[redacted]":1,"n":2,"z":["[redacted]!"]})"
    );
    EXPECT_EQ(redactor.payload(R"({"z":1,"a":2})"), R"({"z":1,"a":2})");
    EXPECT_EQ(redactor.payload("not JSON: other-one"), "not JSON: " + kMark);
}

TEST(Redactor, refuses_secrets_that_are_not_strings) {
    EXPECT_THROW(Redactor::of(Json::array()), Error);
    EXPECT_THROW(Redactor::of({{"a", 1}}), Error);
}

TEST(UrlWithoutSecrets, leaves_out_everything_that_may_be_a_password) {
    for (const char* url : {
             "postgresql://me:SECRET@host/db",
             "postgresql://me:SE@CRET@host/db",
             "postgresql://me:SE/CR?ET@host/db",
             "postgresql://me:SE?a=CR&x=ET@host/db",
             "postgresql://host/db?password=SE@CRET",
             "postgresql://host/db?password=SECRET&a=b&password=SECRET",
             "postgresql://host/db?sslpassword=SECRET&pass%77ord=SECRET",
             "postgresql://me:SE@CRET@host/db?password=SECRET&x=y@z",
         }) {
        const std::string shown = url_without_secrets(url);
        EXPECT_THAT(shown, ::testing::StartsWith("postgresql://")) << url;
        for (const char* part : {"SE", "CR", "ET"}) {
            EXPECT_THAT(shown, ::testing::Not(testing::HasSubstr(part))) << url;
        }
    }
    EXPECT_EQ(
        url_without_secrets("postgresql://me@h:5432/db?a=b"), "postgresql://me@h:5432/db?a=b"
    );
    EXPECT_EQ(url_without_secrets("orders.db"), "orders.db");
}

}  // namespace
}  // namespace ebb
