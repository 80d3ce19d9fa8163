// Goal: workflows are immutable and instances are created once, whatever is repeated.
// Method: every case runs against every store.

#include <ebb/error.h>

#include "store/conformance.h"
#include "support/store_describe.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

WorkflowRow workflow_of(int version, std::string checksum) {
    return {
        "orders", version, "{\"v\":" + std::to_string(version) + "}", std::move(checksum), kStart
    };
}

TEST_P(StoreConformance, keeps_a_workflow_word_for_word) {
    const WorkflowRow row{"bestellung-größe-🌊", 3, "{\"steps\":[\"ü\"]}", "abc", kStart + 1us};
    store().register_workflow(row);
    EXPECT_EQ(store().find_workflow(row.name, 3), row);
}

TEST_P(StoreConformance, takes_the_newest_version_when_none_is_named) {
    store().register_workflow(workflow_of(2, "b"));
    store().register_workflow(workflow_of(10, "c"));
    store().register_workflow(workflow_of(1, "a"));
    EXPECT_EQ(store().find_workflow("orders", std::nullopt)->version, 10);
    EXPECT_EQ(store().find_workflow("orders", 2)->checksum, "b");
    EXPECT_EQ(store().find_workflow("orders", 3), std::nullopt);
    EXPECT_EQ(store().find_workflow("order", std::nullopt), std::nullopt);
}

TEST_P(StoreConformance, refuses_different_content_for_the_same_version) {
    store().register_workflow(workflow_of(1, "a"));
    store().register_workflow(workflow_of(1, "a"));
    try {
        store().register_workflow(workflow_of(1, "b"));
        FAIL() << "was accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::WorkflowConflict);
        EXPECT_THAT(error.what(), HasSubstr("register the new content as version 2"));
    }
    EXPECT_EQ(store().find_workflow("orders", 1)->checksum, "a");
    store().register_workflow(workflow_of(2, "b"));
}

TEST_P(StoreConformance, lists_workflows_by_name_and_version_without_their_text) {
    store().register_workflow(workflow_of(10, "c"));
    store().register_workflow(workflow_of(9, "b"));
    store().register_workflow({"a", 1, "{}", "x", kStart});
    const std::vector<WorkflowRow> rows = store().list_workflows();
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].name, "a");
    EXPECT_EQ(rows[1], (WorkflowRow{"orders", 9, "", "b", kStart}));
    EXPECT_EQ(rows[2].version, 10);
}

TEST_P(StoreConformance, keeps_an_instance_with_its_history_and_tasks) {
    NewInstance instance = instance_of(1, {put(1, "pay"), put(0, "", kStart + 1h)});
    instance.row.version = 4;
    instance.row.key = "order-1";
    instance.row.priority = -7;
    instance.row.state = R"({"tokens":[{"node":"prüfen"}]})";
    EXPECT_EQ(start_one(store(), instance), (StartResult{StartResult::Kind::Created, id_of(1)}));
    EXPECT_EQ(store().load(id_of(1)), instance.row);
    EXPECT_EQ(history_of(1), instance.history);
    EXPECT_THAT(names_of(store().tasks(id_of(1))), ElementsAre("1/0", "1/1"));
    EXPECT_EQ(task(1, 0)->due, kStart + 1h);
    EXPECT_EQ(task(1, 1)->queue, "default");
}

TEST_P(StoreConformance, knows_nothing_of_an_instance_that_was_not_started) {
    EXPECT_EQ(store().load(id_of(1)), std::nullopt);
    EXPECT_EQ(store().find_key("orders", "order-1"), std::nullopt);
    EXPECT_THAT(history_of(1), IsEmpty());
    EXPECT_THAT(store().tasks(id_of(1)), IsEmpty());
}

TEST_P(StoreConformance, repeats_a_start_with_the_same_id_without_a_second_effect) {
    const NewInstance instance = instance_of(1, {put(1, "pay")});
    start_one(store(), instance);
    commit_one(store(), {.state = "moved on", .tasks = {change_of(TaskChange::Kind::Remove, 1)}});
    EXPECT_EQ(start_one(store(), instance), (StartResult{StartResult::Kind::Created, id_of(1)}));
    EXPECT_EQ(store().load(id_of(1))->state, "moved on");
    EXPECT_THAT(store().tasks(id_of(1)), IsEmpty());
    EXPECT_EQ(history_of(1).size(), 1U);
}

TEST_P(StoreConformance, answers_a_second_start_with_the_same_key_with_the_first_instance) {
    NewInstance first = instance_of(1, {put(1, "pay")});
    NewInstance second = instance_of(2, {put(1, "pay")});
    first.row.key = second.row.key = "order-1";
    start_one(store(), first);
    EXPECT_EQ(start_one(store(), second), (StartResult{StartResult::Kind::Existing, id_of(1)}));
    EXPECT_EQ(store().load(id_of(2)), std::nullopt);
    EXPECT_THAT(history_of(2), IsEmpty());
    EXPECT_THAT(store().tasks(id_of(2)), IsEmpty());
    EXPECT_EQ(store().find_key("orders", "order-1"), id_of(1));
    // The first one keeps saying that it was created.
    EXPECT_EQ(start_one(store(), first).kind, StartResult::Kind::Created);
}

TEST_P(StoreConformance, keeps_keys_of_different_workflows_apart_and_never_compares_empty_ones) {
    NewInstance a = instance_of(1);
    NewInstance b = instance_of(2);
    b.row.workflow = "returns";
    a.row.key = b.row.key = "k";
    for (const NewInstance& instance : {a, b, instance_of(3), instance_of(4)}) {
        EXPECT_EQ(start_one(store(), instance).kind, StartResult::Kind::Created);
    }
    EXPECT_EQ(store().find_key("returns", "k"), id_of(2));
    EXPECT_EQ(store().find_key("orders", ""), std::nullopt);
}

TEST_P(StoreConformance, starts_a_batch_in_which_some_keys_exist) {
    std::vector<NewInstance> batch{instance_of(1), instance_of(2), instance_of(3), instance_of(1)};
    batch[0].row.key = batch[1].row.key = "same";
    EXPECT_THAT(
        store().start(batch),
        ElementsAre(
            StartResult{StartResult::Kind::Created, id_of(1)},
            StartResult{StartResult::Kind::Existing, id_of(1)},
            StartResult{StartResult::Kind::Created, id_of(3)},
            StartResult{StartResult::Kind::Created, id_of(1)}
        )
    );
    EXPECT_EQ(store().list({}).size(), 2U);
    EXPECT_THAT(store().start({}), IsEmpty());
}

TEST_P(StoreConformance, leases_continued_tasks_of_a_start_to_its_worker_at_once) {
    NewInstance instance = instance_of(1, {put_continued(1, "pay"), put(2, "pay")});
    instance.lease_owner = "w1";
    start_one(store(), instance);
    EXPECT_EQ(task(1, 1)->lease_owner, "w1");
    EXPECT_THAT(names_of(claim(store(), "w2")), ElementsAre("1/2"));
}

TEST_P(StoreConformance, makes_no_task_for_an_instance_that_is_over_when_it_starts) {
    NewInstance instance = instance_of(1, {put(1, "pay")});
    instance.row.status = InstanceStatus::Completed;
    instance.row.finished_at = kStart;
    start_one(store(), instance);
    EXPECT_THAT(store().tasks(id_of(1)), IsEmpty());
    EXPECT_EQ(store().load(id_of(1))->finished_at, kStart);
}

TEST_P(StoreConformance, keeps_big_payloads_and_any_text) {
    const std::string big(2'000'000, 'x');
    const std::string odd = "\"ünïcödé 🌊 \\u0000 '; DROP TABLE tasks; -- $1 ?1\"";
    NewInstance instance = instance_of(1, {put(1, odd)});
    instance.row.key = odd;
    instance.row.state = big;
    instance.history = {
        event_of(1, HistoryType::Started, big), event_of(2, HistoryType::StepCompleted, odd)
    };
    instance.history[1].node = odd;
    start_one(store(), instance);
    EXPECT_EQ(store().load(id_of(1))->state, big);
    EXPECT_EQ(history_of(1), instance.history);
    EXPECT_EQ(store().find_key("orders", odd), id_of(1));
    EXPECT_THAT(names_of(claim(store(), "w1", {odd})), ElementsAre("1/1"));
}

}  // namespace
}  // namespace ebb::testing
