// Goal: tasks are taken from dead workers only, never from living ones, and taking them waits for
// no lock. Method: a maintenance that stops among the leases it has found, while another one
// takes them and a living worker claims the tasks.

#include <fmt/format.h>

#include "races/interleaving.h"
#include "support/store_samples.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;

class LeaseRaces : public ::testing::TestWithParam<Isolation> {
 protected:
    LeaseRaces() : clock_(kStart), world_(GetParam(), clock_) {
        world_.open().heartbeat(worker_of("dead"), 1s);
        for (int n = 1; n <= 3; ++n) start_one(world_.open(), instance_of(n, {put(1, "pay")}));
        EXPECT_EQ(claim(world_.open(), "dead").size(), 3U);
        clock_.advance(2s);
        world_.open().heartbeat(worker_of("alive"), 30s);
    }

    std::string owner_of(int n) { return world_.open().tasks(id_of(n)).at(0).lease_owner; }

    ManualClock clock_;
    Interleaving world_;
};

INSTANTIATE_TEST_SUITE_P(
    Postgres,
    LeaseRaces,
    ::testing::Values(Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable),
    [](const auto& isolation) { return std::string(to_string(isolation.param)); }
);

TEST_P(LeaseRaces, leave_a_lease_to_the_live_worker_that_has_claimed_it_in_the_meantime) {
    // The dead worker's row is gone before, so the two maintenances do not wait for each other.
    world_.ask("DELETE FROM " + world_.schema() + ".workers WHERE id = 'dead'");
    int claims = 0;
    for (int look = 1; look <= 6; ++look) {
        std::vector<Claim> claimed;
        const bool is_stopped = world_.run(
            {"tasks", look},
            [&] { world_.gated().maintain(); },
            [&] {
                world_.open().maintain();
                claimed = claim(world_.open(), "alive");
            }
        );
        EXPECT_TRUE(is_stopped || look > 1);
        claims += static_cast<int>(claimed.size());
        for (const Claim& each : claimed) {
            for (const TaskRow& row : world_.open().tasks(each.task.instance)) {
                EXPECT_EQ(row.lease_owner, "alive") << name_of(row.task) << " at look " << look;
            }
        }
        world_.open().maintain();
        for (int n = 1; n <= 3; ++n) EXPECT_NE(owner_of(n), "dead") << n << " at look " << look;
        // Once more from the beginning.
        world_.ask("UPDATE " + world_.schema() + ".tasks SET lease_owner = 'dead', lane = 1");
    }
    EXPECT_GT(claims, 0) << "the living worker has never come in between";
}

TEST_P(LeaseRaces, wait_for_no_row_that_another_session_has_locked) {
    std::int64_t taken = 0;
    world_.ask("BEGIN");
    world_.ask(
        "SELECT 1 FROM " + world_.schema() + ".tasks WHERE instance_id = '" + id_of(2).to_string() +
        "' FOR UPDATE"
    );
    taken = world_.open().maintain().leases_expired;
    EXPECT_EQ(taken, 2);
    world_.ask("COMMIT");
    EXPECT_EQ(world_.open().maintain().leases_expired, 1) << "the next time";
}

}  // namespace
}  // namespace ebb::testing
