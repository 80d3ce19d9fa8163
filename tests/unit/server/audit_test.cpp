// Goal: old rows of an audit are removed, and what is left is checked as strictly as before.
// Method: the real chain in a store in memory, and a clock that only the test moves.

#include "server/auth/audit.h"

#include <gmock/gmock.h>

#include <ebb/error.h>

#include "store/admin_store.h"
#include "support/clock.h"

namespace ebb::server {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Duration kDay = 24h;

struct AuditPurge : ::testing::Test {
    ManualClock clock{TimePoint(24h * 365 * 50 + 5h)};
    std::unique_ptr<AdminStore> store = make_memory_admin_store();

    void act(Audit& audit, int count = 1) {
        for (int i = 0; i < count; ++i) {
            audit.write({.principal = "user:ann", .action = "cancelInstance", .target = "/x"});
            clock.advance(1ms);
        }
    }

    std::int64_t purge(Duration age) {
        return purge_audit(*store, clock, nullptr, age, "ebb serve");
    }

    AuditVerdict verify() { return verify_audit(*store, {}); }

    /// As someone who can write to the database does it.
    void remove(std::size_t nth) {
        const auto rows = store->list_audit({.is_forward = true});
        store = make_memory_admin_store();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i != nth) store->append_audit({&rows[i], 1});
        }
    }
};

TEST_F(AuditPurge, old_rows_go_in_whole_days_and_the_rest_can_be_checked) {
    Audit first(*store, clock, nullptr);
    act(first, 3);
    clock.advance(kDay);
    Audit second(*store, clock, nullptr);
    act(second, 2);
    act(first);
    clock.advance(kDay);
    act(first);
    act(second);
    EXPECT_EQ(purge(3 * kDay), 0);
    EXPECT_EQ(purge(kDay), 3) << "a day ago was another hour of the second day";
    AuditVerdict verdict = verify();
    EXPECT_THAT(verdict.faults, IsEmpty());
    EXPECT_EQ(verdict.rows, 5 + 1) << "the removal is a row, too";
    EXPECT_EQ(verdict.cut_before, TimePoint(24h * (365 * 50 + 1)));
    EXPECT_EQ(store->list_audit({.limit = 1}).front().action, "purgeAudit");
    EXPECT_EQ(purge(kDay), 0) << "nothing is old now";
    // The servers go on with their chains, also if everything of them was removed.
    clock.advance(10 * kDay);
    EXPECT_EQ(purge(kDay), 6);
    act(first);
    act(second);
    EXPECT_THAT(verify().faults, IsEmpty());
}

TEST_F(AuditPurge, what_is_changed_at_the_cut_is_found) {
    Audit audit(*store, clock, nullptr);
    act(audit, 2);
    clock.advance(kDay);
    act(audit, 3);
    ASSERT_EQ(purge(1h), 2);
    const AuditCut cut = load_audit_cut(*store);
    ASSERT_EQ(cut.ends.begin()->second.number, 2);
    auto rows = store->list_audit({.is_forward = true});
    ASSERT_THAT(rows, SizeIs(4));
    const auto admin = store->find("audit_cut", "cut");
    remove(0);
    store->put(*admin);
    const auto faults = verify().faults;
    ASSERT_THAT(faults, SizeIs(1));
    EXPECT_THAT(faults.front().what, HasSubstr("1 row before it was removed"));
}

TEST_F(AuditPurge, a_process_that_dies_before_the_removal_leaves_an_audit_that_is_right) {
    Audit audit(*store, clock, nullptr);
    act(audit, 4);
    clock.advance(2 * kDay);
    act(audit);
    const auto rows = store->list_audit({.is_forward = true});
    ASSERT_EQ(purge(kDay), 4);
    // The rows are back, the end of the removed chain is stored.
    store->append_audit(std::span(rows).first(4));
    EXPECT_THAT(verify().faults, IsEmpty());
    EXPECT_EQ(purge(kDay), 4);
    EXPECT_THAT(verify().faults, IsEmpty());
}

}  // namespace
}  // namespace ebb::server
