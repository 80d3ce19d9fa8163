// Goal: work for a remote worker whose poll waits is found by one look into the store, at once, and
// commits cost no look for a worker that does not wait. Method: a desk over a counting store in
// memory, whose clock stands still, so that only commits give turns.

#include "server/remote/desk.h"

#include <future>

#include <gtest/gtest.h>

#include <ebb/builder.h>
#include <ebb/engine.h>

#include "support/store_counting.h"

namespace ebb::server {
namespace {

using namespace std::chrono_literals;
using testing::CountingStore;
using testing::StoreVerb;

/// The end of a connection.
class Caller : public http::Responder::Sink {
 public:
    void respond(http::Response response) override { answer_.set_value(std::move(response)); }

    std::shared_ptr<http::Stream> stream(http::Response /*head*/) override { return nullptr; }

    bool is_gone() const override { return false; }

    std::future<http::Response> answer() { return answer_.get_future(); }

 private:
    std::promise<http::Response> answer_;
};

class DeskTest : public ::testing::Test {
 protected:
    DeskTest() {
        engine_.register_workflow(WorkflowBuilder("flow").step("work").build());
        session_ = desk_.open({.worker = "remote", .handlers = {"work"}}, principal_).session;
    }

    /// The poll waits when this returns.
    std::future<http::Response> poll() {
        const auto caller = std::make_shared<Caller>();
        auto answer = caller->answer();
        desk_.poll(
            session_,
            principal_,
            {.free = 1, .wait = 10s, .has_held = true},
            http::Responder(caller)
        );
        return answer;
    }

    int claims() const { return counting_.calls(StoreVerb::Claim); }

    ManualClock clock_{TimePoint{1'760'000'000s}};
    StorePtr store_ = open_memory_store({.clock = &clock_});
    CountingStore counting_{*store_};
    std::unique_ptr<AdminStore> admin_ = make_memory_admin_store();
    HandlerRegistry handlers_;
    Engine engine_{*store_, handlers_, {.clock = &clock_}};
    const Principal principal_{.name = "token:robot", .grants = {{.role = Role::Admin}}};
    WorkerDesk desk_{
        {.engine = engine_, .store = counting_, .admin = *admin_, .clock = clock_, .observers = {}}
    };
    std::string session_;
};

TEST_F(DeskTest, WorkForAWaitingPollIsFoundByOneLook) {
    auto answer = poll();
    const int before = claims();
    engine_.start("flow", Payload::text("{}"));
    desk_.note_commit();
    EXPECT_NE(answer.get().body.find("\"step\":\"work\""), std::string::npos);
    EXPECT_EQ(before, 1) << "the poll looks once before it waits";
    EXPECT_EQ(claims(), 2);
}

TEST_F(DeskTest, CommitsCostNoLookForAWorkerThatDoesNotWait) {
    for (int commit = 0; commit < 100; ++commit) desk_.note_commit();
    EXPECT_EQ(claims(), 0);
    // It looks itself when it comes.
    engine_.start("flow", Payload::text("{}"));
    EXPECT_NE(poll().get().body.find("\"step\":\"work\""), std::string::npos);
    EXPECT_EQ(claims(), 1);
}

}  // namespace
}  // namespace ebb::server
