// Goal: a lease ends when its worker is done, signs off or dies, and only then, and the store
// reports its loss. Method: every case runs against every store, in virtual time.

#include <algorithm>

#include "store/conformance.h"
#include "support/store_describe.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;
using Kind = TaskChange::Kind;

TEST_P(StoreConformance, a_heartbeat_registers_a_worker_and_then_keeps_it_alive) {
    WorkerRow worker = worker_of("w3", {"a", "b"});
    worker.queues = {"q"};
    worker.capacity = 16;
    EXPECT_FALSE(store().heartbeat(worker, 10s).is_known);
    clock_.advance(5s);
    worker.handlers = {"c"};
    EXPECT_TRUE(store().heartbeat(worker, 10s).is_known);
    worker.expires_at = kStart + 15s;
    ASSERT_EQ(store().workers().size(), 3U);
    EXPECT_EQ(store().workers().at(2), worker);
}

TEST_P(StoreConformance, leases_are_counted_by_worker) {
    for (int n = 1; n <= 3; ++n) start_one(store(), instance_of(n, {put(1, "pay")}));
    EXPECT_TRUE(store().count_leases().empty());
    claim(store(), "w1", {"pay"}, 2);
    claim(store(), "w2", {"pay"}, 2);
    const std::map<std::string, std::int64_t> expected{{"w1", 2}, {"w2", 1}};
    EXPECT_EQ(store().count_leases(), expected);
    const TaskRef task{id_of(3), 1};
    store().release({"w2", kStart}, {&task, 1});
    EXPECT_EQ(store().count_leases().size(), 1U);
}

TEST_P(StoreConformance, the_leases_of_several_instances_are_read_together) {
    for (int n = 1; n <= 3; ++n) start_one(store(), instance_of(n, {put(1, "pay"), put(2, "x")}));
    claim(store(), "w1", {"pay"}, 2);
    claim(store(), "w2", {"x"}, 1);
    NewInstance kept = instance_of(4, {put(1, "pay")});
    kept.tasks[0].is_continued = true;
    kept.lease_owner = "w1";
    start_one(store(), kept);
    const std::vector<InstanceId> asked{id_of(1), id_of(3), id_of(4), id_of(9)};
    std::vector<TaskRef> leased = store().leased_tasks("w1", asked);
    std::sort(leased.begin(), leased.end());
    EXPECT_THAT(leased, ElementsAre(TaskRef{id_of(1), 1}, TaskRef{id_of(4), 1}));
    EXPECT_THAT(store().leased_tasks("w2", asked), ElementsAre(TaskRef{id_of(1), 2}));
    EXPECT_THAT(store().leased_tasks("w3", asked), IsEmpty());
    EXPECT_THAT(store().leased_tasks("w1", {}), IsEmpty());
}

TEST_P(StoreConformance, a_heartbeat_reports_when_the_first_of_the_others_would_be_dead) {
    store().heartbeat(worker_of("w2"), 20s);
    store().heartbeat(worker_of("w1"), 30s);
    clock_.advance(5s);
    EXPECT_EQ(store().heartbeat(worker_of("w3"), 10s).others_live_for, Duration(15s));
    EXPECT_EQ(store().heartbeat(worker_of("w2"), 60s).others_live_for, Duration(10s));
    clock_.advance(12s);
    EXPECT_EQ(store().heartbeat(worker_of("w1"), 10s).others_live_for, Duration(-2s));
    store().sign_off({"w3", kStart});
    store().sign_off({"w2", kStart});
    EXPECT_EQ(store().heartbeat(worker_of("w1"), 10s).others_live_for, Duration::max());
    EXPECT_FALSE(store().heartbeat(worker_of("w4"), 5s).is_known);
}

TEST_P(StoreConformance, the_process_that_took_a_name_last_has_it) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    const WorkerRow first = worker_of("w1");
    WorkerRow second = first;
    second.started_at -= 1s;  // its clock is behind
    second.takes_name = true;
    store().heartbeat(first, kLease);
    claim(store(), "w1");
    const HeartbeatResult taken = store().heartbeat(second, kLease);
    second.takes_name = false;
    EXPECT_TRUE(taken.is_known);
    EXPECT_FALSE(taken.is_displaced);
    EXPECT_THAT(taken.held, ElementsAre(HeldTask{{id_of(1), 1}, false}));

    EXPECT_TRUE(store().heartbeat(first, kLease * 9).is_displaced);
    const WorkerProcess displaced{"w1", first.started_at};
    const TaskRef ref{id_of(1), 1};
    store().sign_off(displaced);
    store().release(displaced, {&ref, 1});
    store().abandon(displaced, {&ref, 1});
    store().postpone(displaced, ref, kStart + kLease);
    second.expires_at = kStart + kLease;
    EXPECT_EQ(store().workers().at(0), second) << "the displaced worker changes nothing";
    EXPECT_THAT(
        store().heartbeat(second, kLease).held, ElementsAre(HeldTask{{id_of(1), 1}, false})
    );

    store().sign_off({"w1", second.started_at});
    EXPECT_EQ(claim(store(), "w2").size(), 1U);
    EXPECT_FALSE(store().heartbeat(first, kLease).is_displaced) << "the name is free again";
}

TEST_P(StoreConformance, a_heartbeat_counts_the_others_that_live) {
    store().sign_off({"w2", kStart});
    EXPECT_EQ(store().heartbeat(worker_of("w1"), 10s).others, 0);
    EXPECT_EQ(store().heartbeat(worker_of("w2"), 20s).others, 1);
    EXPECT_EQ(store().heartbeat(worker_of("w3"), 30s).others, 2);
    EXPECT_EQ(store().heartbeat(worker_of("w3"), 30s).others, 2);
    clock_.advance(10s);
    EXPECT_EQ(store().heartbeat(worker_of("w3"), 30s).others, 1);
    store().sign_off({"w2", kStart});
    EXPECT_EQ(store().heartbeat(worker_of("w3"), 30s).others, 0);
}

TEST_P(StoreConformance, a_heartbeat_names_all_that_the_worker_holds) {
    start_one(store(), instance_of(2, {put(1, "pay"), put(2, "pay")}));
    start_one(store(), instance_of(1, {put(7, "pay")}));
    start_one(store(), instance_of(3, {put(1, "ship")}));
    claim(store(), "w1");
    claim(store(), "w2", {"ship"});
    EXPECT_THAT(
        store().heartbeat(worker_of("w1"), kLease).held,
        ElementsAre(
            HeldTask{{id_of(1), 7}, false},
            HeldTask{{id_of(2), 1}, false},
            HeldTask{{id_of(2), 2}, false}
        )
    );
}

TEST_P(StoreConformance, takes_the_leases_of_a_worker_whose_time_ran_out) {
    start_one(store(), instance_of(1, {put(1, "pay"), put(2, "pay")}));
    start_one(store(), instance_of(2, {put(1, "pay")}));
    claim(store(), "w1", {"pay"}, 2);
    clock_.advance(kLease - 1us);
    EXPECT_EQ(store().maintain().leases_expired, 0);
    store().heartbeat(worker_of("w2"), kLease);
    EXPECT_THAT(names_of(claim(store(), "w2")), ElementsAre("2/1"));
    clock_.advance(1us);

    const MaintenanceResult result = store().maintain();
    EXPECT_EQ(result.leases_expired, 2);
    EXPECT_THAT(result.workers_expired, ElementsAre("w1"));
    const std::vector<Claim> claims = claim(store(), "w2");
    EXPECT_THAT(names_of(claims), ElementsAre("1/1", "1/2"));
    EXPECT_TRUE(claims.at(0).was_lost);
    EXPECT_EQ(claims.at(0).lost_by, "w1");
    EXPECT_EQ(store().workers().size(), 1U);
}

TEST_P(StoreConformance, a_worker_lost_while_it_finished_a_stop_has_called_no_handler) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    commit_one(store(), {.tasks = {change_of(Kind::Stop, 1)}});
    claim(store(), "w1");
    EXPECT_THAT(
        store().heartbeat(worker_of("w1"), kLease).held,
        ElementsAre(HeldTask{{id_of(1), 1}, true, false})
    );
    clock_.advance(kLease);
    store().maintain();
    const std::vector<Claim> claims = claim(store(), "w2");
    ASSERT_EQ(claims.size(), 1U);
    EXPECT_TRUE(claims.at(0).is_stop);
    EXPECT_FALSE(claims.at(0).was_lost);
}

TEST_P(StoreConformance, a_worker_lost_while_its_task_was_stopped_may_have_called_the_handler) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    claim(store(), "w1");
    commit_one(store(), {.tasks = {change_of(Kind::Stop, 1)}});
    clock_.advance(kLease);
    store().maintain();
    ASSERT_EQ(claim(store(), "w2", {}).size(), 1U);
    EXPECT_THAT(
        store().heartbeat(worker_of("w2"), kLease).held,
        ElementsAre(HeldTask{{id_of(1), 1}, true, true})
    );
    clock_.advance(kLease);
    store().maintain();
    const std::vector<Claim> claims = claim(store(), "w3", {});
    ASSERT_EQ(claims.size(), 1U);
    EXPECT_TRUE(claims.at(0).was_lost);
    EXPECT_EQ(claims.at(0).lost_by, "w1");
}

TEST_P(StoreConformance, notifies_a_worker_that_was_declared_dead) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    claim(store(), "w1");
    clock_.advance(kLease);
    store().maintain();
    const HeartbeatResult result = store().heartbeat(worker_of("w1"), kLease);
    EXPECT_FALSE(result.is_known);
    EXPECT_THAT(result.held, IsEmpty());
    EXPECT_TRUE(store().heartbeat(worker_of("w1"), kLease).is_known);
}

TEST_P(StoreConformance, a_late_heartbeat_before_any_maintenance_saves_the_leases) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    claim(store(), "w1");
    clock_.advance(kLease + 1h);
    const HeartbeatResult result = store().heartbeat(worker_of("w1"), kLease);
    EXPECT_TRUE(result.is_known);
    EXPECT_EQ(result.held.size(), 1U);
    EXPECT_EQ(store().maintain().leases_expired, 0);
}

TEST_P(StoreConformance, takes_the_leases_of_unknown_workers) {
    NewInstance instance = instance_of(1, {put_continued(1, "pay")});
    instance.lease_owner = "stranger";
    start_one(store(), instance);
    const MaintenanceResult result = store().maintain();
    EXPECT_EQ(result.leases_expired, 1);
    EXPECT_THAT(result.workers_expired, IsEmpty());
    EXPECT_EQ(claim(store(), "w1").at(0).lost_by, "stranger");
}

TEST_P(StoreConformance, remembers_a_loss_until_the_task_is_put_again) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    claim(store(), "stranger");
    store().maintain();
    EXPECT_TRUE(task(1, 1)->was_lost);
    const TaskRef ref{id_of(1), 1};
    EXPECT_TRUE(claim(store(), "w1").at(0).was_lost);
    store().release({"w1", kStart}, {&ref, 1});
    EXPECT_TRUE(claim(store(), "w2").at(0).was_lost);
    commit_one(store(), {.tasks = {put(1, "pay")}});
    const Claim fresh = claim(store(), "w1").at(0);
    EXPECT_FALSE(fresh.was_lost);
    EXPECT_EQ(fresh.lost_by, "");
}

TEST_P(StoreConformance, any_worker_may_claim_a_lost_task_that_must_stop) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    claim(store(), "w1");
    commit_one(store(), {.tasks = {change_of(Kind::Stop, 1)}});
    clock_.advance(kLease);
    store().maintain();
    const Claim stop = claim(store(), "w2", {}).at(0);
    EXPECT_TRUE(stop.is_stop);
    EXPECT_TRUE(stop.was_lost);
}

TEST_P(StoreConformance, releases_only_what_the_worker_still_holds) {
    start_one(store(), instance_of(1, {put(1, "pay"), put(2, "pay"), put(3, "pay")}));
    claim(store(), "w1", {"pay"}, 2);
    claim(store(), "w2", {"pay"}, 1);
    const std::vector<TaskRef> refs{{id_of(1), 2}, {id_of(1), 3}, {id_of(9), 1}};
    store().release({"w1", kStart}, refs);
    EXPECT_EQ(task(1, 1)->lease_owner, "w1");
    EXPECT_EQ(task(1, 2)->lease_owner, "");
    EXPECT_EQ(task(1, 3)->lease_owner, "w2");
    const Claim again = claim(store(), "w2").at(0);
    EXPECT_EQ(name_of(again.task), "1/2");
    EXPECT_FALSE(again.was_lost);
    store().release({"w1", kStart}, {});
}

TEST_P(StoreConformance, a_task_that_a_worker_abandons_counts_as_lost_by_it) {
    start_one(store(), instance_of(1, {put(1, "pay"), put(2, ""), put(3, "pay"), put(4, "pay")}));
    claim(store(), "w1", {"pay"}, 3);
    claim(store(), "w2", {"pay"}, 1);
    const std::vector<TaskRef> refs{
        {id_of(1), 1}, {id_of(1), 2}, {id_of(1), 3}, {id_of(1), 4}, {id_of(9), 1}
    };
    store().abandon({"w1", kStart}, refs);
    store().abandon({"w1", kStart}, {});
    EXPECT_EQ(task(1, 4)->lease_owner, "w2");
    EXPECT_FALSE(task(1, 4)->was_lost);
    std::map<std::string, std::string> lost;
    for (const Claim& found : claim(store(), "w3")) {
        lost[name_of(found.task)] = found.was_lost ? found.lost_by : "not lost";
    }
    const std::map<std::string, std::string> expected{
        {"1/1", "w1"}, {"1/2", "not lost"}, {"1/3", "w1"}
    };
    EXPECT_EQ(lost, expected) << "the engine's own tasks call no handler";
}

TEST_P(StoreConformance, any_worker_may_claim_an_abandoned_task_that_must_stop) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    claim(store(), "w1");
    commit_one(store(), {.tasks = {change_of(Kind::Stop, 1)}});
    const TaskRef ref{id_of(1), 1};
    store().abandon({"w1", kStart}, {&ref, 1});
    const Claim stop = claim(store(), "w2", {}).at(0);
    EXPECT_TRUE(stop.is_stop);
    EXPECT_TRUE(stop.was_lost);
}

TEST_P(StoreConformance, a_postponed_task_keeps_everything_but_its_time) {
    start_one(store(), instance_of(1, {put(1, "pay"), put(2, "pay"), put(3, "pay")}));
    claim(store(), "stranger", {"pay"}, 1);
    store().maintain();
    claim(store(), "w1", {"pay"}, 2);
    commit_one(store(), {.tasks = {change_of(Kind::Stop, 2)}});
    const TimePoint due = clock_.now() + 1min;
    for (const TokenId token : {1, 2, 3}) store().postpone({"w1", kStart}, {id_of(1), token}, due);
    store().postpone({"w1", kStart}, {id_of(9), 1}, due);
    EXPECT_EQ(store().maintain().next_due, due);
    EXPECT_THAT(names_of(claim(store(), "w2")), ElementsAre("1/3")) << "w1 did not hold it";
    EXPECT_EQ(task(1, 1)->due, due);
    EXPECT_EQ(task(1, 1)->lease_owner, "");
    clock_.set(due);
    std::map<std::string, Claim> later;
    for (Claim& found : claim(store(), "w2", {"pay"})) later[name_of(found.task)] = found;
    ASSERT_EQ(later.size(), 2U);
    EXPECT_EQ(later["1/1"].lost_by, "stranger");
    EXPECT_TRUE(later["1/2"].is_stop);
}

TEST_P(StoreConformance, a_postponed_task_takes_its_place_by_its_new_time) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    claim(store(), "w1");
    store().postpone({"w1", kStart}, {id_of(1), 1}, clock_.now() + 2s);
    start_one(store(), instance_of(2, {put(1, "pay", clock_.now() + 1s)}));
    start_one(store(), instance_of(3, {put(1, "pay", clock_.now() + 3s)}));
    clock_.advance(3s);
    EXPECT_THAT(names_of(claim(store(), "w2")), ElementsAre("2/1", "1/1", "3/1"));
}

TEST_P(StoreConformance, a_released_task_that_is_not_due_keeps_sleeping) {
    TaskChange later = put_continued(1, "pay");
    later.due = kStart + 1min;
    NewInstance instance = instance_of(1, {later});
    instance.lease_owner = "w1";
    start_one(store(), instance);
    EXPECT_EQ(store().maintain().next_due, kNever);
    const TaskRef ref{id_of(1), 1};
    store().release({"w1", kStart}, {&ref, 1});
    EXPECT_THAT(claim(store(), "w2"), IsEmpty());
    EXPECT_EQ(store().maintain().next_due, kStart + 1min);
    clock_.advance(1min);
    EXPECT_THAT(names_of(claim(store(), "w2")), ElementsAre("1/1"));
}

TEST_P(StoreConformance, a_worker_that_signs_off_frees_its_tasks_without_losing_them) {
    start_one(store(), instance_of(1, {put(1, "pay"), put(2, "ship")}));
    claim(store(), "w1");
    claim(store(), "w2", {"ship"});
    store().sign_off({"w1", kStart});
    EXPECT_EQ(store().workers().size(), 1U);
    EXPECT_EQ(task(1, 2)->lease_owner, "w2");
    const Claim again = claim(store(), "w2").at(0);
    EXPECT_FALSE(again.was_lost);
    EXPECT_FALSE(store().heartbeat(worker_of("w1"), kLease).is_known);
    store().sign_off({"absent", kStart});
}

TEST_P(StoreConformance, maintenance_says_when_the_next_task_is_due) {
    EXPECT_EQ(store().maintain(), MaintenanceResult{});
    start_one(store(), instance_of(1, {put(1, "pay", kStart + 2s), put(2, "pay", kStart + 1s)}));
    EXPECT_EQ(store().maintain().next_due, kStart + 1s);
    clock_.advance(1s);
    EXPECT_EQ(store().maintain().next_due, kStart + 2s);
    clock_.advance(1s);
    EXPECT_EQ(store().maintain().next_due, kNever);
    EXPECT_EQ(claim(store(), "w1").size(), 2U);
}

TEST_P(StoreConformance, counts_the_tasks_that_no_living_worker_can_run) {
    start_one(
        store(),
        instance_of(
            1,
            {
                put(1, "pay"),
                put(2, "rare"),
                put_in("gpu", 3, "rare"),
                put(4, "rare", kStart + 1s),
                put(5, ""),
                put(6, "rare"),
            }
        )
    );
    WorkerRow gpu = worker_of("w3", {"rare"});
    gpu.queues = {"gpu"};
    store().heartbeat(gpu, kLease);
    EXPECT_THAT(store().unserved(), ElementsAre(Store::Unserved{"rare", "default", 2}));
    clock_.advance(1s);
    EXPECT_THAT(store().unserved(), ElementsAre(Store::Unserved{"rare", "default", 3}));
    clock_.advance(kLease);
    EXPECT_THAT(
        store().unserved(),
        ElementsAre(
            Store::Unserved{"", "default", 1},
            Store::Unserved{"pay", "default", 1},
            Store::Unserved{"rare", "default", 3},
            Store::Unserved{"rare", "gpu", 1}
        )
    );
    claim(store(), "w1", {"rare", "pay"});
    EXPECT_THAT(store().unserved(), IsEmpty());
}

}  // namespace
}  // namespace ebb::testing
