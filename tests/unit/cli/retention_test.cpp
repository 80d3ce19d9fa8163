// `ebb retention` and `ebb purge`: how long instances are kept, and which ones are deleted
// immediately.

#include "cli_world.h"
#include "support/store_decorator.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

using ::testing::HasSubstr;

class CliRetention : public ::testing::Test {
 protected:
    /// A workflow `parcel` with one instance that waits and one that was aborted.
    void prepare() {
        const std::string file = world.file("p.yaml", kSignal);
        world.run_db({"start", file, "--key", "waits"});
        world.run_db({"start", file, "--key", "ended"});
        EXPECT_EQ(world.run_db({"abort", "key:parcel/ended"}).code, 0);
    }

    CliWorld world;
};

TEST_F(CliRetention, is_set_listed_and_cleared) {
    prepare();
    EXPECT_EQ(world.run_db({"retention"}).err, "Everything is kept forever.\n");
    const Outcome set = world.run_db({"retention", "set", "*", "30d", "--failed", "forever"});
    EXPECT_EQ(set.code, 0) << set.err;
    EXPECT_EQ(
        set.err,
        "Of all other workflows, completed instances are kept for 30d, failed ones forever.\n"
    );
    world.run_db({"retention", "set", "parcel", "--completed", "36h"});
    const Outcome again = world.run_db({"retention", "set", "parcel", "--failed", "2d", "--json"});
    EXPECT_EQ(Json::parse(again.out)["completed"], "1d12h") << "other fields stay as they are";
    EXPECT_THAT(
        normal(world, world.run_db({"retention", "list"}).out),
        HasSubstr("* 30d forever <ago>\nparcel 1d12h 2d <ago>\n")
    );
    const Json rules = Json::parse(world.run_db({"retention", "--json"}).out);
    ASSERT_EQ(rules.size(), 2U);
    EXPECT_EQ(rules[0]["workflow"], "*");
    EXPECT_EQ(rules[0]["failed"], "forever");
    EXPECT_TRUE(rules[0]["updated_at"].is_string());
    EXPECT_EQ(world.run_db({"retention", "clear", "parcel"}).code, 0);
    EXPECT_EQ(world.run_db({"retention", "clear", "*", "--json"}).out, "null\n");
    EXPECT_EQ(world.run_db({"retention", "--json"}).out, "[]\n");
}

/// Answers as PostgreSQL does when its tables are partitioned.
class DividedStore final : public ebb::testing::StoreDecorator {
 public:
    explicit DividedStore(StorePtr inner) : StoreDecorator(*inner), owned_(std::move(inner)) {}

    std::optional<PartitionView> partitions() override {
        const auto ends = std::chrono::sys_days(std::chrono::year(2027) / 2 / 1);
        return PartitionView{.period = "month", .current_ends = TimePoint(ends)};
    }

 private:
    StorePtr owned_;
};

TEST_F(CliRetention, explains_what_partitions_mean_for_retention) {
    prepare();
    EXPECT_EQ(world.run_db({"retention", "set", "*", "30d", "--json"}).err, "");
    EXPECT_EQ(Json::parse(world.run_db({"retention", "--json"}).out)[0]["partitioned_by"], nullptr);
    EXPECT_THAT(world.run_db({"retention"}).err, ::testing::Not(HasSubstr("partitioned")));
    world.wrap_store = [](StorePtr store) { return StorePtr(new DividedStore(std::move(store))); };
    const std::string note =
        "The tables are partitioned by month: workers delete an ended instance only when\n"
        "the whole month in which it started has been over for that time. So it may stay\n"
        "up to a month longer than the rule says. `ebb purge` does not wait for that.\n"
        "Instances that start now are kept until 2027-03-03 00:00:00 at least.\n";
    EXPECT_EQ(world.run_db({"retention"}).err, note);
    EXPECT_THAT(world.run_db({"retention", "set", "*", "30d"}).err, HasSubstr(note));
    EXPECT_EQ(Json::parse(world.run_db({"retention", "--json"}).out)[0]["partitioned_by"], "month");
}

TEST_F(CliRetention, accepts_a_workflow_that_is_not_registered_yet) {
    prepare();
    const Outcome set = world.run_db({"retention", "set", "parcle", "30d"});
    EXPECT_EQ(set.code, 0);
    EXPECT_THAT(set.err, HasSubstr("No workflow \"parcle\" is registered yet. Did you mean \"par"));
}

TEST_F(CliRetention, refuses_invalid_arguments) {
    prepare();
    const auto why = [&](std::vector<std::string> args) {
        args.insert(args.begin(), "retention");
        const Outcome outcome = world.run_db(args);
        EXPECT_EQ(outcome.code, 2) << outcome.err;
        return outcome.err;
    };
    EXPECT_THAT(why({"set", "parcel", "soon"}), HasSubstr("\"soon\" is not a valid duration"));
    EXPECT_THAT(why({"set", "parcel", "0"}), HasSubstr("cannot be kept for 0s: it goes from 10s"));
    EXPECT_THAT(why({"set", "parcel"}), HasSubstr("needs to know how long"));
    EXPECT_THAT(why({"set"}), HasSubstr("needs a workflow, or '*'"));
    EXPECT_THAT(why({"set", "a b", "1d"}), HasSubstr("is not a valid name of a workflow"));
    EXPECT_THAT(why({"clear", "parcel", "1d"}), HasSubstr("nothing else"));
    EXPECT_THAT(why({"list", "parcel"}), HasSubstr("takes no name"));
    EXPECT_THAT(why({"drop"}), HasSubstr("\"drop\" is not one of list, set, clear"));
    EXPECT_EQ(world.run({"retention"}).code, 2) << "it needs a database";
}

TEST_F(CliRetention, purge_deletes_only_ended_instances) {
    prepare();
    const Outcome dry = world.run_db({"purge", "--older-than", "0s", "--dry-run"});
    EXPECT_EQ(dry.code, 0) << dry.err;
    EXPECT_EQ(normal(world, dry.out), "WORKFLOW STATUS INSTANCES\nparcel aborted 1\n");
    EXPECT_EQ(dry.err, "1 instance would be deleted.\n");
    EXPECT_EQ(
        world.run_db({"purge", "--older-than", "0s", "--json"}).out,
        "{\"dry_run\":false,\"instances\":1,\"workflows\":{\"parcel\":{\"aborted\":1}}}\n"
    );
    EXPECT_EQ(world.run_db({"show", "key:parcel/ended"}).code, 3);
    EXPECT_EQ(world.run_db({"show", "key:parcel/waits"}).code, 0);
    const Outcome none = world.run_db({"purge", "--older-than", "0s", "-w", "parcel"});
    EXPECT_EQ(none.out, "");
    EXPECT_EQ(none.err, "0 instances deleted.\n");
}

TEST_F(CliRetention, purge_needs_an_age) {
    prepare();
    const Outcome unknown = world.run_db({"purge"});
    EXPECT_EQ(unknown.code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("Everything is kept forever: say what to delete"));
    world.run_db({"retention", "set", "parcel", "1d"});
    EXPECT_EQ(world.run_db({"purge"}).err, "0 instances deleted.\n");
    EXPECT_EQ(world.run_db({"purge", "--older-than", "long"}).code, 2);
    EXPECT_EQ(world.run_db({"purge", "-w", "other", "--older-than", "1d"}).code, 3);
    EXPECT_EQ(world.run({"purge", "--older-than", "1d"}).code, 2) << "it needs a database";
}

}  // namespace
}  // namespace ebb::cli::testing
