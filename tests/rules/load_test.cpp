// Goal: under load, rules lose no end and refuse no write. Method: pairs of transitions that only
// return when both run, in two engines, so that their ends meet at one instance; and writers that
// never stop while new versions of the rules are registered. Real time, on every store.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ebb/engine.h>

#include "support/os_environment.h"
#include "support/postgres_server.h"

namespace ebb::test {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

int count_of(const char* variable, int otherwise) {
    const auto wanted = environment_variable(variable);
    return wanted ? std::stoi(*wanted) : otherwise;
}

/// One database, which each engine opens for itself. The store in memory is one for all.
class Place {
 public:
    explicit Place(const std::string& kind) : kind_(kind) {
        if (kind == "memory") memory_ = open_memory_store();
        if (kind == "sqlite") {
            std::string name =
                (std::filesystem::temp_directory_path() / "ebb-load-XXXXXX").string();
            if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
            folder_ = name;
        }
        if (kind == "postgresql") schema_ = testing::fresh_schema();
    }

    ~Place() {
        if (!folder_.empty()) std::filesystem::remove_all(folder_);
    }

    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    Store& open() {
        if (memory_) return *memory_;
        if (kind_ == "sqlite") {
            opened_.push_back(open_sqlite_store(
                {.path = folder_ / "ebb.db", .synchronous = SqliteOptions::Synchronous::Normal}
            ));
        } else {
            opened_.push_back(
                open_postgres_store({.url = testing::postgres_server().url(), .schema = schema_})
            );
        }
        return *opened_.back();
    }

 private:
    std::string kind_;
    StorePtr memory_;
    std::filesystem::path folder_;
    std::string schema_;
    std::vector<StorePtr> opened_;
};

/// Lets calls of one instance return only together.
class Meeting {
 public:
    /// False: the other one has not come.
    bool meet(const std::string& instance) {
        std::unique_lock lock(mutex_);
        ++present_[instance];
        changed_.notify_all();
        return changed_.wait_for(lock, 60s, [&] { return present_[instance] >= 2; });
    }

 private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, int> present_;
};

class RulesLoad : public ::testing::TestWithParam<const char*> {};

constexpr const char* kPair = R"({"workflow": "pair", "rules": {
    "attributes": {"left": "text", "right": "text"},
    "triggers": {
        "left": {"when": "left is null", "writes": ["left"], "max_attempts": 1},
        "right": {"when": "right is null", "writes": ["right"], "max_attempts": 1}
    },
    "final": {"both": "left = 'done' and right = 'done'"}
}})";

/// It ends once, and by the later of the two writes.
void check_pair(Engine& engine, const InstanceId& id) {
    int ends = 0;
    std::vector<std::string> finals;
    for (const HistoryEntry& entry : engine.history(id)) {
        if (entry.type == "completed") ++ends;
        if (entry.type != "attributes_written") continue;
        finals.push_back(Json::parse(entry.payload).value("final", ""));
    }
    EXPECT_EQ(ends, 1) << id.to_string();
    EXPECT_EQ(finals, (std::vector<std::string>{"", "both"})) << id.to_string();
}

TEST_P(RulesLoad, two_terminal_transitions_that_end_at_once_never_lose_the_final) {
    constexpr std::size_t kAtOnce = 100;
    const int pairs = count_of("EBB_TEST_PAIRS", 10'000);
    Place place(GetParam());
    Meeting meeting;
    std::atomic<int> missed = 0;
    const auto handler = [&](const char* side) {
        return Handler([&meeting, &missed, side](const Payload&, const StepContext& context) {
            if (!meeting.meet(context.instance.to_string())) ++missed;
            return Payload::text(fmt::format(R"({{"{}":"done"}})", side));
        });
    };
    HandlerRegistry lefts;
    HandlerRegistry rights;
    lefts.add_raw("left", handler("left"));
    rights.add_raw("right", handler("right"));
    const EngineOptions options{
        .threads = static_cast<int>(kAtOnce), .poll_max = 5ms, .poll_max_told = 5ms
    };
    Engine left(place.open(), lefts, options);
    Engine right(place.open(), rights, options);
    left.register_workflow(parse_definition_json(kPair));
    left.run();
    right.run();
    const std::vector<Payload> inputs(kAtOnce, "{}");
    for (int done = 0; done < pairs; done += static_cast<int>(kAtOnce)) {
        const auto started = left.start_all("pair", inputs);
        for (const StartedInstance& instance : started) {
            const auto result = left.wait<Json>(instance.id, 60s);
            EXPECT_EQ(result, Json({{"left", "done"}, {"right", "done"}}));
        }
        check_pair(left, started.front().id);
        ASSERT_FALSE(HasFailure()) << "after " << done << " pairs";
    }
    EXPECT_EQ(missed, 0);
    EXPECT_GT(left.counters().conflicts + right.counters().conflicts, 0U);
}

/// The rules while they change: an attribute is new, a trigger reads it, it gets another name, the
/// trigger is disabled, and both are gone again.
Definition evolved(int version) {
    Json rules = Json::parse(R"({
        "evolution": "follow", "on_idle": "wait",
        "attributes": {
            "n": {"type": "integer", "default": 0, "external": true},
            "seen": {"type": "integer", "default": 0}
        },
        "triggers": {"copy": {"when": "n <> seen", "writes": ["seen"], "max_attempts": 1}},
        "final": {"done": "n = -1 and seen = -1"}
    })");
    const int stage = version % 5;
    const bool is_renamed = stage >= 3;
    const std::string name = is_renamed ? "later" : "earlier";
    if (stage >= 1) rules["attributes"][name] = {{"default", "none"}, {"external", true}};
    if (is_renamed) rules["attributes"][name]["renamed_from"] = "earlier";
    if (stage >= 2) {
        rules["triggers"]["probe"] = {
            {"when", name + " = 'asked'"}, {"writes", Json::array()}, {"enabled", stage != 4}
        };
    }
    return parse_definition_json(
        Json({{"workflow", "evolving"}, {"version", version}, {"rules", rules}}).dump()
    );
}

/// Writers and new versions take turns in small groups, so that each version meets writes.
class Pace {
 public:
    explicit Pace(int versions) : versions_(versions) {}

    /// False: all versions are there.
    bool may_write() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return version_ >= versions_ || writes_ < kAhead * version_; });
        ++writes_;
        changed_.notify_all();
        return version_ < versions_;
    }

    void await_writes() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return writes_ >= kBehind * version_; });
    }

    void set_version(int version) {
        const std::lock_guard lock(mutex_);
        version_ = version;
        changed_.notify_all();
    }

 private:
    static constexpr int kBehind = 4;
    static constexpr int kAhead = 8;

    std::mutex mutex_;
    std::condition_variable changed_;
    int versions_;
    int version_ = 1;
    int writes_ = 0;
};

/// The history of an instance, read again under its versions, ends as its row does.
void check_replay(Engine& engine, const InstanceId& id, int writes) {
    int from_outside = 0;
    int migrations = 0;
    std::int64_t read = 0;
    Payload attributes;
    while (true) {
        const std::vector<TraceEntry> page = engine.trace(id, read);
        if (page.empty()) break;
        for (const TraceEntry& entry : page) {
            from_outside += entry.kind == TraceEntry::Kind::Outside;
            migrations += entry.kind == TraceEntry::Kind::Migrated;
        }
        read = page.back().seq;
        attributes = page.back().attributes;
    }
    EXPECT_EQ(from_outside, writes);
    EXPECT_GT(migrations, 0);
    EXPECT_EQ(attributes, engine.show(id).attributes);
}

TEST_P(RulesLoad, a_thousand_new_versions_refuse_no_write) {
    constexpr int kWriters = 4;
    const int versions = count_of("EBB_TEST_VERSIONS", 1'000);
    Place place(GetParam());
    HandlerRegistry handlers;
    handlers.add_raw("copy", Handler([](const Payload& seen, const StepContext&) {
                         const Json state = Json::parse(seen);
                         return Payload::text(Json({{"seen", state.at("n")}}).dump());
                     }));
    Engine worker(place.open(), handlers);
    HandlerRegistry none;
    Engine client(place.open(), none);
    client.register_workflow(evolved(1));
    worker.run();
    std::vector<InstanceId> instances;
    for (int i = 0; i < kWriters; ++i) {
        instances.push_back(client.start("evolving", Payload("{}")).id);
    }
    Pace pace(versions);
    std::vector<int> writes(kWriters, 0);
    std::vector<std::string> refusals(kWriters);
    std::vector<std::thread> writers;
    for (std::size_t i = 0; i < kWriters; ++i) {
        writers.emplace_back([&, i] {
            try {
                while (pace.may_write()) {
                    ++writes[i];
                    client.write(instances[i], Payload(fmt::format(R"({{"n":{}}})", writes[i])));
                }
                ++writes[i];
                client.write(instances[i], Payload(R"({"n":-1})"));
            } catch (const std::exception& error) {
                refusals[i] = error.what();
                while (pace.may_write()) {
                }
            }
        });
    }
    for (int version = 2; version <= versions; ++version) {
        pace.await_writes();
        client.register_workflow(evolved(version));
        pace.set_version(version);
    }
    for (std::thread& writer : writers) writer.join();
    EXPECT_EQ(refusals, std::vector<std::string>(kWriters));
    for (std::size_t i = 0; i < kWriters; ++i) {
        EXPECT_EQ(client.wait(instances[i], 60s).status, InstanceStatus::Completed);
        check_replay(client, instances[i], writes[i]);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Stores,
    RulesLoad,
    ::testing::Values("memory", "sqlite", "postgresql"),
    [](const auto& kind) { return std::string(kind.param); }
);

}  // namespace
}  // namespace ebb::test
