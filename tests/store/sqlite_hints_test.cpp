// Goal: processes that share a SQLite file notify each other, and what one puts for another is done
// without waiting for a poll.
// Method: several listeners of one file; and engines that would look again only in an hour, so that
// nothing but a hint can make them do it.

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/stat.h>

#include <ebb/builder.h>
#include <ebb/engine.h>
#include <ebb/error.h>

#include "store/conformance.h"
#include "store/sqlite/hint_file.h"
#include "support/store_decorator.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;
using sqlite::HintFile;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Its heartbeats say nothing of stops.
class SilentHeartbeats final : public StoreDecorator {
 public:
    explicit SilentHeartbeats(Store& inner) : StoreDecorator(inner), store_(inner) {}

    std::unique_ptr<Hints> open_hints() override { return store_.open_hints(); }

    HeartbeatResult heartbeat(const WorkerRow& worker, Duration lease) override {
        HeartbeatResult result = StoreDecorator::heartbeat(worker, lease);
        std::erase_if(result.held, [](const HeldTask& held) { return held.is_stop; });
        return result;
    }

 private:
    Store& store_;
};

struct SqliteHints : ::testing::Test {
    TempDir dir;
    const std::string database = dir.file("ebb.db");
    const std::string file = HintFile::path_of(database);
    HandlerRegistry handlers;
    const HandlerRegistry no_handlers;

    StorePtr open() const { return open_sqlite_store({.path = database}); }

    /// From now on it hears what is said.
    static void begin(Hints& hints) {
        hints.interrupt();
        hints.receive(1h);
    }

    static std::vector<std::string> await_message(Hints& hints) {
        while (true) {
            Hints::Heard heard = hints.receive(1min);
            if (!heard.messages.empty()) return heard.messages;
        }
    }

    static EngineOptions rarely_looking(std::string worker) {
        EngineOptions options;
        options.worker_id = std::move(worker);
        options.poll_min = 1h;
        options.poll_max = 1h;
        options.poll_max_told = 1h;
        return options;
    }

    void run_and_listen(Engine& worker) const {
        worker.run();
        while (!std::filesystem::exists(file)) std::this_thread::yield();
    }
};

TEST_F(SqliteHints, reach_the_others_that_listen_and_not_the_sender) {
    HintFile here(database);
    HintFile there(database);
    begin(here);
    here.send("of myself");
    there.send("for you: \"\xC3\xA4\" '1'");
    there.send("and this");
    EXPECT_THAT(await_message(here), ElementsAre("for you: \"\xC3\xA4\" '1'", "and this"));
}

TEST_F(SqliteHints, are_written_only_if_a_process_listens) {
    HintFile hints(database);
    hints.send("to no process");
    EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(SqliteHints, do_not_prove_that_polling_may_be_rare) {
    HintFile here(database);
    HintFile there(database);
    begin(here);
    there.send("a hint");
    EXPECT_FALSE(here.receive(1min).is_proven);
}

TEST_F(SqliteHints, end_a_wait_at_once_if_it_is_interrupted_before_or_meanwhile) {
    HintFile hints(database);
    hints.interrupt();
    EXPECT_THAT(hints.receive(1h).messages, IsEmpty());
    std::jthread other([&] { hints.interrupt(); });
    EXPECT_THAT(hints.receive(1h).messages, IsEmpty());
}

TEST_F(SqliteHints, refuse_a_message_that_is_too_long_or_has_two_lines) {
    HintFile here(database);
    HintFile there(database);
    begin(here);
    const std::string longest(Hints::kMessageBytesMax, 'x');
    there.send(longest);
    EXPECT_THAT(await_message(here), ElementsAre(longest));
    EXPECT_THROW(there.send(longest + "x"), Error);
    EXPECT_THROW(there.send("two\nlines"), Error);
}

TEST_F(SqliteHints, arrive_after_the_file_was_emptied_because_of_its_length) {
    HintFile here(database);
    HintFile there(database);
    begin(here);
    const std::string longest(Hints::kMessageBytesMax, 'x');
    off_t longest_file = 0;
    for (off_t sent = 0; sent <= 2 * HintFile::kFileBytesMax; sent += std::ssize(longest)) {
        there.send(longest);
        longest_file = std::max(longest_file, off_t(std::filesystem::file_size(file)));
    }
    EXPECT_LE(longest_file, HintFile::kFileBytesMax);
    begin(here);
    there.send("after it");
    EXPECT_THAT(await_message(here), ElementsAre("after it"));
}

TEST_F(SqliteHints, arrive_after_the_file_was_removed) {
    HintFile here(database);
    HintFile there(database);
    begin(here);
    std::filesystem::remove(file);
    // The first look sees that it is gone, the second one makes it again.
    here.receive(1min);
    begin(here);
    there.send("again");
    EXPECT_THAT(await_message(here), ElementsAre("again"));
}

TEST_F(SqliteHints, have_a_file_with_the_rights_of_the_database) {
    std::ofstream(database).close();
    ::chmod(database.c_str(), 0640);
    HintFile hints(database);
    begin(hints);
    struct stat info{};
    ASSERT_EQ(::stat(file.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0640);
}

TEST_F(SqliteHints, cannot_be_heard_where_no_file_can_be_made) {
    HintFile hints(dir.file("missing/ebb.db"));
    EXPECT_THROW(hints.receive(1h), Error);
}

TEST_F(SqliteHints, a_decision_of_another_process_continues_at_once) {
    handlers.add_raw("a", [](const Payload& input, const StepContext&) { return input; });
    const StorePtr store = open();
    const StorePtr mine = open();
    Engine worker(*store, handlers, rarely_looking("worker"));
    WorkflowBuilder flow("test");
    flow.decision("ask");
    flow.step("a");
    worker.register_workflow(flow.build());
    run_and_listen(worker);
    const InstanceId id = worker.start("test").id;
    while (worker.show(id).waiting_for.empty()) std::this_thread::yield();
    Engine client(*mine, no_handlers);
    client.decide(id, {.by = "me"});
    EXPECT_EQ(worker.wait(id, 60s).status, "completed");
}

TEST_F(SqliteHints, a_cancel_reaches_a_handler_that_runs_in_another_process) {
    std::atomic<bool> is_running = false;
    handlers.add_raw("a", [&](const Payload& input, const StepContext& context) {
        is_running = true;
        is_running.notify_all();
        std::atomic<bool> was_stopped = false;
        const std::stop_callback stop(context.stop, [&] {
            was_stopped = true;
            was_stopped.notify_all();
        });
        was_stopped.wait(false);
        return input;
    });
    const StorePtr store = open();
    const StorePtr mine = open();
    SilentHeartbeats silent(*store);
    Engine worker(silent, handlers, rarely_looking("worker"));
    worker.register_workflow(WorkflowBuilder("test").step("a").build());
    run_and_listen(worker);
    const InstanceId id = worker.start("test").id;
    is_running.wait(false);
    Engine client(*mine, no_handlers);
    client.cancel(id, "me", "enough");
    EXPECT_EQ(worker.wait(id, 60s).status, "cancelled");
}

}  // namespace
}  // namespace ebb::testing
