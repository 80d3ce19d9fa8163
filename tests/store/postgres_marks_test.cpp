// Goal: entries of rows that are gone, which an old snapshot keeps, do not make claims and
// heartbeats slow; and no mark ever hides a task for good. Method: the rules with times of our own,
// and the statements and the store on a server on which a session keeps an old snapshot.

#include <list>

#include <fmt/format.h>

#include "store/conformance.h"
#include "store/postgres/connection.h"
#include "store/postgres/memories/claim_marks.h"
#include "store/postgres/memories/lease_marks.h"
#include "store/postgres/postgres_store.h"
#include "support/postgres_server.h"
#include "support/store_sql.h"

namespace ebb::testing {
namespace {

using postgres::ClaimMarks;
using postgres::FullLooks;
using postgres::LeaseMarks;
using std::chrono::milliseconds;

constexpr auto kUsual = FullLooks::Reason::Usual;
constexpr auto kFoundNothing = FullLooks::Reason::FoundNothing;

TEST(FullLooks, are_always_allowed_while_they_are_quick) {
    FullLooks looks;
    EXPECT_TRUE(looks.may_begin(kStart, kUsual));
    looks.note(kStart, FullLooks::kFree);
    EXPECT_FALSE(looks.are_dear());
    EXPECT_TRUE(looks.may_begin(kStart, kUsual));
}

TEST(FullLooks, take_a_small_share_of_the_time_when_they_are_slow) {
    FullLooks looks;
    looks.note(kStart, milliseconds(1));
    looks.note(kStart, milliseconds(1) * 3 + milliseconds(10));
    EXPECT_TRUE(looks.are_dear());
    EXPECT_FALSE(looks.may_begin(kStart + milliseconds(159), kUsual));
    EXPECT_TRUE(looks.may_begin(kStart + milliseconds(160), kUsual));
    EXPECT_FALSE(looks.may_begin(kStart + milliseconds(39), kFoundNothing));
    EXPECT_TRUE(looks.may_begin(kStart + milliseconds(40), kFoundNothing));
}

TEST(FullLooks, are_not_put_off_when_something_is_said_to_be_there) {
    FullLooks looks;
    looks.note(kStart, milliseconds(1));
    looks.note(kStart, std::chrono::minutes(10));
    EXPECT_TRUE(looks.may_begin(kStart, FullLooks::Reason::Told));
}

TEST(FullLooks, are_never_put_off_for_longer_than_the_limit_nor_by_a_clock_set_back) {
    FullLooks looks;
    looks.note(kStart, milliseconds(1));
    looks.note(kStart, std::chrono::minutes(10));
    EXPECT_FALSE(looks.may_begin(kStart + FullLooks::kPauseMax - Duration(1), kFoundNothing));
    EXPECT_TRUE(looks.may_begin(kStart + FullLooks::kPauseMax, kUsual));
    EXPECT_TRUE(looks.may_begin(kStart - milliseconds(1), kUsual));
}

/// Claims that take as long as the test says.
class ClaimMarksRules : public ::testing::Test {
 protected:
    ClaimMarksRules() {
        request_.handlers = {"pay"};
        claim_for(milliseconds(1));
    }

    ClaimMarks::Look begin() { return marks_.begin(request_, now_, kUsual); }

    /// The look that it was.
    ClaimMarks::Look claim_for(Duration took, ClaimMarks::Findings findings = {}) {
        ClaimMarks::Look look = begin();
        findings.begun = now_;
        now_ += took;
        findings.ended = now_;
        marks_.end(request_, look, findings);
        return look;
    }

    /// After these the next look has marks.
    void become_dear() {
        claim_for(kSlow);
        claim_for(kSlow, {.claimed = {{"pay", "", kRank}}, .left = {{"pay", "q", kRank}}});
    }

    /// `handler/queue rank` of each place.
    static std::vector<std::string> places_of(const ClaimMarks::Look& look) {
        std::vector<std::string> texts;
        for (const ClaimMarks::Place& place : look.places) {
            texts.push_back(fmt::format("{}/{} {}", place.handler, place.queue, place.rank));
        }
        return texts;
    }

    static constexpr Duration kSlow = milliseconds(50);
    static constexpr std::int64_t kRank = 1'000'000'000;

    ClaimMarks marks_;
    ClaimRequest request_;
    TimePoint now_ = kStart;
};

TEST_F(ClaimMarksRules, are_not_used_while_claims_are_quick) {
    const ClaimMarks::Look look = claim_for(milliseconds(1), {.claimed = {{"pay", "", kRank}}});
    EXPECT_TRUE(look.is_full);
    EXPECT_FALSE(look.asks_for_places);
    EXPECT_FALSE(marks_.wants_puts());
    EXPECT_TRUE(begin().is_full);
}

TEST_F(ClaimMarksRules, begin_where_something_was_left_or_a_little_below_what_was_claimed) {
    become_dear();
    const ClaimMarks::Look look = begin();
    EXPECT_FALSE(look.is_full);
    EXPECT_THAT(places_of(look), ::testing::ElementsAre("pay/ 999900000", "pay/q 1000000000"));
}

TEST_F(ClaimMarksRules, rise_with_what_is_claimed) {
    become_dear();
    claim_for(milliseconds(1), {.claimed = {{"pay", "q", kRank * 2}}});
    EXPECT_THAT(places_of(begin()), ::testing::ElementsAre("pay/ 999900000", "pay/q 1999900000"));
}

TEST_F(ClaimMarksRules, are_lowered_by_what_this_process_puts) {
    become_dear();
    marks_.note_put("pay", "q", 5);
    marks_.note_put("pay", "other", 7);
    marks_.note_put("ship", "", 7);  // is not asked for
    EXPECT_THAT(
        places_of(begin()), ::testing::ElementsAre("pay/ 999900000", "pay/other 7", "pay/q 5")
    );
}

TEST_F(ClaimMarksRules, are_lowered_by_what_was_put_while_a_claim_was_on_its_way) {
    become_dear();
    const ClaimMarks::Look look = begin();
    marks_.note_put("pay", "q", 5);
    ClaimMarks::Findings findings{.begun = now_, .ended = now_};
    findings.claimed = {{"pay", "q", kRank * 2}};
    marks_.end(request_, look, findings);
    EXPECT_THAT(places_of(begin()), ::testing::ElementsAre("pay/ 999900000", "pay/q 5"));
}

TEST_F(ClaimMarksRules, give_way_to_a_full_look_in_time) {
    become_dear();
    EXPECT_FALSE(begin().is_full);
    marks_.give_up();
    now_ += FullLooks::kPauseMax;
    EXPECT_TRUE(begin().is_full);
}

TEST_F(ClaimMarksRules, end_when_full_looks_are_quick_again) {
    become_dear();
    now_ += FullLooks::kPauseMax;
    EXPECT_TRUE(claim_for(milliseconds(1)).is_full);
    EXPECT_TRUE(claim_for(milliseconds(1)).is_full);
    EXPECT_FALSE(marks_.wants_puts());
}

TEST_F(ClaimMarksRules, are_forgotten_also_by_a_look_that_began_before) {
    claim_for(kSlow);
    const ClaimMarks::Look look = begin();
    EXPECT_TRUE(look.asks_for_places);
    marks_.forget();
    marks_.end(request_, look, {.begun = now_, .ended = now_ + kSlow});
    EXPECT_TRUE(begin().is_full);
}

TEST_F(ClaimMarksRules, of_more_places_than_the_limit_are_not_kept) {
    claim_for(kSlow);
    ClaimMarks::Findings findings;
    for (std::size_t n = 0; n < ClaimMarks::kPlacesMax; ++n) {
        findings.left.push_back({"pay", std::to_string(n), kRank});
    }
    claim_for(kSlow, findings);
    EXPECT_FALSE(begin().is_full);
    marks_.give_up();
    marks_.note_put("pay", "one more", kRank);
    claim_for(milliseconds(1));
    EXPECT_TRUE(begin().is_full);
}

/// Heartbeats that take as long as the test says.
class LeaseMarksRules : public ::testing::Test {
 protected:
    LeaseMarks::Look beat_for(Duration took, std::optional<InstanceId> lowest) {
        const LeaseMarks::Look look = marks_.begin("w", now_);
        now_ += took;
        marks_.end("w", look, {now_ - took, now_, lowest});
        return look;
    }

    void become_dear(std::optional<InstanceId> lowest) {
        beat_for(milliseconds(1), lowest);
        beat_for(milliseconds(100), lowest);
    }

    void lease(int n) {
        const InstanceId id = id_of(n);
        marks_.note_leased("w", {&id, 1});
    }

    LeaseMarks marks_;
    TimePoint now_ = kStart;
};

TEST_F(LeaseMarksRules, begin_at_the_lowest_that_is_held) {
    become_dear(id_of(5));
    EXPECT_EQ(beat_for(milliseconds(1), id_of(7)).from, id_of(5));
    EXPECT_EQ(beat_for(milliseconds(1), id_of(7)).from, id_of(7));
    lease(6);
    EXPECT_EQ(beat_for(milliseconds(1), id_of(6)).from, id_of(6));
}

TEST_F(LeaseMarksRules, of_a_worker_that_holds_nothing_begin_at_its_next_lease) {
    become_dear(std::nullopt);
    EXPECT_GT(beat_for(milliseconds(1), std::nullopt).from, id_of(1'000'000));
    lease(3);
    EXPECT_EQ(beat_for(milliseconds(1), id_of(3)).from, id_of(3));
}

TEST_F(LeaseMarksRules, know_what_was_leased_while_a_heartbeat_was_on_its_way) {
    become_dear(id_of(5));
    const LeaseMarks::Look look = marks_.begin("w", now_);
    lease(2);
    marks_.end("w", look, {now_, now_, id_of(9)});
    EXPECT_EQ(marks_.begin("w", now_).from, id_of(2));
}

TEST_F(LeaseMarksRules, are_forgotten_where_an_answer_was_lost_or_the_worker_is_gone) {
    become_dear(id_of(5));
    marks_.forget();
    EXPECT_TRUE(beat_for(milliseconds(100), id_of(5)).is_full);
    EXPECT_FALSE(beat_for(milliseconds(1), id_of(5)).is_full);
    marks_.remove("w");
    EXPECT_TRUE(beat_for(milliseconds(1), id_of(5)).is_full);
}

TEST_F(LeaseMarksRules, give_way_to_a_full_look_in_time) {
    become_dear(id_of(5));
    now_ += FullLooks::kPauseMax;
    EXPECT_TRUE(beat_for(milliseconds(1), id_of(5)).is_full);
}

/// A store with very many tasks that are gone, of which a snapshot keeps everything.
class PostgresOldSnapshot : public ::testing::Test {
 protected:
    PostgresOldSnapshot()
        : settings_(settings()),
          store_(make_postgres_store(
              {.url = postgres_server().url(), .schema = settings_.schema}, clock_
          )),
          other_(make_postgres_store(
              {.url = postgres_server().url(), .schema = settings_.schema}, clock_
          )),
          snapshot_(settings_),
          looking_(settings_) {
        store_->heartbeat(worker_of("w"), std::chrono::hours(1));
        other_->heartbeat(worker_of("v"), std::chrono::hours(1));
        snapshot_.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class LIMIT 1");
        looking_.execute(fmt::format(
            "INSERT INTO ebb.tasks (instance_id, token, rank, due_at, lane, handler, queue) "
            "SELECT ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 1, n, 1, 1, "
            "'pay', '' FROM generate_series(1, {}) AS n",
            kGone
        ));
        looking_.execute("UPDATE ebb.tasks SET lease_owner = 'w'");
        looking_.execute("DELETE FROM ebb.tasks");
    }

    static postgres::Settings settings() {
        postgres::Settings settings = postgres::read_settings({.url = postgres_server().url()});
        settings.schema = fresh_schema();
        return settings;
    }

    /// How many pages the statement touches, by the server's own count.
    int pages_of(const std::string& name, const std::string& arguments) {
        const auto statements = embedded_statements("postgres/sql");
        looking_.execute("PREPARE " + name + " AS " + statements.at(name));
        questions_.push_back("EXPLAIN (ANALYZE, BUFFERS, FORMAT YAML) EXECUTE " + name + arguments);
        const postgres::Result plan = looking_.run(questions_.back(), {});
        const std::string text(plan.text(0, 0));
        const std::size_t at = text.find("Shared Hit Blocks: ");
        return std::stoi(text.substr(at + 19));
    }

    static constexpr int kGone = 30'000;

    ManualClock clock_{kStart};
    const postgres::Settings settings_;
    const StorePtr store_;
    const StorePtr other_;
    postgres::Connection snapshot_;
    postgres::Connection looking_;
    std::list<std::string> questions_;  // a connection knows statements by their address
};

TEST_F(PostgresOldSnapshot, costs_a_claim_with_marks_nothing) {
    const std::string handlers = "('w', '{}', '{pay}', '{\"\"}', 64, 128, ";
    EXPECT_GT(pages_of("claim_tasks", handlers + "'{-9223372036854775808}', '{}', 1)"), 500);
    looking_.execute("DEALLOCATE claim_tasks");
    EXPECT_LT(pages_of("claim_tasks", handlers + fmt::format("'{{{}}}', '{{}}', 1)", kGone)), 50);
}

TEST_F(PostgresOldSnapshot, costs_a_heartbeat_with_marks_nothing) {
    const std::string nobody = "('w', '00000000-0000-0000-0000-000000000000')";
    EXPECT_GT(pages_of("held_tasks", nobody), 500);
    looking_.execute("DEALLOCATE held_tasks");
    EXPECT_LT(pages_of("held_tasks", "('w', '00000000-0000-7000-8000-000000030001')"), 50);
}

TEST_F(PostgresOldSnapshot, costs_the_look_for_lost_leases_nothing) {
    EXPECT_LT(pages_of("take_lost_leases", ""), 50);
}

TEST_F(PostgresOldSnapshot, hides_no_task) {
    // Whatever a mark says, and whichever process puts the task: also far below what was claimed
    // before.
    int n = 1'000'000;
    for (int round = 0; round < 30; ++round) {
        const TimePoint due = kStart - std::chrono::seconds(round % 7);
        Store& putting = round % 2 == 0 ? *store_ : *other_;
        start_one(putting, instance_of(++n, {put(1, "pay", due)}));
        std::vector<Claim> claims;
        while (claims.empty()) claims = claim(*store_, "w");
        EXPECT_THAT(names_of(claims), ::testing::ElementsAre(fmt::format("{}/1", n)));
        const HeartbeatResult held = store_->heartbeat(worker_of("w"), std::chrono::hours(1));
        EXPECT_EQ(held.held.size(), 1U);
        Change ended{.instance = n, .status = InstanceStatus::Completed};
        EXPECT_EQ(commit_one(*store_, ended), CommitResult::Committed);
    }
}

}  // namespace
}  // namespace ebb::testing
