// A crash at every write: each golden workflow is played again and again; at the first, second, ...
// last call of the store the call fails, its answer is lost, or the process dies and another one
// takes over. The end must be that of the undisturbed play, and the history must be sound.
// EBB_CRASH_ALL=1 does every call on the memory and the SQLite store; otherwise a sample, chosen by
// the case's place and therefore always the same.

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

/// Where a race is what the case shows, a fault may let the other one win: then only how it ends
/// must be the same.
bool is_same_end(const Case& test_case, const Ending& ending, const Ending& undisturbed) {
    if (!test_case.script.value("races", false)) return ending == undisturbed;
    return ending.status == undisturbed.status && ending.error == undisturbed.error;
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
            problem = broken_rule(player, store);
        } catch (const std::exception& error) {
            problem = error.what();
        }
        const Ending ending = ending_of(player);
        if (problem.empty() && !is_same_end(test_case, ending, undisturbed)) {
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
        EXPECT_EQ(broken_rule(player, store), "");
        ending = ending_of(player);
    });
    return ending;
}

/// `every`: of how many calls one is struck.
int strike_every_call(WithStore with_store, int every) {
    int plays = 0;
    int offset = 0;
    for (const Case& test_case : load_cases(workflows_folder())) {
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
