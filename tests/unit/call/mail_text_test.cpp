// Goal: a request that waits as text is the same request when it is read, and a text that is none
// is refused with the reason.

#include "call/mail_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ebb/error.h>

namespace ebb {
namespace {

using ::testing::HasSubstr;

template <class Wanted>
Wanted round_trip(const Wanted& request) {
    const Event read = decode_mail(mail_kind(request), encode_mail(request), PayloadLimits{});
    return std::get<Wanted>(read);
}

std::string refusal(std::string_view kind, std::string_view body) {
    try {
        (void)decode_mail(kind, body, PayloadLimits{});
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was refused";
}

TEST(MailText, keeps_a_signal_with_the_text_of_its_payload) {
    const event::SignalReceived read = round_trip(event::SignalReceived{
        .name = "paid",
        .payload = Payload::text(R"({"b": 1.50, "a": "ä"})"),
        .request_id = "r1",
        .by = "ada"
    });
    EXPECT_EQ(read.name, "paid");
    EXPECT_EQ(read.by, "ada");
    EXPECT_EQ(read.payload, R"({"b": 1.50, "a": "ä"})");
    EXPECT_EQ(read.request_id, "r1");
}

TEST(MailText, of_a_signal_may_leave_out_its_sender_as_workers_of_earlier_releases_do) {
    const Event read =
        decode_mail("signal", R"({"name":"paid","payload":"1","request_id":""})", PayloadLimits{});
    EXPECT_EQ(std::get<event::SignalReceived>(read).by, "");
}

TEST(MailText, keeps_a_decision) {
    const event::DecisionMade read = round_trip(event::DecisionMade{
        .node = "approve",
        .is_confirmed = true,
        .by = "ada",
        .role = "boss",
        .comment = "fine",
        .request_id = "r1",
    });
    EXPECT_EQ(read.node, "approve");
    EXPECT_TRUE(read.is_confirmed);
    EXPECT_EQ(read.by + read.role + read.comment + read.request_id, "adabossfiner1");
    EXPECT_FALSE(round_trip(event::DecisionMade{}).is_confirmed);
}

TEST(MailText, keeps_a_cancel_and_a_write) {
    EXPECT_EQ(round_trip(event::CancelRequested{"ada", "why"}).reason, "why");
    const event::AttributesWritten read = round_trip(event::AttributesWritten{
        .values = Payload::text(R"({"price":5})"), .by = "ada", .request_id = "r1"
    });
    EXPECT_EQ(read.values, R"({"price":5})");
    EXPECT_FALSE(read.is_repair);
}

TEST(MailText, keeps_a_recovery) {
    const event::RecoverRequested read =
        round_trip(event::RecoverRequested{.to = 12, .stops = true, .by = "ada", .request_id = "r"}
        );
    EXPECT_EQ(read.to, 12);
    EXPECT_TRUE(read.stops);
    EXPECT_EQ(read.by + read.request_id, "adar");
    EXPECT_FALSE(round_trip(event::RecoverRequested{.to = 1}).stops);
}

TEST(MailText, reads_a_start) {
    const Event read = decode_mail("start", R"({"input": "{\"a\":1}", "by": "ada"})", {});
    EXPECT_EQ(std::get<event::Started>(read).input, R"({"a":1})");
    EXPECT_EQ(std::get<event::Started>(read).by, "ada");
}

TEST(MailText, refuses_what_is_not_a_request) {
    EXPECT_THAT(refusal("letter", "{}"), HasSubstr("kind \"letter\""));
    EXPECT_THAT(refusal("signal", "[]"), HasSubstr("not a JSON object"));
    EXPECT_THAT(refusal("signal", R"({"name": 5})"), HasSubstr("another type"));
    EXPECT_THAT(refusal("signal", R"({"name": "", "payload": "1"})"), HasSubstr("1 to 128 bytes"));
    EXPECT_THAT(refusal("signal", R"({"name": "a", "payload": "{"})"), HasSubstr("payload"));
    EXPECT_THAT(refusal("decision", R"({"verdict": "maybe"})"), HasSubstr("`confirm` or `reject`"));
    EXPECT_THAT(refusal("recover", R"({"to": 1, "then": "go"})"), HasSubstr("`rematch` or `stop`"));
    EXPECT_THROW((void)mail_kind(event::Resumed{}), Error);
}

}  // namespace
}  // namespace ebb
