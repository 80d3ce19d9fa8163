// Goal: the recipe for Redis in docs/how-to/state-management.md does what it says. Method: the
// script as the page prints it, in a real server on a socket of its own, behind a store of
// snapshots that talks to it by redis-cli: everything that drives snapshots runs over it.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include <ebb/builder.h>
#include <ebb/error.h>
#include <ebb/stored_run.h>

#include "ebb_test_dirs.h"
#include "store/conformance.h"
#include "support/json.h"
#include "support/os_process.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;
using stateless::SaveOptions;
using stateless::SaveResult;
using stateless::Snapshot;
using stateless::SnapshotInfo;
using stateless::SnapshotStore;
using stateless::StoredRun;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = SaveResult::Kind;

const std::map<std::string, std::string> kEnvironment = {{"PATH", "/usr/bin:/usr/local/bin:/bin"}};

/// A server that no other process sees, and that ends with the test.
class RedisServer {
 public:
    RedisServer() : socket_(dir_.file("redis.sock")) {
        server_ = std::jthread([this](const std::stop_token& stop) {
            run_process(
                {.arguments =
                     {"redis-server",
                      "--port",
                      "0",
                      "--unixsocket",
                      socket_,
                      "--save",
                      "",
                      "--dir",
                      std::filesystem::path(socket_).parent_path().string()},
                 .environment = kEnvironment,
                 .stop = stop}
            );
        });
        for (int tries = 0; tries < 2'000; ++tries) {
            if (ask({"PING"}).output == "PONG\n") return;
        }
        throw std::runtime_error("redis-server does not answer (Debian package redis-server).");
    }

    ProcessResult ask(std::vector<std::string> command) const {
        command.insert(command.begin(), {"redis-cli", "-s", socket_});
        return run_process(
            {.arguments = std::move(command),
             .environment = kEnvironment,
             .output_bytes_max = std::size_t{8} << 20}
        );
    }

    /// The answer's lines.
    std::vector<std::string> lines(std::vector<std::string> command) const {
        std::istringstream text(ask(std::move(command)).output);
        std::vector<std::string> lines;
        for (std::string line; std::getline(text, line);) lines.push_back(line);
        return lines;
    }

 private:
    TempDir dir_;
    std::string socket_;
    std::jthread server_;
};

/// The page's script.
std::string save_script() {
    std::ifstream file(std::string(EBB_SOURCE_DIR) + "/docs/how-to/state-management.md");
    std::ostringstream text;
    text << file.rdbuf();
    const std::string page = text.str();
    const std::string begin = "```lua\n";
    const auto from = page.find(begin) + begin.size();
    return page.substr(from, page.find("```", from) - from);
}

std::string milliseconds(TimePoint time) {
    if (time == kNever) return "";
    return std::to_string(
        std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count()
    );
}

/// What the page says, in C++.
class RedisSnapshots : public SnapshotStore {
 public:
    explicit RedisSnapshots(const RedisServer& server) : SnapshotStore({}), server_(server) {}

 private:
    static std::string key_of(std::string_view id) { return fmt::format("run:{{{}}}", id); }

    SaveResult save_row(const Row& row, const std::string& expected) {
        const SnapshotInfo& info = row.info;
        std::string ttl;
        if (row.keep_for) {
            ttl = milliseconds(TimePoint{} + *row.keep_for);
        }
        const auto answer = server_.lines(
            {"EVAL",
             save_script(),
             "2",
             key_of(info.id),
             "due:{runs}",
             info.id,
             expected,
             std::to_string(info.version),
             std::string(to_string(info.status)),
             row.json,
             milliseconds(info.next_due_at),
             ttl,
             info.save_id,
             info.run_id}
        );
        if (answer.empty()) throw Error(ErrorCode::StoreUnavailable, "Redis does not answer.");
        if (answer[0] == "not_found") return {Kind::NotFound, {}};
        SaveResult result{answer[0] == "saved" ? Kind::Saved : Kind::Conflict, info};
        result.current.version = std::stoll(answer.at(1));
        return result;
    }

    SaveResult insert_row(const Row& row) override { return save_row(row, ""); }

    SaveResult update_row(const Row& row, std::int64_t expected) override {
        return save_row(row, std::to_string(expected));
    }

    std::optional<stateless::StoredSnapshot> find_row(std::string_view id) override {
        const auto there = server_.lines(
            {"HMGET", key_of(id), "version", "status", "save_id", "run_id", "snapshot"}
        );
        if (there.size() < 5 || there[0].empty()) return std::nullopt;
        SnapshotInfo info;
        info.id = id;
        info.version = std::stoll(there[0]);
        info.save_id = there[2];
        info.run_id = there[3];
        return stateless::StoredSnapshot{info, there[4]};
    }

    SaveResult remove_row(std::string_view, const Expected&) override {
        throw Error(ErrorCode::InvalidArgument, "The page has no recipe for that.");
    }

    std::vector<SnapshotInfo> list_rows(const stateless::SnapshotQuery&) override { return {}; }

    std::vector<SnapshotInfo> due_rows(const stateless::DueQuery& query) override {
        std::vector<SnapshotInfo> due;
        const std::string now = milliseconds(SystemClock().now());
        const std::string limit = std::to_string(query.limit);
        for (const std::string& id :
             server_.lines({"ZRANGEBYSCORE", "due:{runs}", "-inf", now, "LIMIT", "0", limit})) {
            if (id.empty()) continue;
            SnapshotInfo info;
            info.id = id;
            due.push_back(info);
        }
        return due;
    }

    int purge_rows(int) override { return 0; }

    const RedisServer& server_;
};

class RedisRecipe : public ::testing::Test {
 protected:
    RedisRecipe() : engine_(handlers_) {
        for (const char* name : {"pay", "ship"}) {
            handlers_.add_raw(name, [](const Payload& input, const StepContext&) { return input; });
        }
        WorkflowBuilder builder("order");
        builder.step("pay");
        builder.signal("approval");
        builder.step("ship");
        engine_.add(builder.build());
    }

    Snapshot start(const std::string& id) {
        return engine_.start("order", Payload::text("1"), {.workflow_id = id});
    }

    std::vector<std::string> due() {
        std::vector<std::string> ids;
        for (const SnapshotInfo& info : store_.due()) ids.push_back(info.id);
        return ids;
    }

    RedisServer server_;
    RedisSnapshots store_{server_};
    HandlerRegistry handlers_;
    stateless::Engine engine_;
};

TEST_F(RedisRecipe, one_save_wins_and_the_other_is_a_conflict) {
    const Snapshot first = start("a");
    EXPECT_EQ(store_.save(engine_.step(first), 0).kind, Kind::NotFound);
    EXPECT_EQ(store_.insert_if_absent(first).kind, Kind::Saved);
    EXPECT_EQ(store_.insert_if_absent(first).kind, Kind::Conflict);
    const Snapshot mine = engine_.step(first);
    EXPECT_EQ(store_.save(mine, 0, {.save_id = "mine"}).kind, Kind::Saved);
    EXPECT_EQ(store_.save(mine, 0, {.save_id = "mine"}).kind, Kind::Saved) << "repeated";
    const SaveResult lost = store_.save(engine_.cancel(first), 0);
    EXPECT_EQ(lost.kind, Kind::Conflict);
    EXPECT_EQ(lost.current.version, 1);
    EXPECT_EQ(store_.load("a")->json, mine.to_json());
}

TEST_F(RedisRecipe, a_new_run_is_not_overwritten_by_the_one_before) {
    const Snapshot old = start("a");
    store_.insert_if_absent(old);
    server_.lines({"DEL", "run:{a}"});
    const Snapshot fresh = start("a");
    EXPECT_EQ(store_.insert_if_absent(fresh).kind, Kind::Saved);
    EXPECT_EQ(store_.save(engine_.step(old), 0).kind, Kind::Conflict);
    EXPECT_EQ(store_.load("a")->info.run_id, fresh.run_id());
    EXPECT_EQ(store_.save(engine_.step(fresh), 0).kind, Kind::Saved);
}

TEST_F(RedisRecipe, names_what_is_due_and_forgets_what_is_over) {
    store_.insert_if_absent(start("a"));
    EXPECT_THAT(due(), ElementsAre("a"));
    run_stored(store_, engine_, "a");
    EXPECT_THAT(due(), IsEmpty()) << "it waits for a signal";
    const StoredRun end = run_stored(
        store_, engine_, "a", {.execute = {.payload = "\"yes\""}, .keep_finished_for = 1h}
    );
    EXPECT_EQ(end.snapshot->status(), stateless::SnapshotStatus::Completed);
    const auto ttl = server_.lines({"PTTL", "run:{a}"});
    EXPECT_GT(std::stoll(ttl.at(0)), 3'500'000);
    EXPECT_EQ(server_.lines({"PEXPIRE", "run:{a}", "0"}).at(0), "1");
    EXPECT_FALSE(store_.load("a"));
    EXPECT_EQ(run_stored(store_, engine_, "a").kind, StoredRun::Kind::NotFound);
}

TEST_F(RedisRecipe, lets_exactly_one_of_many_win_each_version) {
    constexpr int kVersions = 20;
    store_.insert_if_absent(start("a"));
    std::atomic<int> wins{0};
    {
        std::vector<std::jthread> racers;
        for (int n = 0; n < 3; ++n) {
            racers.emplace_back([&] {
                RedisSnapshots store(server_);
                while (true) {
                    const Snapshot read = engine_.parse(store.load("a")->json);
                    if (read.version() >= kVersions) return;
                    Snapshot next = read;
                    next.set_metadata(fmt::format("{{\"version\":{}}}", read.version()));
                    if (store.save(next, read.version()).kind == Kind::Saved) ++wins;
                }
            });
        }
    }
    EXPECT_EQ(wins, kVersions);
}

}  // namespace
}  // namespace ebb::testing
