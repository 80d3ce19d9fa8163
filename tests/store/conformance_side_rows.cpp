// Goal: waits and failures are written with the commit that causes them, completely or not at all,
// are found by role and by cause, and are deleted with their instance. Method: every case runs
// against every store.

#include <atomic>
#include <limits>
#include <thread>

#include <ebb/error.h>

#include "store/conformance.h"
#include "support/store_describe.h"
#include "support/store_faulty.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

std::vector<std::string> waits(Store& store, DecisionQuery which = {}) {
    std::vector<std::string> names;
    for (const WaitRow& row : store.list_waits({.which = std::move(which)})) {
        names.push_back(name_of({row.instance, row.token}));
    }
    return names;
}

std::vector<std::string> failures(Store& store, FailureQuery query) {
    std::vector<std::string> names;
    for (const FailedInstance& row : store.list_failures(query)) {
        names.push_back(name_of({row.instance, 0}));
    }
    return names;
}

NewInstance waiting(int n, std::vector<std::string> roles, TimePoint since = kStart) {
    NewInstance instance = instance_of(n);
    instance.effects.waits = {wait_of(1, std::move(roles))};
    instance.effects.waits[0].wait.since = since;
    return instance;
}

/// It has failed, in this group.
NewInstance failed(int n, const std::string& group, TimePoint at = kStart) {
    NewInstance instance = instance_of(n);
    instance.row.status = InstanceStatus::Failed;
    instance.row.finished_at = at;
    instance.effects.failures = {failure_of(group, InstanceStatus::Failed, at)};
    return instance;
}

TEST_P(StoreConformance, writes_side_rows_with_a_start) {
    NewInstance instance = waiting(1, {"auditor", "boss"});
    instance.row.key = "k";
    instance.row.version = 3;
    instance.effects.waits[0].wait.deadline = kStart + 1h;
    instance.effects.waits[0].wait.quorum = 2;
    start_one(store(), instance);
    const auto rows = store().list_waits({});
    ASSERT_THAT(rows, SizeIs(1));
    EXPECT_EQ(
        rows[0],
        (WaitRow{
            .instance = id_of(1),
            .token = 1,
            .version = 3,
            .key = "k",
            .status = InstanceStatus::Running,
            .wait = instance.effects.waits[0].wait
        })
    );
}

TEST_P(StoreConformance, a_start_that_meets_its_key_writes_no_side_rows) {
    NewInstance first = instance_of(1);
    first.row.key = "k";
    start_one(store(), first);
    NewInstance second = waiting(2, {});
    second.row.key = "k";
    EXPECT_EQ(start_one(store(), second).kind, StartResult::Kind::Existing);
    EXPECT_THAT(waits(store()), IsEmpty());
}

TEST_P(StoreConformance, a_start_that_is_repeated_late_brings_no_wait_back) {
    const NewInstance instance = waiting(1, {"boss"});
    start_one(store(), instance);
    commit_one(store(), {.effects = {.waits = {no_wait(1)}}});
    start_one(store(), instance);
    EXPECT_THAT(waits(store()), IsEmpty());
}

TEST_P(StoreConformance, writes_and_removes_side_rows_with_commits) {
    start_one(store(), instance_of(1));
    EXPECT_EQ(
        commit_one(store(), {.effects = {.waits = {wait_of(1, {"boss"}), wait_of(2)}}}),
        CommitResult::Committed
    );
    EXPECT_THAT(waits(store()), ElementsAre("1/1", "1/2"));
    commit_one(store(), {.revision = 2, .effects = {.waits = {no_wait(1)}}});
    EXPECT_THAT(waits(store()), ElementsAre("1/2"));
    commit_one(
        store(),
        {.revision = 3,
         .status = InstanceStatus::Failed,
         .effects = {.waits = {no_wait(2)}, .failures = {failure_of("aa")}}}
    );
    EXPECT_THAT(waits(store()), IsEmpty());
    EXPECT_THAT(failures(store(), {.group = "aa"}), ElementsAre("1/0"));
}

TEST_P(StoreConformance, a_vote_keeps_the_beginning_of_the_wait) {
    start_one(store(), waiting(1, {"boss"}));
    WaitChange vote = wait_of(1, {"boss"});
    vote.wait.confirmed = 1;
    vote.wait.since = kStart + 5min;
    commit_one(store(), {.effects = {.waits = {vote}}});
    const auto rows = store().list_waits({});
    ASSERT_THAT(rows, SizeIs(1));
    EXPECT_EQ(rows[0].wait.confirmed, 1);
    EXPECT_EQ(rows[0].wait.since, kStart);
}

TEST_P(StoreConformance, the_next_wait_of_a_token_takes_the_place_of_the_last) {
    start_one(store(), waiting(1, {"boss", "clerk"}));
    WaitChange next = wait_of(1, {"boss"}, 2);
    next.wait.node = "sign";
    next.wait.since = kStart + 5min;
    commit_one(store(), {.effects = {.waits = {next}}});
    const auto rows = store().list_waits({});
    ASSERT_THAT(rows, SizeIs(1));
    EXPECT_EQ(rows[0].wait, next.wait);
    EXPECT_THAT(waits(store(), {.roles = std::vector<std::string>{"clerk"}}), IsEmpty());
}

TEST_P(StoreConformance, a_commit_that_loses_its_race_writes_no_side_rows) {
    start_one(store(), instance_of(1));
    start_one(store(), instance_of(2));
    const Change lost{.instance = 1, .revision = 7, .effects = {.waits = {wait_of(1)}}};
    const Change won{.instance = 2, .effects = {.failures = {failure_of("aa")}}};
    const Change gone{.instance = 3, .effects = {.waits = {wait_of(1)}}};
    const std::vector<Commit> batch{lost.view(), won.view(), gone.view()};
    EXPECT_THAT(
        store().commit(batch),
        ElementsAre(CommitResult::Conflict, CommitResult::Committed, CommitResult::NotFound)
    );
    EXPECT_THAT(waits(store()), IsEmpty());
    EXPECT_THAT(failures(store(), {.group = "aa"}), ElementsAre("2/0"));
}

TEST_P(StoreConformance, side_rows_and_tasks_go_in_one_commit) {
    NewInstance instance = instance_of(1, {put_continued(1, "pay")});
    instance.lease_owner = "w1";
    start_one(store(), instance);
    EXPECT_EQ(
        commit_one(
            store(),
            {.history = {event_of(2, HistoryType::DecisionAwaited)},
             .tasks = {put(1, "", kStart + 1h)},
             .effects = {.waits = {wait_of(1, {"boss"})}}}
        ),
        CommitResult::Committed
    );
    EXPECT_THAT(waits(store()), ElementsAre("1/1"));
    EXPECT_EQ(task(1, 1)->due, kStart + 1h);
    EXPECT_EQ(history_of(1).size(), 2U);
}

TEST_P(StoreRepeat, a_commit_with_side_rows) {
    start_one(store(), waiting(1, {"boss"}));
    const Change change{
        .status = InstanceStatus::DeadLetter,
        .history = {event_of(2, HistoryType::DeadLettered)},
        .effects =
            {.waits = {no_wait(1), wait_of(2)},
             .failures = {failure_of("aa", InstanceStatus::DeadLetter)}}
    };
    auto result = CommitResult::NotFound;
    lose_and_repeat(StoreVerb::Commit, [&](Store& store) { result = commit_one(store, change); });
    EXPECT_EQ(result, CommitResult::Conflict);
    EXPECT_THAT(waits(store()), ElementsAre("1/2"));
}

TEST_P(StoreRepeat, a_start_with_side_rows) {
    const NewInstance instance = waiting(1, {"boss"});
    lose_and_repeat(StoreVerb::Start, [&](Store& store) { start_one(store, instance); });
    EXPECT_THAT(waits(store()), ElementsAre("1/1"));
}

TEST_P(StoreConformance, lists_waits_by_role_with_those_for_anyone) {
    start_one(store(), waiting(1, {"boss"}));
    start_one(store(), waiting(2, {"clerk"}));
    start_one(store(), waiting(3, {}));
    start_one(store(), waiting(4, {"boss", "clerk"}));
    EXPECT_THAT(waits(store()), ElementsAre("1/1", "2/1", "3/1", "4/1"));
    const auto with = [&](std::vector<std::string> roles) {
        return waits(store(), {.roles = std::move(roles)});
    };
    EXPECT_THAT(with({"boss"}), ElementsAre("1/1", "3/1", "4/1"));
    EXPECT_THAT(with({"boss", "clerk"}), ElementsAre("1/1", "2/1", "3/1", "4/1"));
    EXPECT_THAT(with({"visitor"}), ElementsAre("3/1"));
    EXPECT_THAT(with({}), ElementsAre("3/1"));
}

TEST_P(StoreConformance, lists_waits_by_kind_workflow_and_deadline) {
    NewInstance signal = waiting(1, {});
    signal.effects.waits[0].wait.kind = Wait::Kind::Signal;
    signal.effects.waits[0].wait.signal = "paid";
    start_one(store(), signal);
    NewInstance late = waiting(2, {});
    late.effects.waits[0].wait.deadline = kStart + 1h;
    start_one(store(), late);
    NewInstance other = waiting(3, {});
    other.row.workflow = other.effects.waits[0].wait.workflow = "returns";
    start_one(store(), other);
    EXPECT_THAT(waits(store()), ElementsAre("2/1", "3/1"));
    EXPECT_THAT(waits(store(), {.workflow = "returns"}), ElementsAre("3/1"));
    EXPECT_THAT(waits(store(), {.deadline_before = kStart + 2h}), ElementsAre("2/1"));
    EXPECT_THAT(waits(store(), {.deadline_before = kStart + 1h}), IsEmpty());
    const auto signals = store().list_waits({.kind = Wait::Kind::Signal});
    ASSERT_THAT(signals, SizeIs(1));
    EXPECT_EQ(signals[0].wait.signal, "paid");
}

TEST_P(StoreConformance, pages_through_waits_the_longest_first) {
    for (int n = 1; n <= 7; ++n) {
        start_one(store(), waiting(n, {"boss", "clerk"}, kStart + 1h - n / 2 * 1min));
    }
    for (const bool by_role : {false, true}) {
        DecisionQuery query{.limit = 2};
        if (by_role) query.roles = {"boss", "clerk"};
        std::vector<std::string> all;
        for (auto page = store().list_waits({.which = query}); !page.empty();
             page = store().list_waits({.which = query})) {
            EXPECT_LE(page.size(), 2U);
            for (const WaitRow& row : page) all.push_back(name_of({row.instance, row.token}));
            const WaitRow& last = page.back();
            query.after = WaitPlace{last.wait.since, last.instance, last.token};
        }
        EXPECT_THAT(all, ElementsAre("6/1", "7/1", "4/1", "5/1", "2/1", "3/1", "1/1"));
    }
}

TEST_P(StoreConformance, refuses_queries_beyond_their_limits) {
    const auto refused = [](const auto& ask) {
        try {
            ask();
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("not refused");
    };
    EXPECT_THAT(
        refused([&] { store().list_waits({.which = {.limit = 1'001}}); }), HasSubstr("1 to 1000")
    );
    EXPECT_THAT(
        refused([&] { store().list_waits({.which = {.roles = std::vector<std::string>(65, "a")}}); }
        ),
        HasSubstr("at most 64")
    );
    EXPECT_THAT(refused([&] { store().list_failures({.limit = 0}); }), HasSubstr("1 to 1000"));
    EXPECT_THAT(
        refused([&] { store().failure_groups({.statuses = {InstanceStatus::Running}}); }),
        HasSubstr("running")
    );
}

TEST_P(StoreConformance, groups_failures) {
    for (int n = 1; n <= 7; ++n) start_one(store(), failed(n, "aa", kStart + n * 1s));
    NewInstance stuck = instance_of(8);
    stuck.row.status = InstanceStatus::DeadLetter;
    stuck.row.version = 2;
    stuck.effects.failures = {failure_of("aa", InstanceStatus::DeadLetter, kStart)};
    stuck.effects.failures[0].note.version = 2;
    start_one(store(), stuck);
    NewInstance other = failed(9, "bb");
    other.row.workflow = other.effects.failures[0].note.workflow = "returns";
    start_one(store(), other);
    const FailureGroups found = store().failure_groups({});
    ASSERT_THAT(found.groups, SizeIs(2));
    EXPECT_TRUE(found.is_complete);
    const FailureGroup& group = found.groups[0];
    EXPECT_EQ(group.newest, failure_of("aa", InstanceStatus::Failed, kStart + 7s).note);
    EXPECT_EQ(group.count, 8);
    EXPECT_TRUE(group.is_counted);
    EXPECT_EQ(group.dead_letter, 1);
    EXPECT_EQ(group.first_at, kStart);
    EXPECT_THAT(group.versions, ElementsAre(1, 2));
    EXPECT_THAT(group.samples, ElementsAre(id_of(7), id_of(6), id_of(5), id_of(4), id_of(3)));
    EXPECT_THAT(store().failure_groups({.workflow = "returns"}).groups, SizeIs(1));
    const auto dead = store().failure_groups({.statuses = {InstanceStatus::DeadLetter}});
    ASSERT_THAT(dead.groups, SizeIs(1));
    EXPECT_EQ(dead.groups[0].count, 1);
    EXPECT_EQ(dead.groups[0].newest.version, 2);
    const FailureGroups some = store().failure_groups({.limit = 1});
    EXPECT_THAT(some.groups, SizeIs(1));
    EXPECT_FALSE(some.is_complete);
    EXPECT_TRUE(store().failure_groups({.limit = 2}).is_complete);
}

TEST_P(StoreConformance, counts_no_more_of_a_group_than_it_promises) {
    constexpr int kMore = static_cast<int>(FailureGroup::kCountMax) + 1;
    std::vector<NewInstance> batch;
    for (int n = 1; n <= kMore; ++n) batch.push_back(failed(n, "aa", kStart + n * 1us));
    for (std::size_t at = 0; at < batch.size(); at += 2'000) {
        const std::size_t count = std::min(batch.size() - at, std::size_t{2'000});
        store().start(std::span(batch).subspan(at, count));
    }
    const FailureGroup group = store().failure_groups({}).groups.at(0);
    EXPECT_EQ(group.count, FailureGroup::kCountMax);
    EXPECT_FALSE(group.is_counted);
    EXPECT_EQ(group.first_at, kStart + 2us) << "of those that are counted";
}

TEST_P(StoreConformance, pages_through_failures_the_newest_first) {
    for (int n = 1; n <= 5; ++n) start_one(store(), failed(n, "aa", kStart + n / 2 * 1s));
    start_one(store(), failed(6, "bb"));
    EXPECT_THAT(failures(store(), {.group = "aa", .limit = 2}), ElementsAre("5/0", "4/0"));
    EXPECT_THAT(
        failures(
            store(), {.group = "aa", .after = FailurePlace{kStart + 2s, id_of(4)}, .limit = 9}
        ),
        ElementsAre("3/0", "2/0", "1/0")
    );
    EXPECT_THAT(
        failures(store(), {.group = "aa", .statuses = {InstanceStatus::DeadLetter}}), IsEmpty()
    );
    EXPECT_THAT(failures(store(), {.group = "cc"}), IsEmpty());
}

TEST_P(StoreConformance, a_failure_that_is_over_or_another_leaves_its_group) {
    start_one(store(), failed(1, "aa"));
    commit_one(
        store(),
        {.status = InstanceStatus::DeadLetter,
         .effects = {.failures = {failure_of("bb", InstanceStatus::DeadLetter)}}}
    );
    EXPECT_THAT(failures(store(), {.group = "aa"}), IsEmpty());
    EXPECT_THAT(failures(store(), {.group = "bb"}), ElementsAre("1/0"));
    commit_one(store(), {.revision = 2, .effects = {.failures = {no_failure()}}});
    EXPECT_THAT(store().failure_groups({}).groups, IsEmpty());
}

TEST_P(StoreConformance, a_purge_takes_side_rows_along) {
    start_one(store(), failed(1, "aa"));
    start_one(store(), failed(2, "aa", kStart + 1h));
    clock_.advance(1h);
    const RetentionRule rule{.workflow = "*", .keep = {.completed = 30min, .failed = 30min}};
    store().purge({.rules = {rule}});
    EXPECT_THAT(failures(store(), {.group = "aa"}), ElementsAre("2/0"));
    const auto page = store().check_side_rows({}, 100);
    EXPECT_TRUE(page.is_end);
}

TEST_P(StoreConformance, finds_instances_whose_side_rows_may_be_wrong) {
    NewInstance unwritten = instance_of(1);
    unwritten.row.state = R"({"tokens":[{"status":"waiting_decision"}]})";
    start_one(store(), unwritten);
    start_one(store(), waiting(2, {"boss", "clerk"}));
    NewInstance lost = instance_of(3);
    lost.row.status = InstanceStatus::Failed;
    start_one(store(), lost);
    SideRowPage page = store().check_side_rows({}, 2);
    EXPECT_FALSE(page.is_end);
    EXPECT_EQ(page.last, id_of(2));
    ASSERT_THAT(page.suspects, SizeIs(2));
    std::sort(page.suspects.begin(), page.suspects.end(), [](const auto& left, const auto& right) {
        return left.instance < right.instance;
    });
    EXPECT_EQ(
        page.suspects[0],
        (SideRowSuspect{
            .instance = id_of(1),
            .workflow = "orders",
            .version = 1,
            .state = unwritten.row.state,
            .rows = ""
        })
    );
    EXPECT_EQ(page.suspects[1].rows, "1:1:0:boss;1:1:0:clerk;");
    page = store().check_side_rows(page.last, 2);
    EXPECT_TRUE(page.is_end);
    ASSERT_THAT(page.suspects, SizeIs(1));
    EXPECT_EQ(page.suspects[0].instance, id_of(3));
}

TEST_P(StoreConformance, puts_side_rows_right_only_where_nothing_has_changed) {
    start_one(store(), waiting(1, {"boss"}));
    start_one(store(), waiting(2, {"boss"}));
    commit_one(store(), {.instance = 2});
    const Effects right{.waits = {wait_of(3)}, .failures = {failure_of("aa")}};
    const std::vector<SideRowRepair> repairs{
        {.instance = id_of(2), .revision = 1, .effects = right},
        {.instance = id_of(1), .revision = 1, .effects = right},
        {.instance = id_of(9), .revision = 1, .effects = right},
    };
    store().put_side_rows(repairs);
    EXPECT_THAT(waits(store()), ElementsAre("1/3", "2/1"));
    EXPECT_THAT(failures(store(), {.group = "aa"}), ElementsAre("1/0"));
    store().put_side_rows(std::span(repairs).first(2));
    EXPECT_THAT(waits(store()), ElementsAre("1/3", "2/1"));
}

TEST_P(StoreConformance, one_at_a_time_has_the_turn_to_repair) {
    const auto turn = store().take_repair(1min);
    // No other program writes to memory, so there is nothing to repair.
    if (store().traits().name == "memory") {
        EXPECT_FALSE(turn.has_value());
        return;
    }
    ASSERT_TRUE(turn.has_value()) << "the first pass is due at once";
    EXPECT_FALSE(store().take_repair(1min).has_value());
    EXPECT_TRUE(store().put_repair({turn->number, id_of(5)}, 1h));
    clock_.advance(59min);
    EXPECT_FALSE(store().take_repair(1min).has_value());
    clock_.advance(1min);
    const auto next = store().take_repair(1min);
    ASSERT_TRUE(next.has_value());
    EXPECT_EQ(next->after, id_of(5));
    EXPECT_FALSE(store().put_repair(*turn, 1h)) << "the turn was lost";
}

TEST_P(StoreConformance, commits_that_race_leave_the_side_rows_of_the_winner) {
    constexpr int kRounds = 50;
    start_one(store(), instance_of(1));
    std::atomic<int> won = 0;
    const auto race = [&](TokenId token) {
        for (int revision = 1; revision <= kRounds;) {
            const Change change{
                .revision = revision,
                .state = std::to_string(token),
                .effects = {.waits = {wait_of(token, {"boss"}, revision), no_wait(3 - token)}}
            };
            try {
                if (commit_one(store(), change) == CommitResult::Committed) ++won;
            } catch (const Error& error) {
                if (!error.is_transient()) throw;
                continue;
            }
            ++revision;
        }
    };
    std::thread other([&] { race(2); });
    race(1);
    other.join();
    const auto row = store().load(id_of(1));
    EXPECT_EQ(row->revision, won + 1);
    EXPECT_THAT(waits(store()), ElementsAre("1/" + row->state));
}

}  // namespace
}  // namespace ebb::testing
