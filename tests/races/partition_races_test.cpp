// Goal: tables are divided, and old partitions are dropped, beside everything that workers and
// programs do, and nothing is lost by it.
// Method: as in the matrix of all verbs. The division and the dropping stop before one of their own
// commands, or another verb stops at a row while they run.

#include <set>

#include <fmt/format.h>

#include "races/race_world.h"
#include "store/postgres/partitions.h"
#include "store/postgres/settings.h"
#include "support/store_samples.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;

/// In the old partition: three instances that have ended, and one that comes too late for it.
constexpr int kOld = 20;
constexpr int kOldEnd = 30;
constexpr int kLate = 25;

const std::set<std::string> kOthers{
    "heartbeat",
    "set_queue",
    "abandon",
    "postpone",
    "claim_one",
    "claim_stops",
    "receive",
    "drop_mail"
};

const std::vector<RetentionRule> kRules{{.workflow = "*", .keep = {.completed = 1s, .failed = 1s}}};

void start_late(Side& side) {
    const NewInstance late = instance_of(kLate, {put(1, "pay")});
    if (start_one(side.store, late).kind == StartResult::Kind::Created) {
        side.started.push_back(kLate);
    }
}

}  // namespace

class PartitionRaces : public Races {
 protected:
    /// The verbs that read or write what is divided, each in its own way.
    static std::vector<Verb> all_verbs() {
        std::vector<Verb> chosen;
        for (const Verb& verb : verbs()) {
            if (!kOthers.contains(verb.name)) chosen.push_back(verb);
        }
        return chosen;
    }

    /// Of a session of the owner of the tables.
    postgres::Settings settings(bool is_gated) const {
        postgres::Settings settings = postgres::read_settings({.url = postgres_server().url()});
        settings.schema = world_->schema();
        settings.parameters["application_name"] =
            world_->schema() + (is_gated ? " gated" : " open");
        return settings;
    }

    void divide(bool is_gated) {
        const postgres::Settings owner = settings(is_gated);
        postgres::Connection connection(owner);
        EXPECT_TRUE(postgres::partition(connection, PartitionPeriod::Month, kStart));
    }

    void check_divided(const std::vector<Side>& sides) {
        EXPECT_EQ(world_->ask("SELECT count(*) FROM " + world_->schema() + ".partitioning"), "1");
        EXPECT_EQ(
            world_->ask(
                "SELECT count(*) FROM pg_constraint WHERE conname LIKE '%\\_before' AND "
                "contype = 'c' AND connamespace = '" +
                world_->schema() + "'::regnamespace"
            ),
            "0"
        );
        check(sides);
    }

    /// The world of a race, divided, and beside it a partition whose instances have ended.
    void make_divided_world() {
        if (!is_divided_) {
            world_ = std::make_unique<Interleaving>(GetParam(), clock_);
            divide(false);
            add_partition("living", 0, kOld);
            is_divided_ = true;
        }
        world_->reset();
        if (!has_old_partition()) add_partition("old", kOld, kOldEnd);
        make_world();
        may_be_gone_ = true;
        Store& store = world_->open();
        for (int n = kOld; n < kOld + 3; ++n) {
            start_one(store, instance_of(n, {put(1, "pay")}));
            send_one(store, mail_of(n, "unread"));
            const Change end{
                .instance = n,
                .status = InstanceStatus::Completed,
                .history = {event_of(2, HistoryType::StepCompleted)},
            };
            EXPECT_EQ(commit_one(store, end), CommitResult::Committed);
        }
    }

    bool has_old_partition() {
        return world_->ask("SELECT to_regclass('" + world_->schema() + ".instances_old')") != "";
    }

    void add_partition(const std::string& name, int from, int to) {
        for (const char* table : {"instances", "history"}) {
            world_->ask(fmt::format(
                "CREATE TABLE {0}.{1}_{2} PARTITION OF {0}.{1} FOR VALUES FROM ('{3}') TO ('{4}')",
                world_->schema(),
                table,
                name,
                id_of(from).to_string(),
                id_of(to).to_string()
            ));
        }
    }

    void housekeep(bool is_gated) {
        const postgres::Settings owner = settings(is_gated);
        postgres::Connection connection(owner);
        postgres::housekeep(connection, kRules, kStart + 2s);
    }

    /// The old partition is there as a whole or gone as a whole, and what came too late is there.
    void check_dropped(const std::vector<Side>& sides) {
        Store& store = world_->open();
        const bool is_there = has_old_partition();
        for (int n = kOld; n < kOld + 3; ++n) {
            HistoryQuery query;
            query.instance = id_of(n);
            const bool has_row = store.load(id_of(n)).has_value();
            EXPECT_TRUE(has_row == is_there || (is_there && is_purged_)) << n;
            EXPECT_EQ(store.history(query).size(), has_row ? 2U : 0U) << n;
            EXPECT_EQ(store.tasks(id_of(n)).size(), has_row ? 1U : 0U) << "for its mail: " << n;
        }
        for (const Side& side : sides) {
            for (const int n : side.started) {
                if (n != kLate) continue;
                EXPECT_TRUE(store.load(id_of(n))) << "a new instance was dropped";
                EXPECT_EQ(store.tasks(id_of(n)).size(), 1U);
            }
        }
        drops_ += is_there ? 0 : 1;
        check(sides);
    }

    int drops_ = 0;
    /// A verb deletes the same instances one by one.
    bool is_purged_ = false;

 private:
    bool is_divided_ = false;
};

// The exchange and the drop set a level of their own.
INSTANTIATE_TEST_SUITE_P(
    Postgres,
    PartitionRaces,
    ::testing::Values(Isolation::ReadCommitted),
    [](const auto& isolation) { return std::string(to_string(isolation.param)); }
);

TEST_P(PartitionRaces, leave_everything_whole_while_the_tables_are_divided) {
    for (const Verb& verb : all_verbs()) {
        SCOPED_TRACE(fmt::format("{} at tasks 1 | divide", verb.name));
        make_new_world();
        may_be_gone_ = verb.name == "purge";
        Side one = side_one();
        world_->run({"tasks", 1}, [&] { run_or_give_up(verb, one); }, [&] { divide(false); });
        check_divided({one});
        if (HasFailure()) return;
    }
}

TEST_P(PartitionRaces, leave_everything_whole_inside_of_a_division_of_the_tables) {
    for (const Verb& verb : all_verbs()) {
        // Before the bound, before its check, and in the middle of the exchange.
        for (const int look : {1, 12}) {
            SCOPED_TRACE(fmt::format("divide at {} | {}", look, verb.name));
            make_new_world();
            may_be_gone_ = verb.name == "purge";
            Side two = side_two();
            EXPECT_TRUE(world_->run(
                {"ddl", look}, [&] { divide(true); }, [&] { run_or_give_up(verb, two); }
            ));
            check_divided({two});
            if (HasFailure()) return;
        }
    }
}

TEST_P(PartitionRaces, leave_everything_whole_while_an_old_partition_is_dropped) {
    std::vector<Verb> chosen = all_verbs();
    chosen.push_back({"start_late", start_late});
    for (const Verb& verb : chosen) {
        SCOPED_TRACE(fmt::format("{} at tasks 1 | drop", verb.name));
        make_divided_world();
        is_purged_ = verb.name == "purge";
        Side one = side_one();
        world_->run({"tasks", 1}, [&] { run_or_give_up(verb, one); }, [&] { housekeep(false); });
        check_dropped({one});
        if (HasFailure()) return;
    }
    EXPECT_GT(drops_, 0) << "no verb has let the partition go";
}

TEST_P(PartitionRaces, leave_everything_whole_inside_of_the_drop_of_an_old_partition) {
    std::vector<Verb> chosen = all_verbs();
    chosen.push_back({"start_late", start_late});
    // Its last command is DROP TABLE; those before make the partitions of the months to come.
    make_divided_world();
    world_->run({"ddl", 1}, [&] { housekeep(true); }, [] {});
    const int last =
        std::stoi(world_->ask("SELECT last_value FROM " + world_->schema() + ".looks_ddl"));
    for (const Verb& verb : chosen) {
        SCOPED_TRACE(fmt::format("drop at {} | {}", last, verb.name));
        make_divided_world();
        is_purged_ = verb.name == "purge";
        Side two = side_two();
        EXPECT_TRUE(world_->run(
            {"ddl", last}, [&] { housekeep(true); }, [&] { run_or_give_up(verb, two); }
        ));
        check_dropped({two});
        if (HasFailure()) return;
    }
    EXPECT_GT(drops_, 0);
}

}  // namespace ebb::testing
