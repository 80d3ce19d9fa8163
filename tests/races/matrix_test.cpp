// Goal: each verb of the PostgreSQL store beside each other one, stopped inside of its statements:
// whatever comes first, nothing is lost, doubled or paired with what was before.
// Method: a small world with instances in every condition; the first verb stops at a row of one of
// the tables, the second runs until it ends or waits, then the first continues. What both leave is
// compared with what must always hold. At every level of isolation.

#include <set>
#include <tuple>

#include <fmt/format.h>

#include "races/race_world.h"

namespace ebb::testing {
namespace {

using Looks = std::map<std::string, std::vector<int>>;

/// Where the first verb may stop. The stricter levels refuse whatever has changed since the
/// snapshot, wherever that is noticed.
Looks gates(Isolation isolation) {
    if (isolation != Isolation::ReadCommitted) return {{"tasks", {1}}, {"instances", {1}}};
    return {
        {"tasks", {1, 3}},
        {"instances", {1}},
        {"history", {1}},
        {"workers", {1}},
        {"queues", {1}},
        {"inbox", {1}},
    };
}

/// The stricter levels differ in what a write does that has lost its race, so there the verbs that
/// write most meet one another.
bool takes_part(const Verb& verb, Isolation isolation) {
    static const std::set<std::string> strict{
        "claim",
        "claim_limited",
        "steps",
        "start",
        "commit",
        "end",
        "transaction",
        "send",
        "maintain",
        "purge"
    };
    return isolation == Isolation::ReadCommitted || strict.contains(verb.name);
}

}  // namespace

class Matrix : public Races {
 protected:
    /// At each gate that the first verb passes.
    void race(const Verb& first, const Verb& second) {
        for (const auto& [table, looks] : gates(GetParam())) {
            for (const int look : looks) {
                // What the first does before the gate does not depend on the second.
                if (avoided_.contains({first.name, table, look})) break;
                SCOPED_TRACE(fmt::format("{} at {} {} | {}", first.name, table, look, second.name));
                if (!meet({table, look}, first, second)) avoided_.insert({first.name, table, look});
                if (HasFailure()) return;
            }
        }
    }

    /// Whether the first has stopped at the gate.
    bool meet(const Gate& gate, const Verb& first, const Verb& second) {
        make_world();
        Side one = side_one();
        Side two = side_two();
        may_be_lost_ = first.name == "abandon" || second.name == "abandon";
        may_be_gone_ = first.name == "purge" || second.name == "purge";
        const auto run = [](const Verb& verb, Side& side) {
            // A store repeats what has lost its race, but not a transaction of a handler or a
            // program.
            const bool is_repeated = verb.name != "transaction" && verb.name != "application" &&
                                     GetParam() == Isolation::ReadCommitted;
            is_repeated ? verb.run(side) : run_or_give_up(verb, side);
        };
        if (!world_->run(gate, [&] { run(first, one); }, [&] { run(second, two); })) return false;
        ++stops_[first.name];
        check({one, two});
        return true;
    }

    std::map<std::string, int> stops_;
    /// Verb, table and look.
    std::set<std::tuple<std::string, std::string, int>> avoided_;
};

INSTANTIATE_TEST_SUITE_P(
    Postgres,
    Matrix,
    ::testing::Values(Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable),
    [](const auto& isolation) { return std::string(to_string(isolation.param)); }
);

TEST_P(Matrix, leaves_everything_whole_whichever_verb_meets_which) {
    for (const Verb& first : verbs()) {
        if (!takes_part(first, GetParam())) continue;
        for (const Verb& second : verbs()) {
            if (!takes_part(second, GetParam())) continue;
            race(first, second);
            if (HasFailure()) return;
        }
        EXPECT_GT(stops_[first.name], 0) << first.name << " passes no gate";
    }
}

}  // namespace ebb::testing
