// Goal: labels are written with the start and deleted with their instance, and all stores agree on
// what a filter holds for. Method: the memory store, which evaluates a filter itself, is the model;
// generated filters over random rows must find the same instances in every store.

#include <algorithm>
#include <cmath>
#include <random>

#include <ebb/error.h>

#include "store/conformance.h"
#include "store/memory/memory_store.h"
#include "support/drawn.h"

namespace ebb::testing {
namespace {

using test::Drawn;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

std::vector<std::string> found(
    Store& store,
    const std::string& where,
    int scan_max = 20'000,
    InstanceOrder order = InstanceOrder::NewestFirst
) {
    InstanceSearch search{
        .where = filter::compile(where, kStart), .limit = 7, .scan_max = scan_max, .order = order
    };
    std::vector<std::string> names;
    while (true) {
        const InstanceHits hits = store.search(search);
        for (const InstanceRow& row : hits.rows) names.push_back(name_of({row.id, 0}));
        if (!hits.next) return names;
        go_on_after(search, *hits.next);
    }
}

std::int64_t counted(Store& store, const std::string& where, int scan_max) {
    InstanceSearch search{.where = filter::compile(where, kStart), .scan_max = scan_max};
    std::int64_t total = 0;
    do {
        const InstanceTally tally = store.tally(search);
        for (const StatusCount& count : tally.counts) total += count.count;
        search.before = tally.next;
    } while (search.before);
    return total;
}

NewInstance labeled(int n, Labels labels) {
    NewInstance instance = instance_of(n);
    instance.effects.labels = std::move(labels);
    return instance;
}

TEST_P(StoreConformance, writes_labels_with_a_start) {
    start_one(store(), labeled(1, {{"customer", "acme"}, {"total", 99.5}, {"vip", true}}));
    start_one(store(), labeled(2, {{"customer", "acme"}, {"due", kStart + 1h}}));
    start_one(store(), instance_of(3));
    EXPECT_THAT(found(store(), "labels.customer == \"acme\""), ElementsAre("2/0", "1/0"));
    EXPECT_THAT(found(store(), "labels.total == 99.5"), ElementsAre("1/0"));
    EXPECT_THAT(found(store(), "\"vip\" in tags"), ElementsAre("1/0"));
    EXPECT_THAT(found(store(), "labels.due > now"), ElementsAre("2/0"));
    EXPECT_THAT(found(store(), "!has(labels.customer)"), ElementsAre("3/0"));
    EXPECT_THAT(found(store(), "labels.customer == \"ACME\""), IsEmpty());
}

TEST_P(StoreConformance, a_start_that_meets_its_key_writes_no_labels) {
    NewInstance first = labeled(1, {{"a", "1"}});
    first.row.key = "k";
    NewInstance second = labeled(2, {{"a", "2"}});
    second.row.key = "k";
    start_one(store(), first);
    EXPECT_EQ(start_one(store(), second).kind, StartResult::Kind::Existing);
    EXPECT_THAT(found(store(), "has(labels.a)"), ElementsAre("1/0"));
}

TEST_P(StoreConformance, a_commit_puts_labels_again) {
    start_one(store(), labeled(1, {{"a", "1"}, {"b", 2}}));
    Change change{.instance = 1};
    change.effects.labels = {{"a", true}};
    commit_one(store(), change);
    EXPECT_THAT(found(store(), "labels.a == \"1\""), IsEmpty());
    EXPECT_THAT(found(store(), "labels.a && labels.b == 2"), ElementsAre("1/0"));
}

TEST_P(StoreConformance, a_purge_deletes_labels) {
    NewInstance ended = labeled(1, {{"a", "1"}});
    ended.row.status = InstanceStatus::Completed;
    ended.row.finished_at = kStart;
    start_one(store(), ended);
    clock_.advance(48h);
    store().purge({.rules = {{.workflow = "orders", .keep = {.completed = 1h, .failed = 1h}}}});
    // The same id once more, without a label: an old row would be found with it.
    start_one(store(), instance_of(1));
    EXPECT_THAT(found(store(), "has(labels.a)"), IsEmpty());
}

TEST_P(StoreConformance, a_search_reads_no_more_than_its_budget) {
    for (int n = 1; n <= 10; ++n) start_one(store(), labeled(n, {{"n", n}}));
    InstanceSearch search{.where = filter::compile("labels.n < 3", kStart), .scan_max = 4};
    const InstanceHits first = store().search(search);
    EXPECT_THAT(first.rows, IsEmpty());
    EXPECT_EQ(first.next, id_of(7));
    search.before = first.next;
    EXPECT_EQ(store().search(search).next, id_of(3));
    EXPECT_THAT(found(store(), "labels.n < 3", 4), ElementsAre("2/0", "1/0"));
    EXPECT_EQ(counted(store(), "labels.n < 3", 4), 2);
    // An index finds the only one at once.
    search = {.where = filter::compile("labels.n == 2", kStart), .scan_max = 4};
    const InstanceHits indexed = store().search(search);
    if (store().traits().name != "memory") {
        EXPECT_EQ(indexed.next, std::nullopt);
    }
}

TEST_P(StoreConformance, a_search_from_the_oldest_has_the_same_budget) {
    for (int n = 1; n <= 10; ++n) start_one(store(), labeled(n, {{"n", n}}));
    InstanceSearch search{
        .where = filter::compile("labels.n > 8", kStart),
        .scan_max = 4,
        .order = InstanceOrder::OldestFirst
    };
    EXPECT_EQ(store().search(search).next, id_of(4));
    go_on_after(search, id_of(4));
    EXPECT_EQ(store().search(search).next, id_of(8));
    search.before = id_of(8);
    EXPECT_EQ(store().search(search).next, std::nullopt);
    EXPECT_THAT(
        found(store(), "labels.n > 8", 4, InstanceOrder::OldestFirst), ElementsAre("9/0", "10/0")
    );
    EXPECT_THAT(found(store(), "labels.n == 2", 4, InstanceOrder::OldestFirst), ElementsAre("2/0"));
}

TEST_P(StoreConformance, refuses_a_search_beyond_its_limits) {
    EXPECT_THROW(store().search({.limit = 0}), Error);
    EXPECT_THROW(store().search({.scan_max = InstanceSearch::kScanMax + 1}), Error);
    EXPECT_NO_THROW(store().search({.scan_max = InstanceSearch::kScanMax}));
}

/// Random instances and filters. The seed is fixed: a failure repeats itself.
class Generator {
 public:
    NewInstance instance(int n) {
        NewInstance made = instance_of(n);
        InstanceRow& row = made.row;
        row.workflow = pick({"orders", "returns", "Orders"});
        row.version = below(3) + 1;
        row.priority = below(5) - 2;
        if (below(3) == 0) row.key = pick({"k-1", "k-2", "x"}) + std::to_string(n);
        row.status = kStatuses[static_cast<std::size_t>(below(4))];
        row.created_at = kStart - std::chrono::hours(below(10));
        row.updated_at = row.created_at + std::chrono::minutes(below(90));
        if (is_terminal(row.status)) row.finished_at = row.updated_at;
        if (row.status == InstanceStatus::Failed) {
            FailureChange failure = failure_of(pick({"g1", "g2"}), row.status, row.updated_at);
            failure.note.code = pick({"declined", "timeout"});
            if (below(2) == 0) failure.note.step.clear();
            made.effects.failures = {failure};
        }
        for (const std::string name : {"a", "b", "c"}) {
            if (below(3) > 0) made.effects.labels[name] = value();
        }
        return made;
    }

    std::string filter(int depth) {
        const int kind = depth == 0 ? 0 : below(5);
        if (kind == 1) return "!(" + filter(depth - 1) + ")";
        if (kind == 2 || kind == 3) {
            return Drawn{"({} && {})", filter(depth - 1), filter(depth - 1)};
        }
        if (kind == 4) return Drawn{"({} || {})", filter(depth - 1), filter(depth - 1)};
        return comparison();
    }

 private:
    static constexpr std::array kStatuses = {
        InstanceStatus::Running,
        InstanceStatus::Completed,
        InstanceStatus::Failed,
        InstanceStatus::Cancelled
    };

    int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

    std::string pick(std::vector<std::string> words) {
        return words[static_cast<std::size_t>(below(static_cast<int>(words.size())))];
    }

    LabelValue value() {
        switch (below(4)) {
            case 0:
                return pick({"", "a", "A", "ab", "\xC3\xA4", "it's", "100%", "_"});
            case 1:
                return below(2) == 0 ? 0.1 : static_cast<double>(below(4));
            case 2:
                return below(2) == 0;
            default:
                return kStart - std::chrono::hours(below(5));
        }
    }

    std::string order() { return pick({"==", "!=", "<", "<=", ">", ">="}); }

    std::string comparison() {
        const std::string label = "labels." + pick({"a", "b", "c", "d"});
        switch (below(14)) {
            case 0:
                return Drawn{"{} {} {}", label, order(), text()};
            case 1:
                return Drawn{"{} {} {}", label, order(), pick({"0", "0.1", "1", "2.5", "-1"})};
            case 2:
                return Drawn{"{} {} {}", label, pick({"==", "!="}), pick({"true", "false"})};
            case 3:
                return Drawn{"{} {} {}", label, order(), time()};
            case 4:
                return "has(" + label + ")";
            case 5:
                return Drawn{R"("{}" in {})", pick({"a", "b"}), pick({"tags", "labels"})};
            case 6:
                return label + ".startsWith(" + text() + ")";
            case 7:
                return Drawn{
                    R"(status {} "{}")",
                    pick({"==", "!="}),
                    pick({"running", "completed", "failed"})
                };
            case 8:
                return Drawn{"{} {} {}", pick({"created", "updated", "finished"}), order(), time()};
            case 9:
                return Drawn{
                    "{} {} {}", pick({"version", "priority"}), order(), pick({"1", "2", "0.5"})
                };
            case 10:
                return Drawn{
                    "{} {} {}",
                    pick({"workflow", "key", "error.code", "error.step", "error.group"}),
                    order(),
                    pick({"\"orders\"", "\"g1\"", "\"pay\"", "\"declined\""})
                };
            case 11:
                return Drawn{
                    "{}.startsWith({})", pick({"key", "workflow"}), pick({"\"k-\"", "\"o\""})
                };
            case 12:
                return pick({"has(error.code)", "has(error.step)", "true", "false", label});
            default:
                return label + " in [" + text() + ", 1, true]";
        }
    }

    std::string text() {
        return pick({"\"\"", "\"a\"", "\"A\"", "\"\xC3\xA4\"", "\"it's\"", "\"%\""});
    }

    std::string time() {
        return pick({"now", "now - duration(\"2h\")", "timestamp(\"2026-01-01T00:00:00Z\")"});
    }

    std::mt19937 random_{20'261'123};
};

TEST_P(StoreConformance, all_stores_agree_on_generated_filters) {
    constexpr int kInstances = 60;
    constexpr int kFilters = 200;
    MemoryStore model(clock_);
    Generator generator;
    for (int n = 1; n <= kInstances; ++n) {
        const NewInstance instance = generator.instance(n);
        start_one(model, instance);
        start_one(store(), instance);
    }
    int found_some = 0;
    for (int i = 0; i < kFilters; ++i) {
        const std::string where = generator.filter(3);
        SCOPED_TRACE(where);
        const auto expected = found(model, where);
        found_some += expected.empty() || std::ssize(expected) == kInstances ? 0 : 1;
        ASSERT_EQ(found(store(), where), expected);
        auto from_the_oldest = found(store(), where, 17, InstanceOrder::OldestFirst);
        std::reverse(from_the_oldest.begin(), from_the_oldest.end());
        ASSERT_EQ(from_the_oldest, expected);
        ASSERT_EQ(counted(store(), where, 17), std::ssize(expected));
    }
    // Filters that find nothing or everything would show little.
    EXPECT_GT(found_some, kFilters / 4);
}

}  // namespace
}  // namespace ebb::testing
