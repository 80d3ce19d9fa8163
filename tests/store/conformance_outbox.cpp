// Goal: notices are written with the commit that causes them, completely or not at all, wait until
// they are removed, and subscriptions are counted, suspended and seen by every worker. Method:
// every case runs against every store.

#include <ebb/error.h>

#include "store/conformance.h"
#include "support/store_describe.h"
#include "support/store_faulty.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

Notice notice_of(const std::string& subscription, Seq seq, TimePoint at = kStart) {
    return {subscription, seq, "instance.started", R"({"instance":"i"})", at};
}

Subscription subscription(const std::string& name, TimePoint at = kStart) {
    return {.name = name, .document = R"({"format":"standard"})", .updated_at = at};
}

/// `SUBSCRIPTION/SEQ` of each row.
std::vector<std::string> waiting(Store& store, std::vector<std::string> names, int limit = 100) {
    std::vector<std::string> found;
    for (const OutboxRow& row : store.outbox(names, limit)) {
        found.push_back(row.notice.subscription + "/" + std::to_string(row.notice.seq));
    }
    return found;
}

TEST_P(StoreConformance, writes_notices_with_a_start) {
    NewInstance instance = instance_of(1);
    instance.effects.notices = {notice_of("a", 1), notice_of("b", 1)};
    start_one(store(), instance);
    const auto rows = store().outbox({"a"}, 10);
    ASSERT_THAT(rows, SizeIs(1));
    EXPECT_EQ(rows[0], (OutboxRow{id_of(1), notice_of("a", 1)}));
    EXPECT_THAT(waiting(store(), {"b"}), ElementsAre("b/1"));
    EXPECT_THAT(waiting(store(), {"c"}), IsEmpty());
}

TEST_P(StoreConformance, a_start_that_meets_its_key_writes_no_notices) {
    NewInstance first = instance_of(1);
    first.row.key = "k";
    start_one(store(), first);
    NewInstance second = instance_of(2);
    second.row.key = "k";
    second.effects.notices = {notice_of("a", 1)};
    start_one(store(), second);
    EXPECT_THAT(waiting(store(), {"a"}), IsEmpty());
}

TEST_P(StoreConformance, a_start_that_is_repeated_writes_its_notices_once) {
    NewInstance instance = instance_of(1);
    instance.effects.notices = {notice_of("a", 1)};
    start_one(store(), instance);
    start_one(store(), instance);
    EXPECT_THAT(waiting(store(), {"a"}), ElementsAre("a/1"));
}

TEST_P(StoreConformance, writes_notices_with_a_commit_and_none_with_one_that_lost_the_race) {
    start_one(store(), instance_of(1));
    const Change won{.instance = 1, .effects = {.notices = {notice_of("a", 2)}}};
    ASSERT_EQ(commit_one(store(), won), CommitResult::Committed);
    EXPECT_THAT(waiting(store(), {"a"}), ElementsAre("a/2"));
    const Change lost{.instance = 1, .effects = {.notices = {notice_of("a", 3)}}};
    ASSERT_EQ(commit_one(store(), lost), CommitResult::Conflict);
    EXPECT_THAT(waiting(store(), {"a"}), ElementsAre("a/2"));
}

TEST_P(StoreConformance, lists_the_oldest_notices_first_and_removes_what_was_relayed) {
    NewInstance instance = instance_of(1);
    instance.effects.notices = {
        notice_of("a", 1, kStart + 2s), notice_of("a", 2, kStart + 1s), notice_of("b", 3, kStart)
    };
    start_one(store(), instance);
    EXPECT_THAT(waiting(store(), {"a", "b"}, 2), ElementsAre("b/3", "a/2"));
    store().remove_outbox(store().outbox({"a", "b"}, 2));
    EXPECT_THAT(waiting(store(), {"a", "b"}), ElementsAre("a/1"));
    store().remove_outbox({});
    EXPECT_THAT(waiting(store(), {"a", "b"}), ElementsAre("a/1"));
}

TEST_P(StoreConformance, clears_notices_that_are_old_or_that_no_subscription_wants) {
    const std::vector<OutboxRow> rows{
        {id_of(1), notice_of("a", 1, kStart)},
        {id_of(1), notice_of("a", 2, kStart + 1h)},
        {id_of(1), notice_of("gone", 3, kStart + 1h)},
    };
    store().add_outbox(rows);
    store().add_outbox(rows);
    EXPECT_EQ(store().clear_outbox({"a"}, kStart + 1h), 2);
    EXPECT_THAT(waiting(store(), {"a", "gone"}), ElementsAre("a/2"));
}

TEST_P(StoreConformance, keeps_subscriptions_by_name) {
    store().put_subscription(subscription("b"));
    store().put_subscription(subscription("a"));
    Subscription changed = subscription("a", kStart + 1s);
    changed.is_enabled = false;
    changed.failures = 3;
    changed.suspended_at = kStart;
    store().put_subscription(changed);
    EXPECT_THAT(store().subscriptions(), ElementsAre(changed, subscription("b")));
    EXPECT_EQ(store().find_subscription("a"), changed);
    EXPECT_EQ(store().find_subscription("c"), std::nullopt);
    store().add_outbox(std::vector<OutboxRow>{{id_of(1), notice_of("a", 1)}});
    EXPECT_TRUE(store().remove_subscription("a"));
    EXPECT_FALSE(store().remove_subscription("a"));
    EXPECT_THAT(waiting(store(), {"a"}), IsEmpty());
}

TEST_P(StoreConformance, allows_a_bounded_number_of_subscriptions) {
    for (int i = 0; i < Subscription::kCountMax; ++i) {
        store().put_subscription(subscription("s" + std::to_string(i)));
    }
    store().put_subscription(subscription("s0", kStart + 1s));
    EXPECT_THROW(store().put_subscription(subscription("more")), Error);
    EXPECT_THAT(store().subscriptions(), SizeIs(Subscription::kCountMax));
}

TEST_P(StoreConformance, tells_workers_that_subscriptions_have_changed) {
    const auto mark = [&] { return store().heartbeat(worker_of("w1"), kLease).subscriptions_mark; };
    EXPECT_EQ(mark(), "");
    store().put_subscription(subscription("a"));
    const std::string first = mark();
    EXPECT_NE(first, "");
    EXPECT_EQ(mark(), first);
    store().put_subscription(subscription("a", kStart + 1s));
    EXPECT_NE(mark(), first);
    store().remove_subscription("a");
    EXPECT_EQ(mark(), "");
}

TEST_P(StoreConformance, suspends_a_subscription_after_failures_in_a_row) {
    store().put_subscription(subscription("a"));
    const auto fail = [&](TimePoint now) {
        return store().note_delivery({.subscription = "a", .has_succeeded = false, .now = now});
    };
    for (std::int64_t i = 1; i < Subscription::kFailuresMax; ++i) EXPECT_EQ(fail(kStart + 1s), i);
    EXPECT_EQ(store().find_subscription("a")->suspended_at, TimePoint{});
    EXPECT_EQ(store().find_subscription("a")->updated_at, kStart);
    EXPECT_EQ(fail(kStart + 2s), Subscription::kFailuresMax);
    EXPECT_EQ(store().find_subscription("a")->suspended_at, kStart + 2s);
    EXPECT_EQ(store().find_subscription("a")->updated_at, kStart + 2s);
    fail(kStart + 3s);
    EXPECT_EQ(store().find_subscription("a")->suspended_at, kStart + 2s);
    store().note_delivery({.subscription = "a", .has_succeeded = true, .now = kStart + 4s});
    EXPECT_EQ(store().find_subscription("a")->failures, 0);
    EXPECT_EQ(store().find_subscription("a")->suspended_at, TimePoint{});
    EXPECT_EQ(store().find_subscription("a")->updated_at, kStart + 4s);
    EXPECT_EQ(store().note_delivery({.subscription = "none", .has_succeeded = false}), 0);
}

TEST_P(StoreConformance, lists_system_workflows_only_if_asked) {
    start_one(store(), instance_of(1));
    NewInstance system = instance_of(2);
    system.row.workflow = "ebb:webhook";
    system.row.key = "k";
    start_one(store(), system);
    const auto count = [&](const InstanceQuery& query) { return store().list(query).size(); };
    EXPECT_EQ(count({}), 1U);
    EXPECT_EQ(count({.has_system = true}), 2U);
    EXPECT_EQ(count({.workflow = "ebb:webhook"}), 1U);
    EXPECT_EQ(count({.statuses = {InstanceStatus::Running}}), 1U);
    EXPECT_EQ(count({.statuses = {InstanceStatus::Running}, .has_system = true}), 2U);
    EXPECT_EQ(count({.key = "k"}), 0U);
    EXPECT_EQ(count({.key = "k", .has_system = true}), 1U);
}

}  // namespace
}  // namespace ebb::testing
