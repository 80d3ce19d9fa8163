// The past as the kernel reads it: whatever is remembered and whatever has to be fetched, the
// answers are those of a plain look at the whole history.

#include "engine/history_reader.h"

#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "store/memory/memory_store.h"
#include "support/flow.h"
#include "support/store_counting.h"

namespace ebb::engine {
namespace {

using ebb::testing::CountingStore;
using ebb::testing::StoreVerb;

HistoryEvent make_event(Seq seq, HistoryType type, std::string node, std::string path = {}) {
    HistoryEvent event;
    event.seq = seq;
    event.type = type;
    event.node = std::move(node);
    event.path = std::move(path);
    event.visit = seq;
    event.payload = std::to_string(seq);
    return event;
}

/// An instance with a given history, of which the last `remembered` events are in memory.
struct Past {
    SystemClock clock;
    StorePtr store = make_memory_store(clock);
    CountingStore counting{*store};
    std::shared_ptr<const Program> program =
        Program::compile(test::workflow({test::step("a"), test::step("b")}));
    std::vector<HistoryEvent> history;
    LiveInstance live;
    std::vector<HistoryEvent> pending;

    Past(std::vector<HistoryEvent> events, std::size_t remembered) : history(std::move(events)) {
        NewInstance row;
        row.row.id.bytes[0] = 1;
        row.row.workflow = "test";
        row.row.state = "{}";
        row.history = history;
        store->start({&row, 1});
        live.row = row.row;
        live.program = program;
        live.state.last_seq = static_cast<Seq>(history.size());
        const std::size_t stored = history.size() - remembered;
        live.recent.begin_after(static_cast<Seq>(stored));
        const auto unknown = static_cast<std::ptrdiff_t>(stored);
        live.recent.append({history.begin() + unknown, history.end()}, *program);
    }

    HistoryReader reader() { return {counting, live, pending}; }

    /// What the answer has to be.
    std::optional<Seq> plain_previous(Seq before, Seq floor, std::string_view prefix) const {
        for (auto event = history.rbegin(); event != history.rend(); ++event) {
            if (event->seq <= floor || (before != 0 && event->seq >= before)) continue;
            if (!is_undoable(event->type) || !event->path.starts_with(prefix)) continue;
            const bool is_settled =
                std::any_of(history.begin(), history.end(), [&](const HistoryEvent& other) {
                    return settles_compensation(other.type) && other.ref == event->seq;
                });
            if (!is_settled) return event->seq;
        }
        return std::nullopt;
    }
};

std::vector<HistoryEvent> random_history(std::mt19937& random, int size) {
    std::vector<HistoryEvent> history;
    for (Seq seq = 1; seq <= size; ++seq) {
        const auto dice = random() % 10;
        const std::string path = dice % 2 == 0 ? "" : (dice % 3 == 0 ? "1:x" : "1:y");
        if (dice < 5) {
            history.push_back(make_event(seq, HistoryType::StepCompleted, "a", path));
        } else if (dice < 7) {
            history.push_back(make_event(seq, HistoryType::StepFailed, "b", path));
            if (random() % 3 == 0 && seq < size) {
                history.push_back(make_event(++seq, HistoryType::StepRequeued, "b", path));
                history.back().ref = seq - 1;
            }
        } else if (dice < 9 && seq > 1) {
            history.push_back(make_event(seq, HistoryType::StepCompensated, "a", path));
            history.back().ref = 1 + static_cast<Seq>(random() % static_cast<unsigned>(seq - 1));
        } else {
            history.push_back(make_event(seq, HistoryType::BranchTaken, "b", path));
        }
    }
    return history;
}

TEST(HistoryReader, finds_what_must_be_undone_as_a_plain_search_does) {
    std::mt19937 random(20261121);
    for (int round = 0; round < 60; ++round) {
        const int size = 1 + static_cast<int>(random() % 120);
        std::vector<HistoryEvent> history = random_history(random, size);
        Past past(std::move(history), random() % static_cast<unsigned>(size + 1));
        const HistoryReader reader = past.reader();
        for (int question = 0; question < 40; ++question) {
            const auto before = static_cast<Seq>(random() % static_cast<unsigned>(size + 2));
            const auto floor = static_cast<Seq>(random() % static_cast<unsigned>(size + 1));
            const char* prefix = question % 3 == 0 ? "1:" : (question % 3 == 1 ? "" : "1:x");
            const auto found = reader.previous_undoable(before, floor, prefix);
            const auto expected = past.plain_previous(before, floor, prefix);
            ASSERT_EQ(found.has_value(), expected.has_value()) << before << ' ' << floor;
            if (!found) continue;
            ASSERT_EQ(found->seq, *expected) << before << ' ' << floor << ' ' << prefix;
        }
    }
}

TEST(HistoryReader, reads_a_long_rollback_in_few_pieces) {
    std::vector<HistoryEvent> history;
    for (Seq seq = 1; seq <= 320; ++seq) {
        history.push_back(make_event(seq, HistoryType::StepCompleted, "a"));
    }
    Past past(history, 0);
    const HistoryReader reader = past.reader();
    Seq before = 0;
    int found = 0;
    while (const auto event = reader.previous_undoable(before, 0, "")) {
        before = event->seq;
        ++found;
    }
    EXPECT_EQ(found, 320);
    EXPECT_LE(past.counting.calls(StoreVerb::History), 320 / 16 + 3);
}

TEST(HistoryReader, follows_refs_to_the_payload) {
    std::vector<HistoryEvent> history = {
        make_event(1, HistoryType::Started, ""), make_event(2, HistoryType::BranchTaken, "b")
    };
    history.push_back(make_event(3, HistoryType::TimerFired, "b"));
    history[2].payload.clear();
    history[2].ref = 1;
    history.push_back(make_event(4, HistoryType::SavepointReached, "b"));
    history[3].payload.clear();
    for (const std::size_t remembered : {0U, 1U, 4U}) {
        Past past(history, remembered);
        EXPECT_EQ(past.reader().payload(3), "1");
        EXPECT_EQ(past.reader().payload(4), "null") << "there is none";
    }
}

TEST(HistoryReader, reads_the_outputs_of_a_hundred_branches_at_once) {
    std::vector<HistoryEvent> history;
    std::vector<Seq> outputs;
    for (Seq seq = 1; seq <= 100; ++seq) {
        history.push_back(make_event(seq, HistoryType::StepCompleted, "a"));
    }
    for (Seq seq = 101; seq <= 200; ++seq) {
        history.push_back(make_event(seq, HistoryType::BranchCompleted, "b"));
        history.back().payload.clear();
        history.back().ref = seq - 100;
        outputs.push_back(seq);
    }
    for (const std::size_t remembered : {0U, 30U, 150U}) {
        Past past(history, remembered);
        const HistoryReader reader = past.reader();
        reader.prepare(outputs);
        for (const Seq seq : outputs) EXPECT_EQ(reader.payload(seq), std::to_string(seq - 100));
        EXPECT_LE(past.counting.calls(StoreVerb::History), 2) << "the branches and their refs";
    }
}

TEST(HistoryReader, does_not_ask_twice_for_events_that_are_lost) {
    Past past({make_event(1, HistoryType::Started, "")}, 0);
    const HistoryReader reader = past.reader();
    reader.prepare({1, 8, 9});
    EXPECT_EQ(past.counting.calls(StoreVerb::History), 2) << "the second finds nothing more";
    EXPECT_EQ(reader.payload(1), "1");
    EXPECT_THROW(reader.payload(9), Error);
}

TEST(HistoryReader, says_so_when_an_event_is_missing) {
    Past past({make_event(1, HistoryType::Started, "")}, 0);
    EXPECT_THROW(past.reader().payload(9), Error);
}

TEST(HistoryReader, finds_the_newest_output_of_a_node_and_asks_the_store_once) {
    std::vector<HistoryEvent> history;
    for (Seq seq = 1; seq <= 10; ++seq) {
        history.push_back(make_event(seq, HistoryType::StepCompleted, seq % 2 == 0 ? "a" : "b"));
    }
    Past past(history, 1);  // only the tenth
    EXPECT_EQ(past.reader().output_of("a"), 10);
    EXPECT_EQ(past.counting.calls(StoreVerb::History), 0);
    EXPECT_EQ(past.reader().output_of("b"), 9);
    EXPECT_EQ(past.reader().output_of("b"), 9);
    EXPECT_EQ(past.reader().output_of("c"), std::nullopt);
    EXPECT_EQ(past.reader().output_of("c"), std::nullopt);
    EXPECT_EQ(past.counting.calls(StoreVerb::History), 2);
}

TEST(HistoryReader, does_not_search_again_for_an_output_that_large_payloads_have_displaced) {
    std::vector<HistoryEvent> history;
    for (Seq seq = 1; seq <= 10; ++seq) {
        history.push_back(make_event(seq, HistoryType::StepCompleted, seq == 1 ? "b" : "a"));
    }
    Past past(history, 1);
    EXPECT_EQ(past.reader().output_of("b"), 1);
    EXPECT_EQ(past.reader().output_of("c"), std::nullopt);
    for (Seq seq = 11; seq <= 15; ++seq) {
        std::vector<HistoryEvent> more = {make_event(seq, HistoryType::StepCompleted, "a")};
        more[0].payload = std::string(RecentEvents::kBytesMax, 'x');
        past.live.recent.append(more, *past.program);
        EXPECT_EQ(past.reader().output_of("b"), 1);
        EXPECT_EQ(past.reader().output_of("c"), std::nullopt);
    }
    EXPECT_EQ(past.live.recent.find(1), nullptr) << "its payload had to make room";
    EXPECT_EQ(past.counting.calls(StoreVerb::History), 2);
}

TEST(HistoryReader, sees_events_that_are_not_committed_yet) {
    Past past({make_event(1, HistoryType::StepCompleted, "a")}, 0);
    past.pending.push_back(make_event(2, HistoryType::StepCompleted, "a"));
    past.pending.push_back(make_event(3, HistoryType::StepCompensated, "a"));
    past.pending.back().ref = 1;
    EXPECT_EQ(past.reader().payload(2), "2");
    EXPECT_EQ(past.reader().output_of("a"), 2);
    EXPECT_EQ(past.reader().previous_undoable(0, 0, "")->seq, 2);
    EXPECT_FALSE(past.reader().previous_undoable(2, 0, "").has_value());
}

TEST(RecentEvents, keep_what_expressions_read_when_old_events_make_room) {
    Node reading = test::step("b", {.is_compensated = false});
    std::get<Step>(reading.kind).input = R"({"x":"${steps.a.output}"})";
    const auto program = Program::compile(test::workflow({test::step("a"), reading}));
    RecentEvents recent;
    const std::vector<HistoryEvent> first = {make_event(1, HistoryType::StepCompleted, "a")};
    recent.append(first, *program);
    for (Seq seq = 2; seq <= 100; ++seq) {
        const std::vector<HistoryEvent> more = {make_event(seq, HistoryType::BranchTaken, "b")};
        recent.append(more, *program);
    }
    EXPECT_LE(recent.events().size(), RecentEvents::kEventsMax);
    EXPECT_EQ(recent.older_output("a"), 1);
    EXPECT_NE(recent.find(1), nullptr);
    EXPECT_EQ(recent.find(2), nullptr);
}

TEST(RecentEvents, are_bounded_by_bytes_but_keep_the_newest) {
    const auto program = Program::compile(test::workflow({test::step("a")}));
    RecentEvents recent;
    for (Seq seq = 1; seq <= 10; ++seq) {
        std::vector<HistoryEvent> more = {make_event(seq, HistoryType::StepCompleted, "a")};
        more[0].payload = std::string(RecentEvents::kBytesMax, 'x');
        recent.append(more, *program);
    }
    EXPECT_EQ(recent.events().size(), 1U);
    EXPECT_EQ(recent.events().front().seq, 10);
    EXPECT_EQ(recent.complete_from(), 10);
}

TEST(InstanceCache, drops_the_least_recently_used_instance) {
    InstanceCache cache(100);
    const auto make = [](std::uint8_t first, std::uint8_t second) {
        auto live = std::make_shared<LiveInstance>();
        live->row.id.bytes[0] = first;
        live->row.id.bytes[8] = second;
        return live;
    };
    const LivePtr favourite = make(255, 0);
    cache.replace(favourite);
    for (std::size_t i = 0; i < InstanceCache::kSpare + 110; ++i) {
        cache.replace(make(static_cast<std::uint8_t>(i / 256), static_cast<std::uint8_t>(i % 256)));
        if (i % 100 == 0) cache.find(favourite->row.id);
    }
    EXPECT_EQ(cache.size(), InstanceCache::kSpare + 100);
    EXPECT_EQ(cache.find(favourite->row.id), favourite);
    EXPECT_EQ(cache.find(make(0, 0)->row.id), nullptr);
}

TEST(InstanceCache, keeps_the_newer_revision) {
    InstanceCache cache(1);
    auto old_one = std::make_shared<LiveInstance>();
    auto new_one = std::make_shared<LiveInstance>();
    new_one->row.revision = 5;
    old_one->row.revision = 4;
    EXPECT_EQ(cache.keep_newer(new_one), new_one);
    EXPECT_EQ(cache.keep_newer(old_one), new_one);
}

}  // namespace
}  // namespace ebb::engine
