// Goal: mail waits until the commit that decides it, is read in order, and never without the task
// that wakes its instance. Method: every case runs against every store, in virtual time.

#include "store/conformance.h"
#include "support/store_describe.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

TEST_P(StoreMail, wakes_its_instance_and_comes_with_the_claim) {
    clock_.advance(1s);
    EXPECT_EQ(send_one(store(), mail_of(1, "r1", "{\"name\":\"paid\"}")), SendResult::Sent);
    const std::optional<TaskRow> wake = task(1, kMailTask);
    ASSERT_TRUE(wake.has_value());
    EXPECT_EQ(wake->handler, kEngineHandler);
    EXPECT_EQ(wake->due, kStart + 1s);
    const std::vector<Claim> claims = claim(store(), "w1", {});
    ASSERT_EQ(claims.size(), 1U);
    Mail expected = mail_of(1, "r1", "{\"name\":\"paid\"}");
    expected.at = kStart + 1s;
    EXPECT_THAT(claims[0].mail, ElementsAre(expected));
    EXPECT_FALSE(claims[0].has_more_mail);
    EXPECT_FALSE(claims[0].was_lost);
    EXPECT_THAT(claim(store(), "w2", {}), IsEmpty()) << "it is leased";
}

TEST_P(StoreMail, other_claims_have_none) {
    start_one(store(), instance_of(2, {put(1, "pay")}));
    send_one(store(), mail_of(1, "r1"));
    for (const Claim& each : claim(store(), "w1")) {
        EXPECT_EQ(each.mail.empty(), each.task.token != kMailTask);
    }
}

TEST_P(StoreMail, is_sent_once_as_long_as_it_is_unread) {
    EXPECT_EQ(send_one(store(), mail_of(1, "r1", "{\"a\":1}")), SendResult::Sent);
    EXPECT_EQ(send_one(store(), mail_of(1, "r1", "{\"a\":2}")), SendResult::Known);
    const std::vector<Claim> claims = claim(store(), "w1", {});
    ASSERT_EQ(claims.size(), 1U);
    ASSERT_EQ(claims[0].mail.size(), 1U);
    EXPECT_EQ(claims[0].mail[0].body, "{\"a\":1}");
}

TEST_P(StoreMail, is_not_sent_to_what_has_ended_or_does_not_exist) {
    commit_one(store(), {.status = InstanceStatus::Completed});
    start_one(store(), instance_of(2));
    const std::vector<Mail> mail{mail_of(1, "r1"), mail_of(2, "r1"), mail_of(9, "r1")};
    EXPECT_THAT(
        store().send(mail), ElementsAre(SendResult::Ended, SendResult::Sent, SendResult::NotFound)
    );
    EXPECT_FALSE(has_wake(1));
    EXPECT_TRUE(has_wake(2));
    EXPECT_THAT(store().send({}), IsEmpty());
}

TEST_P(StoreMail, is_read_in_the_order_of_sending_even_at_one_time) {
    for (const char* sender : {"r3", "r1", "r2"}) send_one(store(), mail_of(1, sender));
    EXPECT_THAT(claimed(), ElementsAre("r3", "r1", "r2"));
}

TEST_P(StoreMail, goes_with_the_commit_that_decides_it) {
    send_one(store(), mail_of(1, "r1"));
    send_one(store(), mail_of(1, "r2"));
    EXPECT_THAT(claimed(), ElementsAre("r1", "r2"));
    const Change change{
        .history = {event_of(2, HistoryType::SignalReceived)}, .received = {{"r1", 0}, {"r2", 0}}
    };
    EXPECT_EQ(commit_one(store(), change), CommitResult::Committed);
    EXPECT_FALSE(has_wake());
    EXPECT_EQ(commit_one(store(), change), CommitResult::Conflict);
    EXPECT_EQ(send_one(store(), mail_of(1, "r1")), SendResult::Sent) << "it is unread no more";
    EXPECT_THAT(claimed("w2"), ElementsAre("r1"));
}

TEST_P(StoreMail, stays_after_a_commit_that_loses_its_race) {
    send_one(store(), mail_of(1, "r1"));
    EXPECT_THAT(claimed(), ElementsAre("r1"));
    const Change late{.revision = 7, .received = {{"r1", 0}}};
    EXPECT_EQ(commit_one(store(), late), CommitResult::Conflict);
    EXPECT_EQ(task(1, kMailTask)->lease_owner, "w1");
    const std::vector<TaskRef> wake{{id_of(1), kMailTask}};
    store().release({"w1", kStart}, wake);
    EXPECT_THAT(claimed("w2"), ElementsAre("r1"));
}

TEST_P(StoreMail, that_came_in_the_meantime_can_be_claimed_at_once) {
    send_one(store(), mail_of(1, "r1"));
    EXPECT_THAT(claimed(), ElementsAre("r1"));
    send_one(store(), mail_of(1, "r2"));
    EXPECT_EQ(task(1, kMailTask)->lease_owner, "w1") << "the lease stays";
    EXPECT_EQ(commit_one(store(), {.received = {{"r1", 0}}}), CommitResult::Committed);
    EXPECT_EQ(task(1, kMailTask)->lease_owner, "");
    EXPECT_THAT(claimed("w2"), ElementsAre("r2"));
    EXPECT_EQ(
        commit_one(store(), {.revision = 2, .received = {{"r2", 0}}}), CommitResult::Committed
    );
    EXPECT_FALSE(has_wake());
}

TEST_P(StoreMail, is_read_a_bounded_amount_at_a_time) {
    for (int n = 0; n <= kMailReadMax; ++n) {
        send_one(store(), mail_of(1, fmt::format("r{:03}", n)));
    }
    const std::vector<Claim> claims = claim(store(), "w1", {});
    ASSERT_EQ(claims.size(), 1U);
    EXPECT_EQ(std::ssize(claims[0].mail), kMailReadMax);
    EXPECT_EQ(claims[0].mail.back().key.sender, "r063");
    EXPECT_TRUE(claims[0].has_more_mail);
    Change change;
    for (const Mail& each : claims[0].mail) change.received.push_back(each.key);
    EXPECT_EQ(commit_one(store(), change), CommitResult::Committed);
    EXPECT_THAT(claimed("w2"), ElementsAre("r064"));
}

TEST_P(StoreMail, beyond_so_many_bytes_is_left_for_later) {
    const std::string big(static_cast<std::size_t>(kMailReadBytesMax), ' ');
    for (const char* sender : {"r1", "r2"}) send_one(store(), mail_of(1, sender, big));
    const std::vector<Claim> claims = claim(store(), "w1", {});
    ASSERT_EQ(claims.size(), 1U);
    EXPECT_THAT(senders_of(claims[0].mail), ElementsAre("r1"));
    EXPECT_TRUE(claims[0].has_more_mail);
}

TEST_P(StoreMail, of_a_worker_that_dies_is_claimed_by_another_one) {
    send_one(store(), mail_of(1, "r1"));
    EXPECT_THAT(claimed(), ElementsAre("r1"));
    clock_.advance(kLease);
    store().heartbeat(worker_of("w2"), kLease);
    EXPECT_EQ(store().maintain().leases_expired, 1);
    const std::vector<Claim> claims = claim(store(), "w2", {});
    ASSERT_EQ(claims.size(), 1U);
    EXPECT_THAT(senders_of(claims[0].mail), ElementsAre("r1"));
    EXPECT_FALSE(claims[0].was_lost) << "no handler was called under that lease";
}

TEST_P(StoreMail, of_an_instance_that_has_ended_is_there_until_it_is_dropped) {
    for (const char* sender : {"r1", "r2", "r3"}) send_one(store(), mail_of(1, sender));
    EXPECT_EQ(store().drop_mail(id_of(1)), 0) << "it has not ended";
    const Change end{.status = InstanceStatus::Cancelled, .received = {{"r1", 0}}};
    EXPECT_EQ(commit_one(store(), end), CommitResult::Committed);
    EXPECT_EQ(store().tasks(id_of(1)).size(), 1U) << "only the wake is left";
    EXPECT_THAT(claimed(), ElementsAre("r2", "r3"));
    EXPECT_EQ(store().drop_mail(id_of(1)), 2);
    EXPECT_THAT(store().tasks(id_of(1)), IsEmpty());
    EXPECT_EQ(store().drop_mail(id_of(1)), 0);
    EXPECT_EQ(store().drop_mail(id_of(9)), 0);
}

TEST_P(StoreMail, is_found_when_the_instance_ends_without_it) {
    send_one(store(), mail_of(1, "r1"));
    const Change end{
        .status = InstanceStatus::Completed,
        .history = {event_of(2, HistoryType::StepCompleted), event_of(3, HistoryType::Completed)},
    };
    EXPECT_EQ(commit_one(store(), end), CommitResult::Committed);
    EXPECT_THAT(claimed(), ElementsAre("r1"));
}

TEST_P(StoreMail, wakes_again_what_was_put_off) {
    send_one(store(), mail_of(1, "r1"));
    EXPECT_THAT(claimed(), ElementsAre("r1"));
    store().postpone({"w1", kStart}, {id_of(1), kMailTask}, kStart + 1min);
    EXPECT_THAT(claimed(), IsEmpty());
    clock_.advance(1min);
    store().maintain();
    EXPECT_THAT(claimed(), ElementsAre("r1"));
    store().postpone({"w1", kStart}, {id_of(1), kMailTask}, kStart + 10min);
    send_one(store(), mail_of(1, "r2"));
    EXPECT_THAT(claimed(), ElementsAre("r1", "r2"));
}

TEST_P(StoreMail, a_commit_beside_it_does_not_touch_it) {
    send_one(store(), mail_of(1, "r1"));
    const Change hop{
        .history = {event_of(2, HistoryType::StepCompleted)}, .tasks = {put(1, "ship")}
    };
    EXPECT_EQ(commit_one(store(), hop), CommitResult::Committed);
    EXPECT_THAT(claimed(), ElementsAre("r1"));
}

TEST_P(StoreMail, several_instances_are_received_in_one_batch) {
    for (int n = 2; n <= 3; ++n) start_one(store(), instance_of(n));
    for (int n = 1; n <= 3; ++n) send_one(store(), mail_of(n, "r1"));
    send_one(store(), mail_of(2, "r2"));
    EXPECT_EQ(claim(store(), "w1", {}).size(), 3U);
    std::vector<Change> changes;
    for (int n = 1; n <= 3; ++n) {
        changes.push_back({.instance = n, .revision = n == 3 ? 9 : 1, .received = {{"r1", 0}}});
    }
    std::vector<Commit> commits;
    for (const Change& change : changes) commits.push_back(change.view());
    using enum CommitResult;
    EXPECT_THAT(store().commit(commits), ElementsAre(Committed, Committed, Conflict));
    EXPECT_FALSE(has_wake(1));
    EXPECT_EQ(task(2, kMailTask)->lease_owner, "");
    EXPECT_EQ(task(3, kMailTask)->lease_owner, "w1");
}

TEST_P(StoreRepeat, send_and_receive_and_drop_mail) {
    start_one(store(), instance_of(1));
    auto sent = SendResult::NotFound;
    lose_and_repeat(StoreVerb::Send, [&](Store& store) {
        sent = send_one(store, mail_of(1, "r1"));
    });
    EXPECT_EQ(sent, SendResult::Known);
    send_one(store(), mail_of(1, "r2"));
    const Change change{.received = {{"r1", 0}}};
    auto committed = CommitResult::NotFound;
    lose_and_repeat(StoreVerb::Commit, [&](Store& store) {
        committed = commit_one(store, change);
    });
    EXPECT_EQ(committed, CommitResult::Conflict);
    commit_one(store(), {.revision = 2, .status = InstanceStatus::Aborted});
    std::int64_t dropped = -1;
    lose_and_repeat(StoreVerb::DropMail, [&](Store& store) {
        dropped = store.drop_mail(id_of(1));
    });
    EXPECT_EQ(dropped, 0);
    EXPECT_TRUE(store().tasks(id_of(1)).empty());
}

}  // namespace
}  // namespace ebb::testing
