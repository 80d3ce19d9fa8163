// What `ebb` says if a filter over labels finds nothing.

#include <gmock/gmock.h>

#include "cli_world.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CliEmptyFilter : public ::testing::Test {
 protected:
    CliEmptyFilter() {
        const std::string file = world.file("w.yaml", kHello);
        const auto started = world.run_db(
            {"start", file, "-i", "\"a\"", "--label", "tenant=acme", "--label", "total:number=5"}
        );
        EXPECT_EQ(started.code, 0) << started.err;
    }

    std::string said(std::vector<std::string> command) {
        const Outcome outcome = world.run_db(std::move(command));
        EXPECT_EQ(outcome.code, 0);
        return outcome.err;
    }

    CliWorld world;
};

TEST_F(CliEmptyFilter, names_the_label_that_no_instance_has) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"list", "--where"},
          {"count", "--where"},
          {"cancel", "--dry-run", "--where"},
          {"cancel", "--yes", "--where"}}) {
        std::vector<std::string> whole = command;
        whole.emplace_back("labels.tenat == \"acme\" && labels.total > 1");
        EXPECT_THAT(
            said(whole),
            HasSubstr("No instance has the label \"tenat\". Did you mean \"tenant\"?\n")
        ) << command.front();
        EXPECT_THAT(said(whole), Not(HasSubstr("total"))) << command.front();
    }
    EXPECT_THAT(
        said({"list", "--where", "has(labels.color)"}),
        HasSubstr("No instance has the label \"color\".\n")
    );
}

TEST_F(CliEmptyFilter, names_the_label_of_another_type) {
    EXPECT_THAT(
        normal(world, said({"list", "--where", "labels.total == \"5\""})),
        HasSubstr(
            "The label \"total\" of instance <id> is a number, and the filter compares it with a "
            "text.\n"
        )
    );
}

TEST_F(CliEmptyFilter, says_nothing_about_labels_that_are_right_or_to_programs) {
    EXPECT_EQ(said({"list", "--where", "labels.tenant == \"other\""}), "No instances.\n");
    EXPECT_EQ(said({"list", "--where", "labels.tenat == \"acme\"", "--json"}), "");
    EXPECT_EQ(said({"count", "--where", "labels.tenat == \"acme\"", "-q"}), "");
    EXPECT_EQ(said({"count", "--where", "labels.tenant == \"acme\""}), "");
}

}  // namespace
}  // namespace ebb::cli::testing
