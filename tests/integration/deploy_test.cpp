// Goal: a new version of a program goes into service while the old one is at work: nothing is lost,
// nothing is called twice, and work that no worker can run is reported.
// Method: workers are processes of their own over one PostgreSQL, ended by SIGTERM; their handlers
// note each call in a file.

#include <csignal>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <ebb/builder.h>
#include <ebb/engine.h>

#include "support/os_file.h"
#include "support/postgres_server.h"
#include "support/store_process.h"

namespace ebb::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr Duration kDrain = 60s;
constexpr Duration kPatience = 120s;

Definition flow(int version) {
    const std::string suffix = std::to_string(version);
    WorkflowBuilder builder("flow", version);
    builder.step("one" + suffix).step("two" + suffix).step("three" + suffix);
    return builder.build();
}

class Deploy : public ::testing::Test {
 protected:
    Deploy() {
        // SIGTERM is for sigwait: in the children, which inherit this.
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    }

    ~Deploy() override {
        for (const auto& [name, pid] : workers_) {
            kill(pid, SIGKILL);
            wait_for(pid);
        }
    }

    void note(const std::string& line) const {
        const int file = open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        const std::string text = line + "\n";
        if (write(file, text.data(), text.size()) != std::ssize(text)) std::abort();
        // A call takes as long as the disk.
        fsync(file);
        close(file);
    }

    /// Serves the handlers of one version until SIGTERM. 0: all that ran could finish.
    int serve(const std::string& name, int version) const {
        const StorePtr store = open_postgres_store(database_);
        HandlerRegistry handlers;
        for (const std::string& handler : handlers_of(version)) {
            handlers.add_raw(handler, [&, handler](const Payload& input, const StepContext& step) {
                note(
                    "call " + name + " " + handler + " " + step.instance.to_string() + " " +
                    std::to_string(step.attempt)
                );
                return input;
            });
        }
        EngineOptions options;
        options.worker_id = name;
        options.threads = 3;
        Engine engine(*store, handlers, options);
        engine.register_workflow(flow(version));
        engine.run();
        note("ready " + name);
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        int signal = 0;
        sigwait(&signals, &signal);
        return engine.drain(kDrain) ? 0 : 1;
    }

    static std::vector<std::string> handlers_of(int version) {
        const std::string suffix = std::to_string(version);
        return {"one" + suffix, "two" + suffix, "three" + suffix};
    }

    void start_worker(const std::string& name, int version) {
        workers_[name] = fork_process([&] { return serve(name, version); });
        while (!has_line("ready " + name)) std::this_thread::yield();
    }

    void end_worker(const std::string& name) {
        const pid_t pid = workers_.extract(name).mapped();
        kill(pid, SIGTERM);
        EXPECT_EQ(wait_for(pid), 0) << name;
    }

    std::vector<std::string> lines() const {
        std::ifstream file(log_);
        std::vector<std::string> lines;
        for (std::string line; std::getline(file, line);) lines.push_back(line);
        return lines;
    }

    bool has_line(const std::string& wanted) const {
        const auto all = lines();
        return std::find(all.begin(), all.end(), wanted) != all.end();
    }

    struct Call {
        std::string worker;
        std::string handler;
        std::string instance;
        int attempt = 0;
    };

    std::vector<Call> calls() const {
        std::vector<Call> calls;
        for (const std::string& line : lines()) {
            std::istringstream words(line);
            std::string word;
            Call call;
            words >> word;
            if (word != "call") continue;
            words >> call.worker >> call.handler >> call.instance >> call.attempt;
            calls.push_back(call);
        }
        return calls;
    }

    const PostgresOptions database_{.url = postgres_server().url(), .schema = fresh_schema()};
    TempDirectory directory_;
    const std::string log_ = (directory_.path() / "log").string();
    std::map<std::string, pid_t> workers_;
};

TEST_F(Deploy, of_other_handlers_leaves_each_version_to_workers_that_have_its_own) {
    start_worker("blue", 1);
    const StorePtr store = open_postgres_store(database_);
    const HandlerRegistry none;
    Engine client(*store, none);
    std::vector<InstanceId> ids;
    for (int i = 0; i < 15; ++i) ids.push_back(client.start("flow").id);
    start_worker("green", 2);
    // A client remembers for a moment which version is the newest.
    Engine later(*store, none);
    for (int i = 0; i < 15; ++i) ids.push_back(later.start("flow").id);
    for (int i = 0; i < 15; ++i) ids.push_back(client.start("flow", {}, {.version = 1}).id);
    for (const InstanceId& id : ids) {
        EXPECT_EQ(client.wait(id, kPatience).status, "completed");
    }
    std::map<std::string, int> counts;
    for (const Call& call : calls()) {
        const bool is_of_version_1 = call.handler.ends_with('1');
        EXPECT_EQ(call.worker, is_of_version_1 ? "blue" : "green");
        ++counts[call.worker];
    }
    EXPECT_EQ(counts["blue"], 30 * 3);
    EXPECT_EQ(counts["green"], 15 * 3);

    end_worker("blue");
    const InstanceId late = client.start("flow", {}, {.version = 1}).id;
    EXPECT_EQ(client.unserved(), (std::vector<UnservedTasks>{{"one1", "default", 1}}));
    EXPECT_THAT(
        client.why(late), HasSubstr("waits for a worker: no living worker has the handler \"one1\"")
    );
    start_worker("blue-again", 1);
    EXPECT_EQ(client.wait(late, kPatience).status, "completed");
    EXPECT_EQ(client.unserved(), std::vector<UnservedTasks>{});
}

TEST_F(Deploy, one_worker_after_the_other_loses_no_attempt_and_makes_none_twice) {
    constexpr int kWorkers = 3;
    constexpr int kPerRound = 40;
    for (int i = 1; i <= kWorkers; ++i) start_worker("old-" + std::to_string(i), 1);
    const StorePtr store = open_postgres_store(database_);
    const HandlerRegistry none;
    Engine client(*store, none);
    std::vector<InstanceId> ids;
    const std::vector<Payload> inputs(kPerRound, "null");
    const auto start_some = [&] {
        for (const StartedInstance& started : client.start_all("flow", inputs)) {
            ids.push_back(started.id);
        }
    };
    start_some();
    while (calls().empty()) std::this_thread::yield();
    for (int i = 1; i <= kWorkers; ++i) {
        start_some();
        start_worker("new-" + std::to_string(i), 1);
        start_some();
        end_worker("old-" + std::to_string(i));
    }
    // What the old ones have left, and this, is for the new ones.
    start_some();
    for (const InstanceId& id : ids) {
        EXPECT_EQ(client.wait(id, kPatience).status, "completed");
        for (const HistoryEntry& entry : client.history(id)) EXPECT_NE(entry.type, "lease_lost");
    }
    std::set<std::string> made;
    std::set<std::string> workers;
    for (const Call& call : calls()) {
        EXPECT_EQ(call.attempt, 1) << call.worker;
        EXPECT_TRUE(made.insert(call.instance + " " + call.handler).second) << call.worker;
        workers.insert(call.worker);
    }
    EXPECT_EQ(made.size(), ids.size() * 3);
    EXPECT_GT(workers.size(), 1U);
    for (int i = 1; i <= kWorkers; ++i) end_worker("new-" + std::to_string(i));
    // The waiting process is a worker, too.
    for (const WorkerView& worker : client.workers()) {
        EXPECT_THAT(worker.id, ::testing::Not(::testing::StartsWith("new-")));
        EXPECT_THAT(worker.id, ::testing::Not(::testing::StartsWith("old-")));
    }
}

}  // namespace
}  // namespace ebb::testing
