// Goal: a claim hands out a task together with the state that its instance has, whatever others do
// between the claim's snapshot and its lock; and it never gets around the limits of a queue.
// Method: the claim stops at a row that it has found, another worker takes the same task a step
// further and hands it back, and the claim continues.

#include <fmt/format.h>

#include "races/interleaving.h"
#include "support/store_samples.h"

namespace ebb::testing {
namespace {

class ClaimRaces : public ::testing::TestWithParam<Isolation> {
 protected:
    ClaimRaces() : clock_(kStart), world_(GetParam(), clock_) {
        for (const char* worker : {"w1", "w2"}) {
            world_.open().heartbeat(worker_of(worker), std::chrono::seconds(30));
        }
    }

    /// Another worker runs one step of instance 1, which then waits for the next one.
    void step(TaskChange next = put(1, "pay")) {
        ASSERT_EQ(claim(world_.open(), "w2").size(), 1U);
        const Change change{
            .instance = 1,
            .revision = 1,
            .state = R"({"step":2})",
            .history = {event_of(2, HistoryType::StepCompleted)},
            .tasks = {std::move(next)},
        };
        ASSERT_EQ(commit_one(world_.open(), change), CommitResult::Committed);
    }

    /// Whatever was claimed goes with the newest state.
    void expect_newest(const std::vector<Claim>& claims) {
        for (const Claim& claim : claims) {
            EXPECT_EQ(claim.instance, *world_.open().load(claim.task.instance));
        }
    }

    /// Nothing is lost: what the race has kept from the claim is there for the next one.
    void expect_claimable(const std::vector<Claim>& claims, const ClaimRequest& request) {
        std::vector<Claim> all = claims;
        for (Claim& more : world_.open().claim(request)) all.push_back(std::move(more));
        ASSERT_EQ(all.size(), 1U);
        EXPECT_EQ(all[0].instance.revision, 2);
    }

    static ClaimRequest request() {
        ClaimRequest request;
        request.worker = "w1";
        request.handlers = {"pay", "ship"};
        return request;
    }

    ManualClock clock_;
    Interleaving world_;
};

INSTANTIATE_TEST_SUITE_P(
    Postgres,
    ClaimRaces,
    ::testing::Values(Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable),
    [](const auto& isolation) { return std::string(to_string(isolation.param)); }
);

TEST_P(ClaimRaces, a_claim_sees_the_state_that_belongs_to_the_row_it_locks) {
    start_one(world_.open(), instance_of(1, {put(1, "pay")}));
    std::vector<Claim> claims;
    const bool is_stopped = world_.run(
        {"tasks", 1}, [&] { claims = world_.gated().claim(request()); }, [&] { step(); }
    );
    EXPECT_TRUE(is_stopped);
    expect_newest(claims);
    expect_claimable(claims, request());
}

TEST_P(ClaimRaces, a_claim_of_one_instance_sees_the_state_that_belongs_to_the_row_it_locks) {
    start_one(world_.open(), instance_of(1, {put(1, "pay")}));
    ClaimRequest of_one = request();
    of_one.instance = id_of(1);
    std::vector<Claim> claims;
    const bool is_stopped =
        world_.run({"tasks", 1}, [&] { claims = world_.gated().claim(of_one); }, [&] { step(); });
    EXPECT_TRUE(is_stopped);
    expect_newest(claims);
    expect_claimable(claims, of_one);
}

TEST_P(ClaimRaces, a_claim_of_stops_sees_the_state_that_belongs_to_the_row_it_locks) {
    start_one(world_.open(), instance_of(1, {put(1, "pay")}));
    const Change stop{
        .instance = 1,
        .revision = 1,
        .history = {event_of(2, HistoryType::CancelRequested)},
        .tasks = {change_of(TaskChange::Kind::Stop, 1)},
    };
    ASSERT_EQ(commit_one(world_.open(), stop), CommitResult::Committed);
    ClaimRequest stops = request();
    stops.stops_only = true;
    std::vector<Claim> claims;
    const bool is_stopped = world_.run(
        {"tasks", 1},
        [&] { claims = world_.gated().claim(stops); },
        [&] {
            // Another process finishes the stop, and what comes next must be stopped as well.
            ASSERT_EQ(claim(world_.open(), "w2").size(), 1U);
            const Change next{
                .instance = 1,
                .revision = 2,
                .state = R"({"step":3})",
                .history = {event_of(3, HistoryType::StepCompleted)},
                .tasks = {put(1, "ship")},
            };
            ASSERT_EQ(commit_one(world_.open(), next), CommitResult::Committed);
            Change again = stop;
            again.revision = 3;
            again.state = R"({"step":4})";
            again.history = {event_of(4, HistoryType::CancelRequested)};
            ASSERT_EQ(commit_one(world_.open(), again), CommitResult::Committed);
        }
    );
    EXPECT_TRUE(is_stopped);
    expect_newest(claims);
}

TEST_P(ClaimRaces, a_claim_under_limits_sees_the_state_that_belongs_to_the_row_it_locks) {
    world_.open().set_queue(
        {.name = "till", .limits = {.concurrency = 5, .rate = {}}, .updated_at = kStart}
    );
    start_one(world_.open(), instance_of(1, {put_in("till", 1, "pay")}));
    ClaimRequest limited = request();
    limited.queues = {"till"};
    // Each look at the table on the way to the lock.
    for (int look = 1; look <= 6; ++look) {
        std::vector<Claim> claims;
        world_.run(
            {"tasks", look},
            [&] { claims = world_.gated().claim_limited(limited).claims; },
            [&] {
                // Not by claim_limited, which would wait: by a process that does not know the
                // limits yet.
                const std::vector<Claim> taken = claim(world_.open(), "w2");
                if (taken.empty()) return;
                const std::int64_t revision = taken[0].instance.revision;
                const Change change{
                    .instance = 1,
                    .revision = revision,
                    .state = fmt::format(R"({{"step":{}}})", revision + 1),
                    .history = {event_of(revision + 1, HistoryType::StepCompleted)},
                    .tasks = {put_in("till", 1, "pay")},
                };
                ASSERT_EQ(commit_one(world_.open(), change), CommitResult::Committed);
            }
        );
        expect_newest(claims);
        const std::vector<TaskRef> tasks{{id_of(1), 1}};
        world_.open().release({"w1", kStart}, tasks);
    }
}

TEST_P(ClaimRaces, a_claim_does_not_take_a_task_that_has_moved_to_a_queue_with_limits) {
    world_.open().set_queue(
        {.name = "till", .limits = {.concurrency = 1, .rate = {}}, .updated_at = kStart}
    );
    start_one(world_.open(), instance_of(1, {put(1, "pay")}));
    ClaimRequest unlimited = request();
    unlimited.limited_queues = {"till"};
    std::vector<Claim> claims;
    const bool is_stopped = world_.run(
        {"tasks", 1},
        [&] { claims = world_.gated().claim(unlimited); },
        [&] { step(put_in("till", 1, "pay")); }
    );
    EXPECT_TRUE(is_stopped);
    EXPECT_TRUE(claims.empty()) << "a task of the queue was claimed without a slot";
}

TEST_P(ClaimRaces, a_claim_takes_no_task_of_a_handler_that_it_has_not_asked_for) {
    start_one(world_.open(), instance_of(1, {put(1, "pay")}));
    ClaimRequest pays = request();
    pays.handlers = {"pay"};
    std::vector<Claim> claims;
    const bool is_stopped = world_.run(
        {"tasks", 1}, [&] { claims = world_.gated().claim(pays); }, [&] { step(put(1, "fly")); }
    );
    EXPECT_TRUE(is_stopped);
    EXPECT_TRUE(claims.empty());
}

}  // namespace
}  // namespace ebb::testing
