// Goal: a mail says what has happened, and nothing of an event becomes a header or HTML; dead
// letters of one cause are mailed once in ten minutes. Method: the pure text, and turns over a
// memory store with times of the test.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "engine/webhook.h"
#include "plugins/webhooks/digest.h"
#include "plugins/webhooks/mail_text.h"
#include "support/secret_bytes.h"

namespace ebb::webhooks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace std::chrono_literals;
using Kind = Digests::Turn::Kind;

const MailAddresses kAddresses{.from = "ebb@example.com", .to = {"ops@example.com", "b@c.de"}};
const TimePoint kNow(1795440000s);

Event event(const std::string& message, const std::string& key = "o-1") {
    return {
        .subscription = "ops",
        .id = "evt_i_7",
        .type = "instance.dead_lettered",
        .timestamp = "2026-11-23T13:00:00.000000Z",
        .data = R"({"instance": "i-1", "workflow": "order", "key": ")" + key +
                R"(", "step": "charge", "error": {"code": "declined", "message": ")" + message +
                R"("}})",
    };
}

/// The decoded text of all parts, one after another.
std::string decoded(const std::string& mail) {
    std::string text;
    std::string block;
    for (std::size_t at = mail.find("\r\n\r\n"); at < mail.size();) {
        const std::size_t end = mail.find("\r\n", at + 2);
        const std::string line = mail.substr(at + 2, end - at - 2);
        const bool is_base64 = !line.empty() && line.find_first_of(" :-;") == std::string::npos;
        if (is_base64) block += line;
        if (!is_base64 || end == std::string::npos) {
            text += parse_base64(block).value_or("(not base64)");
            block.clear();
        }
        at = end;
    }
    return text;
}

std::string headers_of(const std::string& mail) {
    return mail.substr(0, mail.find("\r\n\r\n"));
}

TEST(Mail, has_text_and_html_with_a_link) {
    const std::string mail =
        make_mail(kAddresses, event("no funds"), {}, {.site = "https://ebb.example.com"}, kNow);
    const std::string headers = headers_of(mail);
    EXPECT_THAT(headers, HasSubstr("From: ebb@example.com\r\n"));
    EXPECT_THAT(headers, HasSubstr("To: ops@example.com,\r\n b@c.de\r\n"));
    EXPECT_THAT(headers, HasSubstr("Date: Mon, 23 Nov 2026 13:20:00 +0000\r\n"));
    EXPECT_THAT(headers, HasSubstr("Message-ID: <evt_i_7@ebb>\r\n"));
    EXPECT_THAT(headers, HasSubstr("multipart/alternative"));
    const std::string text = decoded(mail);
    EXPECT_THAT(text, HasSubstr("order o-1: dead lettered at charge (declined: no funds)\r\n"));
    EXPECT_THAT(text, HasSubstr("\r\nhttps://ebb.example.com/instances/i-1\r\n"));
    EXPECT_THAT(text, HasSubstr("<a href=\"https://ebb.example.com/instances/i-1\">"));
}

TEST(Mail, the_link_of_a_decision_makes_it_another_mail) {
    const MailLinks links{
        .site = "https://e.example.com", .decision = "https://e.example.com/c/a.b"
    };
    const std::string mail = make_mail(kAddresses, event("x"), {}, links, kNow);
    EXPECT_THAT(decoded(mail), HasSubstr("\r\nhttps://e.example.com/c/a.b\r\n"));
    EXPECT_THAT(decoded(mail), HasSubstr("<a href=\"https://e.example.com/c/a.b\">"));
    EXPECT_THAT(headers_of(mail), Not(HasSubstr("<evt_i_7@ebb>")));
    EXPECT_EQ(make_mail(kAddresses, event("x"), {}, links, kNow), mail);
}

TEST(Mail, nothing_of_an_event_becomes_a_header_or_html) {
    const std::string mail = make_mail(
        kAddresses, event("<b>&\\r\\nBcc: eve@example.com", "k\\r\\nTo: eve@e.com"), {}, {}, kNow
    );
    for (const char* name : {"\r\nBcc", "\r\nTo: eve", "eve"}) {
        EXPECT_THAT(headers_of(mail), Not(HasSubstr(name)));
    }
    const std::string text = decoded(mail);
    EXPECT_THAT(text, HasSubstr("&lt;b&gt;&amp;  Bcc: eve@example.com"));
    EXPECT_THAT(text, Not(HasSubstr("\nBcc")));
    EXPECT_THAT(text.substr(text.find("<!doctype")), Not(HasSubstr("<b>")));
}

TEST(Mail, a_subject_of_any_length_and_script_fits_on_its_lines) {
    std::string long_key;
    for (int i = 0; i < 60; ++i) long_key += "\xc3\xa4\xe2\x82\xac";
    const std::string mail = make_mail(kAddresses, event("x", long_key), {}, {}, kNow);
    std::size_t begin = 0;
    while (begin < mail.size()) {
        const std::size_t end = mail.find("\r\n", begin);
        EXPECT_LE(end - begin, 78U) << mail.substr(begin, end - begin);
        begin = end + 2;
    }
}

TEST(Mail, a_digest_counts_and_names_dead_letters) {
    Digest digest{.count = 27};
    digest.shown.resize(20);
    digest.shown.front().key = "o-<1>";
    const std::string mail = make_mail(kAddresses, event("x"), digest, {}, kNow);
    const std::string text = decoded(mail);
    EXPECT_THAT(text, HasSubstr("there are 27 dead letters:"));
    EXPECT_THAT(text, HasSubstr("o-<1>  "));
    EXPECT_THAT(text, HasSubstr("o-&lt;1&gt;  "));
    EXPECT_THAT(text, HasSubstr("\r\n...\r\n"));
    EXPECT_THAT(decoded(make_mail(kAddresses, event("x"), {}, {}, kNow)), Not(HasSubstr("cause")));
}

TEST(Mail, addresses_are_plain) {
    for (const char* good : {"ops@example.com", "a.b+c@x", "o'neil@mail-1.example.com"}) {
        EXPECT_TRUE(engine::is_mail_address(good)) << good;
    }
    for (const char* bad :
         {"ops",
          "@x.de",
          "a@",
          "a b@c.de",
          "a@b@c.de",
          "a@c.de\r\nBcc: e@f.gh",
          "<a@b.de>",
          "a@.de",
          "\"a b\"@c.de",
          "a@b,c@d.de"}) {
        EXPECT_FALSE(engine::is_mail_address(bad)) << bad;
    }
    EXPECT_FALSE(engine::is_mail_address(fmt::format("{}@b.de", std::string(250, 'a'))));
    EXPECT_TRUE(engine::is_mail_address(fmt::format("{}@b.de", std::string(249, 'a'))));
    EXPECT_THAT(engine::mail_recipients("mailto:a@b.de,c@d.de"), ElementsAre("a@b.de", "c@d.de"));
    EXPECT_THAT(engine::mail_recipients("https://example.com"), IsEmpty());
}

struct DigestsTest : ::testing::Test {
    const std::unique_ptr<AdminStore> admin = make_memory_admin_store();
    Digests digests{*admin};

    Kind take(const std::string& delivery, TimePoint event, TimePoint now) {
        return digests.take("ops/group", delivery, event, now).kind;
    }
};

TEST_F(DigestsTest, one_mail_in_ten_minutes_reports_all_that_came_before) {
    ASSERT_EQ(take("a", kNow, kNow), Kind::Send);
    digests.sent("ops/group", "a");
    EXPECT_EQ(take("a", kNow, kNow + 1s), Kind::Covered);
    const auto turn = digests.take("ops/group", "b", kNow + 1min, kNow + 2min);
    EXPECT_EQ(turn.kind, Kind::Wait);
    EXPECT_EQ(turn.wait, 8min);
    EXPECT_EQ(take("c", kNow + 3min, kNow + 3min), Kind::Wait);
    ASSERT_EQ(take("c", kNow + 3min, kNow + 10min), Kind::Send);
    EXPECT_EQ(take("b", kNow + 1min, kNow + 10min), Kind::Wait);
    digests.sent("ops/group", "c");
    EXPECT_EQ(take("b", kNow + 1min, kNow + 11min), Kind::Covered);
    // The commit of this one may have come after the mail.
    EXPECT_EQ(take("d", kNow + 10min - 1s, kNow + 11min), Kind::Wait);
    EXPECT_EQ(digests.take("ops/other", "e", kNow, kNow).kind, Kind::Send);
}

TEST_F(DigestsTest, a_process_that_dies_while_it_sends_sends_again) {
    ASSERT_EQ(take("a", kNow, kNow), Kind::Send);
    EXPECT_EQ(take("b", kNow, kNow + 1min), Kind::Wait);
    EXPECT_EQ(take("a", kNow, kNow + 1min), Kind::Send);
    // If it never comes back, another one sends.
    EXPECT_EQ(take("b", kNow, kNow + 10min), Kind::Send);
}

TEST_F(DigestsTest, after_a_mail_that_was_not_accepted_the_next_one_may_try) {
    ASSERT_EQ(take("a", kNow, kNow), Kind::Send);
    digests.failed("ops/group", "b");
    EXPECT_EQ(take("b", kNow, kNow + 1s), Kind::Wait);
    digests.failed("ops/group", "a");
    EXPECT_EQ(take("b", kNow, kNow + 1s), Kind::Send);
}

}  // namespace
}  // namespace ebb::webhooks
