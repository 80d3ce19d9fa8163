// A crash at every write: each golden workflow is played again and again; at the first, second, ...
// last call of the store the call fails, its answer is lost, or the process dies and another one
// takes over. The end must be that of the undisturbed play, and the history must be sound.
// EBB_CRASH_ALL=1 does every call on the memory and the SQLite store; otherwise a sample, chosen by
// the case's place and therefore always the same.

#include <algorithm>
#include <cstdlib>

#include "ending.h"
#include "stores.h"

namespace ebb::golden {
namespace {

struct Kind {
    Fault::Kind kind;
    const char* name;
};

constexpr Kind kKinds[] = {
    {Fault::Kind::Fail, "fails"},
    {Fault::Kind::InDoubt, "is in doubt"},
    {Fault::Kind::CrashBefore, "never comes, for its process dies"},
    {Fault::Kind::CrashAfter, "is the last of its process"},
    {Fault::Kind::Restart, "is the last before a restart"},
};

/// After this time a fault is got over: an event of the script that comes sooner may miss what it
/// is meant for.
constexpr double kRecoverySeconds = 4;

using WithStore = void (*)(const Use&);

bool does_all() {
    return std::getenv("EBB_CRASH_ALL") != nullptr;
}

/// The calls of an undisturbed play that the kind of fault may strike.
int calls_of(WithStore with_store, const Case& test_case, Fault::Kind kind) {
    int calls = 0;
    with_store([&](Store& store, ManualClock& clock) {
        const bool counts_reads = kind == Fault::Kind::Fail;
        Player player(
            test_case,
            store,
            clock,
            {.kind = counts_reads ? Fault::Kind::None : Fault::Kind::CrashAfter}
        );
        player.play();
        calls = player.fault().seen;
    });
    return calls;
}

/// Does time or chance decide what happens? After a fault another branch may be first, or a
/// deadline.
bool may_end_otherwise(const Case& test_case, const Player& player) {
    const std::string definition = definition_to_json(test_case.definition).dump();
    const auto has = [&](const char* word) { return definition.find(word) != std::string::npos; };
    const Json events = test_case.script.value("events", Json::array());
    const auto comes_before = [&](double second) {
        return std::any_of(events.begin(), events.end(), [&](const Json& event) {
            return event.contains("at") && event.at("at").get<double>() < second;
        });
    };
    const bool has_times =
        has("deadline") || has("timeout") || has("\"delay\"") || comes_before(1e9);
    return comes_before(kRecoverySeconds) || has("\"parallel\"") ||
           (player.has_lost_time() && has_times) || test_case.script.value("races", false);
}

/// Where nothing races, the end is the same; elsewhere it is at least one that is sound and at
/// rest: over, or waiting for people.
bool is_right_end(
    const Case& test_case, const Player& player, const Ending& ending, const Ending& undisturbed
) {
    return ending == undisturbed || may_end_otherwise(test_case, player);
}

/// A process that dies while it holds a step that may be called only once leaves it in doubt.
bool is_in_doubt(const Case& test_case, const Ending& ending, const Fault& fault) {
    const bool has_died = fault.kind != Fault::Kind::Fail && fault.kind != Fault::Kind::InDoubt;
    return has_died && ending.error == "in_doubt" &&
           definition_to_json(test_case.definition).dump().find("non_idempotent") !=
               std::string::npos;
}

/// Empty when the play ended as it should.
std::string play_with(
    WithStore with_store, const Case& test_case, const Ending& undisturbed, Fault fault
) {
    std::string problem;
    with_store([&](Store& store, ManualClock& clock) {
        Player player(test_case, store, clock, fault);
        try {
            player.play();
            player.end_faults();
            const bool has_paused_for_good = ending_of(player).status == "paused";
            if (has_paused_for_good && undisturbed.status != "paused") player.resume_and_play();
            const bool is_same = ending_of(player) == undisturbed;
            problem =
                broken_rule(player, test_case, store, is_same ? Rest::Unknown : Rest::Reached);
        } catch (const std::exception& error) {
            problem = error.what();
        }
        player.end_faults();
        const Ending ending = ending_of(player);
        if (problem.empty() && !is_right_end(test_case, player, ending, undisturbed) &&
            !is_in_doubt(test_case, ending, fault)) {
            problem =
                "it ends otherwise:\n" + to_text(ending) + "instead of:\n" + to_text(undisturbed);
        }
        if (!problem.empty()) problem += "\n" + tell(player, test_case);
    });
    return problem;
}

Ending undisturbed_ending(WithStore with_store, const Case& test_case) {
    Ending ending;
    with_store([&](Store& store, ManualClock& clock) {
        Player player(test_case, store, clock);
        player.play();
        EXPECT_EQ(broken_rule(player, test_case, store, Rest::Unknown), "");
        ending = ending_of(player);
    });
    return ending;
}

/// `every`: of how many calls one is struck.
int strike_every_call(WithStore with_store, int every) {
    int plays = 0;
    int offset = 0;
    for (const Case& test_case : all_cases()) {
        const Ending undisturbed = undisturbed_ending(with_store, test_case);
        for (const Kind& kind : kKinds) {
            const int calls = calls_of(with_store, test_case, kind.kind);
            for (int nth = 1 + offset++ % every; nth <= calls; nth += every) {
                ++plays;
                const std::string problem =
                    play_with(with_store, test_case, undisturbed, {.kind = kind.kind, .nth = nth});
                EXPECT_EQ(problem, "")
                    << test_case.name << ": call " << nth << " of " << calls << " " << kind.name;
            }
        }
    }
    return plays;
}

TEST(CrashAtEveryWrite, ends_as_the_undisturbed_play_in_memory) {
    const int plays = strike_every_call(with_memory, does_all() ? 1 : 5);
    std::printf("%d plays\n", plays);
    EXPECT_GE(plays, 1'000);
}

TEST(CrashAtEveryWrite, ends_as_the_undisturbed_play_in_sqlite) {
    const int plays = strike_every_call(with_sqlite, does_all() ? 1 : 50);
    std::printf("%d plays\n", plays);
    EXPECT_GE(plays, 100);
}

}  // namespace
}  // namespace ebb::golden
