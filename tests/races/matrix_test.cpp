// Goal: each verb of the PostgreSQL store beside each other one, stopped inside of its statements:
// whatever comes first, nothing is lost, doubled or paired with what was before.
// Method: a small world with instances in every condition; the first verb stops at a row of one of
// the tables, the second runs until it ends or waits, then the first continues. What both leave is
// compared with what must always hold. At every level of isolation. EBB_TEST_RACES=all adds gates,
// which takes several times as long.

#include <cstdlib>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "races/race_world.h"

namespace ebb::testing {
namespace {

using Looks = std::map<std::string, std::vector<int>>;

/// The verbs that write most, or that most others depend on.
bool is_heavy(const Verb& verb) {
    static const std::set<std::string> heavy{
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
    return heavy.contains(verb.name);
}

/// Those of the heavy ones that the light ones stop for.
bool meets_all(const Verb& verb) {
    static const std::set<std::string> met{"claim", "commit", "maintain", "purge"};
    return met.contains(verb.name);
}

/// Where the first verb may stop; nowhere if the two need not meet: the others stop for the heavy
/// ones only. The stricter levels refuse whatever has changed since the snapshot, wherever that is
/// noticed, so there the heavy ones meet at two gates.
Looks gates(Isolation isolation, const Verb& first, const Verb& second) {
    const bool are_heavy = is_heavy(first) && is_heavy(second);
    if (!are_heavy && isolation != Isolation::ReadCommitted) return {};
    static const bool has_all = std::getenv("EBB_TEST_RACES") != nullptr;
    if (!is_heavy(second) || !(has_all || are_heavy || meets_all(second))) return {};
    Looks looks{{"tasks", {1}}, {"instances", {1}}};
    if (first.name == "set_queue") looks = {{"queues", {1}}};
    if (first.name == "heartbeat") looks = {{"workers", {1}}};
    if (!has_all || !are_heavy || isolation != Isolation::ReadCommitted) return looks;
    looks["tasks"].push_back(3);
    for (const char* table : {"history", "workers", "queues", "inbox"}) looks[table] = {1};
    return looks;
}

}  // namespace

class Matrix : public Races {
 protected:
    /// At each gate that the first verb passes.
    void race(const Verb& first, const Verb& second) {
        for (const auto& [table, looks] : gates(GetParam(), first, second)) {
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
        for (const Verb& second : verbs()) {
            race(first, second);
            if (HasFailure()) return;
        }
        EXPECT_TRUE(!is_heavy(first) || stops_[first.name] > 0) << first.name << " passes no gate";
    }
}

}  // namespace ebb::testing
