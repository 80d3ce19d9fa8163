// Goal: the outcome of an attempt reaches the row of its task once, and only from the worker that
// holds that very attempt. Method: every case runs against every store, in virtual time.

#include "store/conformance.h"
#include "support/store_describe.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;
using Kind = TaskChange::Kind;

constexpr auto kTaken = HandInResult::Taken;
constexpr auto kStale = HandInResult::Stale;

/// One token at visit 3, attempt 2, paused once.
const std::string kState =
    R"({"status":"running","seq":1,"last_token":1,"visit":3,"tokens":[{"id":1,"node":"pay",)"
    R"("visit":3,"attempt":2,"pauses":1,"input":1}]})";

HandedIn outcome_of(int n, AttemptRef attempt = {1, 3, 2, 1}, std::string text = "{\"a\":1}") {
    return {.instance = id_of(n), .attempt = attempt, .outcome = std::move(text)};
}

NewInstance paying(int n) {
    NewInstance instance = instance_of(n, {put(1, "pay")});
    instance.row.state = kState;
    return instance;
}

std::vector<HandInResult> hand_in(Store& store, std::string worker, const HandedIn& outcome) {
    return store.hand_in({worker, kStart}, {&outcome, 1});
}

TEST_P(StoreConformance, an_outcome_makes_its_task_one_of_the_engine_that_is_due_now) {
    start_one(store(), paying(1));
    claim(store(), "w1");
    clock_.advance(1s);
    EXPECT_THAT(hand_in(store(), "w1", outcome_of(1)), ElementsAre(kTaken));
    const std::optional<TaskRow> row = task(1, 1);
    EXPECT_EQ(row->handler, kEngineHandler);
    EXPECT_EQ(row->lease_owner, "");
    EXPECT_EQ(row->due, kStart + 1s);
    EXPECT_FALSE(row->was_lost);
    EXPECT_THAT(store().heartbeat(worker_of("w1"), kLease).held, IsEmpty());

    const std::vector<Claim> claims = claim(store(), "w2", {"other"});
    ASSERT_EQ(claims.size(), 1U) << "any worker decides it";
    EXPECT_EQ(claims.at(0).outcome, "{\"a\":1}");
}

TEST_P(StoreConformance, an_outcome_stays_when_the_worker_that_was_to_decide_it_dies) {
    start_one(store(), paying(1));
    claim(store(), "w1");
    hand_in(store(), "w1", outcome_of(1));
    claim(store(), "w2");
    clock_.advance(kLease);
    store().heartbeat(worker_of("w1"), kLease);
    EXPECT_EQ(store().maintain().leases_expired, 1);
    const std::vector<Claim> claims = claim(store(), "w1");
    ASSERT_EQ(claims.size(), 1U);
    EXPECT_EQ(claims.at(0).outcome, "{\"a\":1}");
    EXPECT_FALSE(claims.at(0).was_lost) << "no handler was called under that lease";
}

TEST_P(StoreConformance, an_outcome_of_any_other_attempt_or_holder_is_stale) {
    start_one(store(), paying(1));
    EXPECT_THAT(hand_in(store(), "w1", outcome_of(1)), ElementsAre(kStale)) << "not leased";
    claim(store(), "w1");
    const std::optional<TaskRow> before = task(1, 1);
    EXPECT_THAT(hand_in(store(), "w2", outcome_of(1)), ElementsAre(kStale));
    EXPECT_THAT(hand_in(store(), "w1", outcome_of(1, {1, 4, 2, 1})), ElementsAre(kStale));
    EXPECT_THAT(hand_in(store(), "w1", outcome_of(1, {1, 3, 1, 1})), ElementsAre(kStale));
    EXPECT_THAT(hand_in(store(), "w1", outcome_of(1, {1, 3, 2, 0})), ElementsAre(kStale));
    EXPECT_THAT(hand_in(store(), "w1", outcome_of(1, {2, 3, 2, 1})), ElementsAre(kStale));
    EXPECT_THAT(hand_in(store(), "w1", outcome_of(9)), ElementsAre(kStale));
    EXPECT_EQ(task(1, 1), before);
    const HandedIn outcome = outcome_of(1);
    EXPECT_THAT(store().hand_in({"w1", kStart + 1s}, {&outcome, 1}), ElementsAre(kStale))
        << "another process has the name";
}

TEST_P(StoreConformance, several_outcomes_are_each_judged_by_themselves) {
    for (int n = 1; n <= 3; ++n) start_one(store(), paying(n));
    claim(store(), "w1");
    const std::vector<HandedIn> outcomes{outcome_of(3), outcome_of(2, {1, 3, 9, 1}), outcome_of(1)};
    EXPECT_THAT(store().hand_in({"w1", kStart}, outcomes), ElementsAre(kTaken, kStale, kTaken));
    EXPECT_EQ(task(2, 1)->lease_owner, "w1");
    EXPECT_THAT(store().hand_in({"w1", kStart}, {}), IsEmpty());
}

TEST_P(StoreConformance, a_repeated_outcome_is_taken_until_it_is_decided) {
    start_one(store(), paying(1));
    claim(store(), "w1");
    EXPECT_THAT(hand_in(store(), "w1", outcome_of(1)), ElementsAre(kTaken));
    EXPECT_THAT(hand_in(store(), "w1", outcome_of(1)), ElementsAre(kTaken));
    claim(store(), "w2");
    commit_one(store(), {.tasks = {change_of(Kind::Remove, 1)}});
    EXPECT_THAT(hand_in(store(), "w1", outcome_of(1)), ElementsAre(kStale));
}

TEST_P(StoreConformance, an_outcome_is_kept_when_a_stop_or_a_park_came_first) {
    start_one(store(), paying(1));
    start_one(store(), paying(2));
    claim(store(), "w1");
    commit_one(store(), {.instance = 1, .state = kState, .tasks = {change_of(Kind::Stop, 1)}});
    commit_one(store(), {.instance = 2, .state = kState, .tasks = {change_of(Kind::Park, 1)}});
    EXPECT_THAT(hand_in(store(), "w1", outcome_of(1)), ElementsAre(kTaken));
    EXPECT_THAT(hand_in(store(), "w1", outcome_of(2)), ElementsAre(kTaken));
    const std::vector<Claim> claims = claim(store(), "w2");
    ASSERT_EQ(claims.size(), 2U);
    EXPECT_EQ(claims.at(0).outcome, "{\"a\":1}");
    EXPECT_TRUE(claims.at(0).is_stop);
    EXPECT_EQ(claims.at(1).outcome, "{\"a\":1}");
}

TEST_P(StoreConformance, a_row_that_names_a_handler_again_shows_no_outcome) {
    start_one(store(), paying(1));
    claim(store(), "w1");
    hand_in(store(), "w1", outcome_of(1));
    claim(store(), "w2");
    commit_one(store(), {.tasks = {put(1, "pay")}});
    const std::vector<Claim> claims = claim(store(), "w1");
    ASSERT_EQ(claims.size(), 1U);
    EXPECT_EQ(claims.at(0).handler, "pay");
    EXPECT_EQ(claims.at(0).outcome, "");
}

}  // namespace
}  // namespace ebb::testing
