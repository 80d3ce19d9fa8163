// Goal: of two callers who act on the revision that both have seen, exactly one acts, on every
// store. Method: two engines on one database; each pair of verbs races on an instance of its own.

#include <atomic>
#include <barrier>
#include <functional>
#include <thread>

#include <ebb/builder.h>
#include <ebb/engine.h>
#include <ebb/error.h>

#include "store/application.h"

namespace ebb::testing {
namespace {

struct Verb {
    const char* name;
    std::function<void(Engine&, const InstanceId&, const RequestOptions&)> act;
};

const std::vector<Verb>& verbs() {
    static const std::vector<Verb> all{
        {"cancel", [](auto& engine, auto& id, auto& options) { engine.cancel(id, options); }},
        {"abort", [](auto& engine, auto& id, auto& options) { engine.abort(id, options); }},
        {"pause", [](auto& engine, auto& id, auto& options) { engine.pause(id, options); }},
        {"signal",
         [](auto& engine, auto& id, auto& options) { engine.signal(id, "paid", {}, options); }},
        {"decide",
         [](auto& engine, auto& id, auto& options) {
             engine.decide(id, {.expected_revision = options.expected_revision});
         }},
    };
    return all;
}

class SteeringRaces : public ::testing::TestWithParam<std::string> {
 protected:
    SteeringRaces() {
        if (GetParam() == "memory") {
            first_ = open_memory_store();
        } else {
            const Place place = GetParam() == "sqlite" ? sqlite_place(dir_) : postgres_place(dir_);
            first_ = place.open();
            second_ = place.open();
        }
    }

    Store& second() { return second_ ? *second_ : *first_; }

    TempDir dir_;
    const HandlerRegistry none_;
    StorePtr first_;
    StorePtr second_;  ///< of another process, as it were; memory has one
};

INSTANTIATE_TEST_SUITE_P(
    Stores,
    SteeringRaces,
    ::testing::Values("memory", "sqlite", "postgresql"),
    [](const auto& kind) { return kind.param; }
);

TEST_P(SteeringRaces, of_two_who_have_seen_one_revision_exactly_one_acts) {
    Engine ann(*first_, none_);
    Engine bob(second(), none_);
    ann.register_workflow(WorkflowBuilder("order").decision("approve").signal("paid").build());
    for (const Verb& one : verbs()) {
        for (const Verb& other : verbs()) {
            SCOPED_TRACE(std::string(one.name) + " against " + other.name);
            const InstanceId id = ann.start("order").id;
            const std::int64_t seen = ann.find(id)->revision;
            std::atomic<int> done = 0;
            std::atomic<int> refused = 0;
            std::barrier start(2);
            const auto race = [&](Engine& engine, const Verb& verb) {
                start.arrive_and_wait();
                try {
                    verb.act(engine, id, {.by = verb.name, .expected_revision = seen});
                    ++done;
                } catch (const Error& error) {
                    EXPECT_EQ(error.code(), ErrorCode::RevisionChanged) << error.what();
                    ++refused;
                }
            };
            {
                const std::jthread first([&] { race(ann, one); });
                race(bob, other);
            }
            EXPECT_EQ(done, 1);
            EXPECT_EQ(refused, 1);
            EXPECT_GT(ann.find(id)->revision, seen);
        }
    }
}

}  // namespace
}  // namespace ebb::testing
