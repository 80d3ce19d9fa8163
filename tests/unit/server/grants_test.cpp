// Goal: a grant gives its subject what it says, also if another version wrote its row.
// Method: a book over a store in memory, with rows put beside it.

#include "server/auth/grants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ebb/error.h>

namespace ebb::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GrantBookTest : public ::testing::Test {
 protected:
    std::vector<Role> roles_of(std::string_view principal) {
        std::vector<Role> roles;
        for (const Grant& grant : book_.of(principal, {})) roles.push_back(grant.role);
        return roles;
    }

    std::unique_ptr<AdminStore> store_ = make_memory_admin_store();
    ManualClock clock_{TimePoint{}};
    GrantBook book_{*store_, clock_};
};

TEST_F(GrantBookTest, AGrantWithARoleOfANewerVersionGivesNothing) {
    book_.put_grant({.id = "a", .subject = "user:ann", .role = Role::Operator}, "test");
    AdminRow row = store_->list("grant").front();
    row.name = "b";
    row.document.replace(row.document.find("\"operator\""), 10, "\"overseer\"");
    row.document.replace(row.document.find("\"a\""), 3, "\"b\"");
    store_->put(row);
    book_.forget();

    EXPECT_THAT(roles_of("user:ann"), ElementsAre(Role::Operator));
}

TEST_F(GrantBookTest, AGrantBelongsToItsSubjectOnly) {
    book_.put_grant({.id = "a", .subject = "user:ann", .role = Role::Operator}, "test");

    EXPECT_THAT(roles_of("user:ann"), ElementsAre(Role::Operator));
    EXPECT_THAT(roles_of("user:annabel"), IsEmpty());
    EXPECT_THAT(roles_of("group:ann"), IsEmpty());
}

TEST_F(GrantBookTest, AProjectThatAGrantNamesCannotBeRemoved) {
    book_.put_project({.name = "billing", .workflows = {"billing.*"}}, "test");
    book_.put_grant({.id = "a", .subject = "user:ann", .project = "billing"}, "test");

    EXPECT_THROW(book_.remove_project("billing"), Error);

    EXPECT_TRUE(book_.remove_grant("a"));
    EXPECT_TRUE(book_.remove_project("billing"));
}

TEST(PatternTest, AStarIsAnyTextAndAQuestionMarkIsOneCharacter) {
    EXPECT_TRUE(fits_pattern("billing.*", "billing.refund"));
    EXPECT_FALSE(fits_pattern("billing.*", "billing"));
    EXPECT_TRUE(fits_pattern("order?", "order2"));
    EXPECT_FALSE(fits_pattern("order?", "order22"));
}

}  // namespace
}  // namespace ebb::server
