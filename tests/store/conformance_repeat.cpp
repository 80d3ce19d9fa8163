// Goal: every verb may be repeated after its answer was lost, and then changes nothing more.
// Method: FaultyStore performs the verb and throws StoreInDoubt; the state is described before and
// after the repetition, for every store.

#include <ebb/error.h>

#include "store/conformance.h"
#include "support/store_counting.h"
#include "support/store_describe.h"
#include "support/store_faulty.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

TEST_P(StoreRepeat, migrate_and_register_workflow) {
    lose_and_repeat(StoreVerb::Migrate, [](Store& store) { store.migrate(); });
    lose_and_repeat(StoreVerb::RegisterWorkflow, [](Store& store) {
        store.register_workflow({"orders", 1, "{}", "a", kStart});
    });
    EXPECT_EQ(store().list_workflows().size(), 1U);
}

TEST_P(StoreRepeat, start) {
    NewInstance instance = instance_of(1, {put_continued(1, "pay")});
    instance.row.key = "k";
    instance.lease_owner = "w1";
    StartResult result;
    lose_and_repeat(StoreVerb::Start, [&](Store& store) { result = start_one(store, instance); });
    EXPECT_EQ(result, (StartResult{StartResult::Kind::Created, id_of(1)}));
    EXPECT_EQ(task(1, 1)->lease_owner, "w1");
}

TEST_P(StoreRepeat, commit) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    const Change change{
        .history = {event_of(2, HistoryType::StepCompleted)}, .tasks = {put(2, "pay")}
    };
    auto result = CommitResult::NotFound;
    lose_and_repeat(StoreVerb::Commit, [&](Store& store) { result = commit_one(store, change); });
    EXPECT_EQ(result, CommitResult::Conflict);
    EXPECT_EQ(history_of(1).size(), 2U);
}

TEST_P(StoreRepeat, claim_after_which_the_heartbeat_names_what_was_claimed) {
    start_one(store(), instance_of(1, {put(1, "pay"), put(2, "pay")}));
    std::vector<Claim> claims;
    lose_and_repeat(StoreVerb::Claim, [&](Store& store) { claims = claim(store, "w1"); });
    EXPECT_THAT(claims, IsEmpty());
    EXPECT_EQ(store().heartbeat(worker_of("w1"), kLease).held.size(), 2U);
}

TEST_P(StoreRepeat, release_even_when_another_worker_has_taken_the_task) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    claim(store(), "w1");
    const TaskRef ref{id_of(1), 1};
    lose_and_repeat(StoreVerb::Release, [&](Store& store) {
        store.release({"w1", kStart}, {&ref, 1});
    });
    claim(store(), "w2");
    lose_and_repeat(StoreVerb::Release, [&](Store& store) {
        store.release({"w1", kStart}, {&ref, 1});
    });
    EXPECT_EQ(task(1, 1)->lease_owner, "w2");
}

TEST_P(StoreRepeat, abandon_even_when_another_worker_has_taken_the_task) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    claim(store(), "w1");
    const TaskRef ref{id_of(1), 1};
    lose_and_repeat(StoreVerb::Abandon, [&](Store& store) {
        store.abandon({"w1", kStart}, {&ref, 1});
    });
    EXPECT_EQ(claim(store(), "w2").at(0).lost_by, "w1");
    lose_and_repeat(StoreVerb::Abandon, [&](Store& store) {
        store.abandon({"w1", kStart}, {&ref, 1});
    });
    EXPECT_EQ(task(1, 1)->lease_owner, "w2");
}

TEST_P(StoreRepeat, postpone_even_when_another_worker_has_taken_the_task) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    claim(store(), "w1");
    const TaskRef ref{id_of(1), 1};
    const auto postpone = [&](Store& store) { store.postpone({"w1", kStart}, ref, kStart + 1s); };
    lose_and_repeat(StoreVerb::Postpone, postpone);
    EXPECT_EQ(task(1, 1)->due, kStart + 1s);
    clock_.advance(1s);
    EXPECT_THAT(names_of(claim(store(), "w2")), ElementsAre("1/1"));
    lose_and_repeat(StoreVerb::Postpone, postpone);
    EXPECT_EQ(task(1, 1)->lease_owner, "w2");
}

TEST_P(StoreRepeat, heartbeat_sign_off_and_maintain) {
    start_one(store(), instance_of(1, {put(1, "pay"), put(2, "pay", kStart + 1s)}));
    claim(store(), "w1");
    lose_and_repeat(StoreVerb::Heartbeat, [&](Store& store) {
        store.heartbeat(worker_of("w3"), kLease);
    });
    lose_and_repeat(StoreVerb::SignOff, [](Store& store) { store.sign_off({"w3", kStart}); });
    clock_.advance(kLease);
    MaintenanceResult result;
    lose_and_repeat(StoreVerb::Maintain, [&](Store& store) { result = store.maintain(); });
    EXPECT_EQ(result.leases_expired, 0);
    EXPECT_THAT(result.workers_expired, IsEmpty());
    EXPECT_THAT(store().workers(), IsEmpty());
}

TEST_P(StoreRepeat, faults_strike_once_where_they_were_planned) {
    CountingStore counting(store());
    FaultyStore faulty(counting);
    faulty.plan({.kind = Fault::Kind::Unavailable, .nth = 2, .verb = StoreVerb::Start});
    faulty.plan({.kind = Fault::Kind::CrashBefore, .nth = 4, .verb = std::nullopt});
    start_one(faulty, instance_of(1));
    EXPECT_THROW(start_one(faulty, instance_of(2)), Error);
    EXPECT_EQ(faulty.load(id_of(2)), std::nullopt);
    start_one(faulty, instance_of(2));
    EXPECT_FALSE(faulty.is_exhausted());
    EXPECT_THROW(faulty.maintain(), SimulatedCrash);
    EXPECT_THROW(faulty.load(id_of(1)), SimulatedCrash);
    EXPECT_TRUE(faulty.is_crashed());
    EXPECT_TRUE(faulty.is_exhausted());
    EXPECT_EQ(counting.calls(StoreVerb::Start), 2);
    EXPECT_EQ(counting.calls(StoreVerb::Maintain), 0);
    EXPECT_EQ(counting.writes(), 2);
    EXPECT_EQ(counting.total(), 3);
}

TEST_P(StoreRepeat, a_crash_after_a_verb_keeps_its_effect) {
    FaultyStore faulty(store());
    faulty.plan({.kind = Fault::Kind::CrashAfter, .nth = 1, .verb = std::nullopt});
    EXPECT_THROW(start_one(faulty, instance_of(1)), SimulatedCrash);
    EXPECT_TRUE(store().load(id_of(1)).has_value());
}

}  // namespace
}  // namespace ebb::testing
