// Goal: how long a session lasts, and how it ends. Method: a clock that stands still, and the store
// in memory.

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "server/auth/access.h"

namespace ebb::server {
namespace {

using namespace std::chrono_literals;

class Sessions : public ::testing::Test {
 protected:
    Access::Login log_in(const std::string& name) {
        return access.log_in(Person{.name = name, .groups = {}}, {.address = "127.0.0.1"}, "");
    }

    ManualClock clock{TimePoint(1'800'000'000s)};
    std::unique_ptr<AdminStore> store = make_memory_admin_store();
    Access access{*store, clock};
};

TEST_F(Sessions, ends_when_it_is_not_used_for_twelve_hours) {
    const auto login = log_in("ann");
    clock.advance(Access::kSessionIdle);
    EXPECT_TRUE(access.by_session(login.secret));
    // That was a use, so it starts again.
    clock.advance(Access::kSessionIdle);
    EXPECT_TRUE(access.by_session(login.secret));
    clock.advance(Access::kSessionIdle + 1s);
    EXPECT_FALSE(access.by_session(login.secret));
    EXPECT_TRUE(access.sessions("", login.principal).empty());
}

TEST_F(Sessions, ends_after_seven_days_however_much_it_is_used) {
    const auto login = log_in("ann");
    for (int hours = 0; hours < 24 * 7; hours += 6) {
        EXPECT_TRUE(access.by_session(login.secret)) << hours;
        clock.advance(6h);
    }
    EXPECT_FALSE(access.by_session(login.secret));
}

TEST_F(Sessions, is_ended_by_its_id_and_only_by_whom_it_belongs_to) {
    const auto ann = log_in("ann");
    const auto bob = log_in("bob");
    const auto own = access.sessions("user:ann", ann.principal);
    ASSERT_EQ(own.size(), 1);
    EXPECT_EQ(own[0].at("is_current"), true);
    const auto id = own[0].at("id").get<std::string>();
    EXPECT_FALSE(access.end_session(id, "user:bob"));
    EXPECT_FALSE(access.end_session("", ""));
    EXPECT_TRUE(access.by_session(ann.secret));
    EXPECT_TRUE(access.end_session(id, "user:ann"));
    EXPECT_FALSE(access.by_session(ann.secret));
    EXPECT_TRUE(access.by_session(bob.secret));
    EXPECT_FALSE(access.end_session(id, ""));
}

TEST_F(Sessions, does_not_come_back_when_its_last_use_is_written) {
    const auto login = log_in("ann");
    const auto row = store->find("session", login.principal.credential);
    ASSERT_TRUE(row);
    access.log_out(login.principal);
    EXPECT_FALSE(store->change(*row));
    EXPECT_FALSE(access.by_session(login.secret));
}

TEST_F(Sessions, of_a_bearer_token_ends_with_the_token) {
    const Principal principal = access.by_oidc({.name = "robot", .groups = {}}, clock.now() + 1min);
    EXPECT_EQ(access.current(principal), principal);
    clock.advance(1min);
    EXPECT_FALSE(access.current(principal));
}

}  // namespace
}  // namespace ebb::server
