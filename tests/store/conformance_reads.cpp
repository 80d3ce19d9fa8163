// Goal: history and lists come back whole, in order, page by page, filtered as asked.
// Method: every case runs against every store.

#include <map>
#include <set>
#include <tuple>

#include "store/conformance.h"
#include "support/store_describe.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

TEST_P(StoreHistory, pages_forward) {
    query_.limit = 5;
    EXPECT_THAT(found(), ElementsAre(1, 2, 3, 4, 5));
    query_.after = 5;
    EXPECT_THAT(found(), ElementsAre(6, 7, 8, 9, 10));
    query_.after = 10;
    EXPECT_THAT(found(), ElementsAre(11, 12));
    query_.after = 12;
    EXPECT_THAT(found(), IsEmpty());
}

TEST_P(StoreHistory, pages_backward) {
    query_.order = HistoryQuery::Order::Backward;
    query_.limit = 5;
    EXPECT_THAT(found(), ElementsAre(12, 11, 10, 9, 8));
    query_.before = 8;
    query_.after = 4;
    EXPECT_THAT(found(), ElementsAre(7, 6, 5));
}

TEST_P(StoreHistory, filters_by_type_and_node) {
    query_.types = {HistoryType::StepCompleted, HistoryType::Started};
    EXPECT_THAT(found(), ElementsAre(1, 2, 4, 6, 8, 10, 12));
    query_.node = "ship";
    EXPECT_THAT(found(), ElementsAre(6, 12));
    query_.order = HistoryQuery::Order::Backward;
    query_.limit = 1;
    EXPECT_THAT(found(), ElementsAre(12));
    query_.types = {HistoryType::Aborted};
    EXPECT_THAT(found(), IsEmpty());
}

TEST_P(StoreHistory, reads_single_events_in_their_order) {
    std::vector<Seq> seqs;
    for (const HistoryEvent& event : store().events(id_of(1), {9, 2, 77, 5, 2})) {
        seqs.push_back(event.seq);
        query_.after = event.seq - 1;
        query_.limit = 1;
        EXPECT_THAT(store().history(query_), ElementsAre(event)) << "with everything in it";
    }
    EXPECT_THAT(seqs, ElementsAre(2, 5, 9));
    EXPECT_THAT(store().events(id_of(1), {}), IsEmpty());
    EXPECT_THAT(store().events(id_of(2), {9}), IsEmpty()) << "of another instance";
    EXPECT_THAT(store().events(id_of(7), {1}), IsEmpty()) << "there is no such instance";
}

TEST_P(StoreHistory, knows_bounds_that_hold_nothing) {
    query_.after = 6;
    query_.before = 6;
    EXPECT_THAT(found(), IsEmpty());
    query_.after = 9;
    query_.before = 3;
    EXPECT_THAT(found(), IsEmpty());
    query_.limit = 0;
    query_.after = query_.before = 0;
    EXPECT_THAT(found(), IsEmpty());
}

TEST_P(StoreList, pages_from_the_newest) {
    query_.limit = 3;
    EXPECT_THAT(found(), ElementsAre(id_of(8), id_of(7), id_of(6)));
    query_.before = id_of(6);
    EXPECT_THAT(found(), ElementsAre(id_of(5), id_of(4), id_of(3)));
    query_.before = id_of(1);
    EXPECT_THAT(found(), IsEmpty());
    query_ = {};
    query_.limit = 0;
    EXPECT_THAT(found(), IsEmpty());
}

TEST_P(StoreList, pages_from_the_oldest) {
    query_.order = InstanceOrder::OldestFirst;
    query_.limit = 3;
    EXPECT_THAT(found(), ElementsAre(id_of(1), id_of(2), id_of(3)));
    go_on_after(query_, id_of(3));
    EXPECT_THAT(found(), ElementsAre(id_of(4), id_of(5), id_of(6)));
    query_.before = id_of(6);
    EXPECT_THAT(found(), ElementsAre(id_of(4), id_of(5)));
    query_.before = id_of(3);
    EXPECT_THAT(found(), IsEmpty());
    go_on_after(query_, id_of(8));
    query_.before.reset();
    EXPECT_THAT(found(), IsEmpty());
}

TEST_P(StoreList, filters_from_the_oldest) {
    query_.order = InstanceOrder::OldestFirst;
    query_.statuses = {InstanceStatus::Failed, InstanceStatus::Running};
    query_.workflow = "orders";
    query_.from = id_of(3);
    query_.limit = 2;
    EXPECT_THAT(found(), ElementsAre(id_of(4), id_of(6)));
    query_.version = 2;
    EXPECT_THAT(found(), ElementsAre(id_of(6), id_of(8)));
    query_ = {.order = InstanceOrder::OldestFirst};
    query_.key = "k";
    EXPECT_THAT(found(), ElementsAre(id_of(3), id_of(4)));
    query_.limit = 1;
    EXPECT_THAT(found(), ElementsAre(id_of(3)));
    query_.from = id_of(4);
    EXPECT_THAT(found(), ElementsAre(id_of(4)));
}

TEST_P(StoreList, has_a_lower_limit_in_both_orders) {
    query_.from = id_of(6);
    EXPECT_THAT(found(), ElementsAre(id_of(8), id_of(7), id_of(6)));
    query_.before = id_of(7);
    EXPECT_THAT(found(), ElementsAre(id_of(6)));
    query_.statuses = {InstanceStatus::Running};
    EXPECT_THAT(found(), ElementsAre(id_of(6)));
}

TEST_P(StoreList, filters_by_status_workflow_version_and_key) {
    query_.statuses = {InstanceStatus::Failed};
    EXPECT_THAT(found(), ElementsAre(id_of(8), id_of(7)));
    query_.statuses = {InstanceStatus::Running, InstanceStatus::Failed, InstanceStatus::Running};
    query_.workflow = "orders";
    query_.limit = 3;
    EXPECT_THAT(found(), ElementsAre(id_of(8), id_of(6), id_of(4)));
    query_.version = 1;
    EXPECT_THAT(found(), ElementsAre(id_of(4), id_of(2)));
    query_.key = "k";
    EXPECT_THAT(found(), ElementsAre(id_of(4)));
    query_.statuses = {InstanceStatus::Failed};
    EXPECT_THAT(found(), IsEmpty());
}

TEST_P(StoreList, finds_a_key_in_all_workflows) {
    query_.key = "k";
    EXPECT_THAT(found(), ElementsAre(id_of(4), id_of(3)));
    query_.before = id_of(4);
    EXPECT_THAT(found(), ElementsAre(id_of(3)));
}

TEST_P(StoreList, counts_by_workflow_and_status) {
    EXPECT_THAT(
        store().count(),
        ElementsAre(
            StatusCount{"orders", InstanceStatus::Running, 3},
            StatusCount{"orders", InstanceStatus::Failed, 1},
            StatusCount{"returns", InstanceStatus::Running, 3},
            StatusCount{"returns", InstanceStatus::Failed, 1}
        )
    );
    commit_one(store(), {.instance = 2, .status = InstanceStatus::Completed});
    EXPECT_EQ(store().count().at(1), (StatusCount{"orders", InstanceStatus::Completed, 1}));
}

TEST_P(StoreList, counts_each_version) {
    // As list() finds them, one by one.
    std::map<std::tuple<std::string, int, InstanceStatus>, std::int64_t> counts;
    for (const InstanceRow& row : store().list({})) {
        counts[{row.workflow, row.version, row.status}] += 1;
    }
    std::vector<VersionCount> expected;
    std::set<int> versions;
    for (const auto& [key, count] : counts) {
        const auto& [workflow, version, status] = key;
        expected.push_back({workflow, version, status, count});
        versions.insert(version);
    }
    ASSERT_GT(versions.size(), 1U);
    EXPECT_EQ(store().count_versions(), expected);
}

}  // namespace
}  // namespace ebb::testing
